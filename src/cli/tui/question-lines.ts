import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { describe } from "../../agent/describe.ts"
import type { Question } from "../../agent/permission.ts"
import type { Access } from "../../core/access.ts"
import { oneLine } from "../../core/one-line.ts"
import { ruleText } from "../../permit/rule.ts"
import { visible } from "../plain/format.ts"
import type { Paint, Theme } from "./theme.ts"

/** All of a question, as high as it is: who asks, for what to the letter, what a yes for good would allow. */
export function questionBody(question: Question, theme: Theme, width: number): string[] {
  const { path, access, tool, input, parts = [], always = [], details } = question
  const who = path.map((name) => theme.agent(name)(oneLine(name, 60))).join(" > ")
  const exact = (text: string, paint: Paint = plain) => text.split("\n").flatMap((line) => folded(line, width, paint))
  const said = (text: string) => wrapTextWithAnsi(text, Math.max(1, width))
  return [
    ...said(`${who} wants to ${theme.bold(wish(access))}`),
    ...exact(visible(subject(access, tool))),
    ...(parts.length > 1 ? ["which consists of:", ...parts.flatMap((part) => exact(visible(part)))] : []),
    ...(always.length > 0 ? ["always would allow:", ...always.flatMap((rule) => exact(visible(ruleText(rule))))] : []),
    ...(details?.kind === "diff" ? changed(details.diff, theme, width) : []),
    ...(access.kind === "none" || access.kind === "agent" ? exact(inputText(input), theme.dim) : []),
  ].flatMap((line) => (visibleWidth(line) <= width ? [line] : wrapTextWithAnsi(line, Math.max(1, width))))
}

const plain: Paint = (text) => text

/** What is wished for in words of ours; its subject, in words of others, stands on lines of its own. */
function wish(access: Access): string {
  switch (access.kind) {
    case "none":
      return "use a tool:"
    case "run":
      return "run a command:"
    case "fetch":
      return "fetch a page:"
    case "agent":
      return "start an agent:"
    case "read":
      return access.inside ? "read:" : "read outside the project:"
    case "write":
      if (access.guarded) return "write a guarded file:"
      return access.inside ? "write:" : "write outside the project:"
    default:
      return access satisfies never
  }
}

function subject(access: Access, tool: string): string {
  if (access.kind === "none") return tool
  if (access.kind === "read" || access.kind === "write") return access.path
  if (access.kind === "agent") return access.name
  return describe(access).slice(access.kind.length + 1)
}

const inputText = (input: unknown): string => visible(JSON.stringify(input, null, 2) ?? "")

/** A diff without its head, marked by a letter and never by colour alone. */
function changed(diff: string, theme: Theme, width: number): string[] {
  const lines = diff.split("\n").filter((line, at) => !(at < 4 && /^(---|\+\+\+|Index|=)/.test(line)) && line !== "")
  const paint = (line: string): Paint => {
    if (line.startsWith("+")) return theme.added
    if (line.startsWith("-")) return theme.removed
    return line.startsWith("@@") ? theme.dim : plain
  }
  return lines.flatMap((line) => folded(visible(indented(line)), width, paint(line)))
}

/** Tabs that only indent are shown as such: written out they would drown the change. */
const indented = (line: string): string =>
  line.replace(/^([+ -])(\t+)/, (_, mark: string, tabs: string) => mark + "→   ".repeat(tabs.length))

/** Cut by columns, with no letter lost. What goes on is marked in the margin, where no text of others can stand. */
function folded(line: string, width: number, paint: Paint): string[] {
  const [first, next] = width > 12 ? ["    ", "  ↪ "] : ["", ""]
  return pieces(line, Math.max(2, width - first.length)).map((piece, at) => (at === 0 ? first : next) + paint(piece))
}

const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" })

function pieces(line: string, room: number): string[] {
  if (/^[ -~]*$/.test(line)) return line.match(new RegExp(`.{1,${room}}`, "g")) ?? [""]
  const all: string[] = []
  let [piece, columns] = ["", 0]
  for (const { segment } of letters.segment(line)) {
    const wide = visibleWidth(segment)
    if (columns + wide > room && piece !== "") {
      all.push(piece)
      ;[piece, columns] = ["", 0]
    }
    piece += segment
    columns += wide
  }
  return [...all, piece]
}
