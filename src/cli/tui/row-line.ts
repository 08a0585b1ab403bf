import { sliceByColumn, visibleWidth } from "@earendil-works/pi-tui"
import { count, dollars, tokenCount } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import type { Progress } from "../../core/progress.ts"
import { quiet } from "./panel-rows.ts"
import type { Paint, Theme } from "./theme.ts"

type Piece = { text: string; paint?: Paint }

/** `level`: how many rows above it are its ancestors. `model`: where it is another than the main run's. */
type RowLook = {
  progress: Progress
  level: number
  chosen: boolean
  behind: boolean
  /** Whether it has children of its own, so that the family's numbers differ. */
  parent: boolean
  model?: string
  color?: string
}

const icons: Record<Progress["state"], string> = {
  ready: "○",
  queued: "◌",
  thinking: "∴",
  answering: "✎",
  tool: "▸",
  asking: "?",
  retrying: "↻",
  "rate-limited": "‖",
  compacting: "▾",
  waiting: "…",
  stuck: "!",
  stopping: "□",
  done: "✓",
  failed: "✗",
  stopped: "■",
  limited: "⊘",
}

/** From here on words of a state take the same room, so that what follows stays in its place. */
const roomy = 60
/** So much of a label, and of what its agent is at, is worth more than any number. */
const leastLabel = (width: number): number => Math.max(14, Math.floor(width / 4))
const leastDetail = (width: number): number => Math.max(12, Math.floor(width / 5))

type Name = "behind" | "model" | "tools" | "tokens" | "cost" | "elapsed" | "idle" | "detail"
type Column = { name: Name; text: string; least: number; gap: string }

/** What a narrow line does without, the first of these first. */
const dispensable: Name[] = ["idle", "cost", "tokens", "model", "tools", "detail", "elapsed", "behind"]

/** One agent at a glance: `> ▸ tool explore find auth files (behind) · 5 tools · 3.2k tokens · $0.02 · 12s · grep permit`. */
export function rowLine(look: RowLook, width: number, theme: Theme): string {
  const { progress, level, chosen, color } = look
  const word = width < roomy ? progress.state : progress.state.padEnd(9)
  const agent = fitted(oneLine(progress.agent, 60), Math.max(8, Math.floor(width / 4)))
  const label = oneLine(progress.label, 200)
  const lead: Piece[] = [
    chosen ? { text: ">", paint: theme.accent } : { text: " " },
    { text: ` ${indent(level, width)}` },
    { text: `${icons[progress.state]} ${word}`, paint: paintOf(progress.state, theme) },
    { text: " " },
    { text: agent, paint: theme.agent(progress.agent, color) },
    { text: " " },
  ]
  const room = width - lead.reduce((sum, { text }) => sum + visibleWidth(text), 0)
  const columns = columnsWithin(room - Math.min(visibleWidth(label), leastLabel(width)), columnsOf(look, width))
  const named: Piece = { text: fitted(label, room - widthOf(columns)), ...(chosen && { paint: theme.bold }) }
  const rest = columns.map(({ gap, text }) => ({ text: `${gap}${text}`, paint: theme.dim }))
  return painted([...lead, named, ...rest], width)
}

/** Further in the deeper it is, but never so far that nothing else has room. */
export const indent = (level: number, width: number): string => " ".repeat(Math.min(2 * level, Math.floor(width / 8)))

/** Pieces side by side, cut where the line ends. */
export function painted(pieces: Piece[], width: number): string {
  let room = width
  let line = ""
  for (const { text, paint } of pieces) {
    const shown = fitted(text, room)
    line += paint ? paint(shown) : shown
    room -= visibleWidth(shown)
  }
  return line
}

/** A text without styles, cut to so many columns. */
function fitted(text: string, width: number): string {
  if (width <= 0) return ""
  return visibleWidth(text) <= width ? text : `${sliceByColumn(text, 0, width - 1, true)}…`
}

function columnsWithin(room: number, all: Column[]): Column[] {
  let columns = all
  for (const name of dispensable) {
    if (widthOf(columns) <= room) break
    columns = columns.filter((column) => column.name !== name)
  }
  return columns
}

const widthOf = (columns: Column[]): number =>
  columns.reduce((sum, { gap, least }) => sum + visibleWidth(gap) + least, 0)

function columnsOf({ progress, behind, parent, model }: RowLook, width: number): Column[] {
  const { tools, tokens, cost, family, elapsedMs, idleMs } = progress
  const texts: [Name, string][] = [
    ["behind", behind ? "(behind)" : ""],
    ["model", model === undefined ? "" : oneLine(model, 40)],
    ["tools", parent ? `${tools} (${family.tools}) tools` : count(tools, "tool")],
    ["tokens", parent ? `${bare(tokens)} (${bare(family.tokens)}) tokens` : tokenCount(tokens)],
    ["cost", parent && cost !== null ? `${dollars(cost)} (${dollars(family.cost)})` : dollars(cost)],
    ["elapsed", duration(elapsedMs)],
    ["idle", idleMs > quiet ? `idle ${duration(idleMs)}` : ""],
    ["detail", detailOf(progress)],
  ]
  return texts.flatMap(([name, text]) => {
    if (text === "") return []
    const columns = visibleWidth(text)
    const least = name === "detail" ? Math.min(columns, leastDetail(width)) : columns
    return [{ name, text, least, gap: name === "behind" ? " " : " · " }]
  })
}

function detailOf({ why, tool, waitingFor }: Progress): string {
  const told = [why, waitingFor === undefined ? undefined : `for ${count(waitingFor, "agent")}`, tool]
  return told.flatMap((text) => (text ? [oneLine(text, 200)] : [])).join(" · ")
}

const bare = (tokens: number): string => tokenCount(tokens).replace(/ tokens?$/, "")

/** In whole seconds: what changes ten times a second is hard to read, and to draw. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds}s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`
  return `${Math.floor(seconds / 3_600)}h ${Math.floor((seconds % 3_600) / 60)}m`
}

function paintOf(state: Progress["state"], { accent, bad, warning, good, dim }: Theme): Paint {
  switch (state) {
    case "asking":
    case "retrying":
    case "rate-limited":
    case "limited":
      return warning
    case "stuck":
    case "failed":
      return bad
    case "done":
      return good
    case "thinking":
    case "answering":
    case "tool":
      return accent
    default:
      return dim
  }
}
