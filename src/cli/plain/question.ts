import { describe } from "../../agent/describe.ts"
import type { Question, Reply } from "../../agent/permission.ts"
import { printable } from "../../core/one-line.ts"
import { ruleText } from "../../permit/rule.ts"
import { visible } from "./format.ts"

const mostLines = 40

/** A question for people: who asks, for what to the letter, the parts of a command or the change to a file. */
export function questionLines({ path, access, parts = [], details, always }: Question): string[] {
  const shown = parts.length > 1 ? parts.map((part) => `    ${visible(part)}`) : []
  return [
    `${printable(path.join(" > "))} wants to ${visible(describe(access))}`,
    ...(shown.length > 0 ? ["  which consists of:", ...shown] : []),
    ...(details?.kind === "diff" ? changeLines(details.diff) : []),
    ...(always?.length ? [`  (always would allow: ${always.map(ruleText).map(visible).join(", ")})`] : []),
  ]
}

/** The lines of a diff without its head, marked by a letter and never by colour alone. */
function changeLines(diff: string): string[] {
  const lines = diff.split("\n").filter((line, at) => !(at < 4 && /^(---|\+\+\+|Index|=)/.test(line)) && line !== "")
  const more = lines.length - mostLines
  return [
    ...lines.slice(0, mostLines).map((line) => `    ${visible(line)}`),
    ...(more > 0 ? [`    (and ${more} lines more)`] : []),
  ]
}

/** Anything but a yes is a no, and what else was typed is for the model. */
export function replyIn(line: string): Reply {
  const [word = "", ...rest] = line.trim().split(/\s+/)
  if (/^y(es)?$/i.test(word)) return { allow: true }
  if (/^a(lways)?$/i.test(word) && rest.length === 0) return { allow: true, always: true }
  const said = (/^no?$/i.test(word) ? rest.join(" ") : line).trim()
  return said ? { allow: false, word: said } : { allow: false }
}
