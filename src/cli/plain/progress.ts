import type { Event } from "../../core/event.ts"
import { count, seconds } from "../../core/numbers.ts"
import type { RunView, View } from "../../core/view.ts"
import { callLine } from "./call.ts"
import { cut, oneLine } from "./format.ts"
import { noteOn } from "./note.ts"

export type Screen = {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

export type Progress = { event(event: Event, view: View): void; end(): void }

const beat = 100
/** So many children have a line of their own; the rest are counted. */
const mostLines = 10

/**
 * What goes on, for people, on standard error. A terminal has a line for the main run and one for each child at work,
 * rewritten in place. Anything else has a line when a child starts and one when it ends. `verbose` adds one a call.
 */
export function progress(screen: Screen, { verbose, now }: { verbose: boolean; now(): number }): Progress {
  const live = screen.isTTY === true && process.env.TERM !== "dumb"
  const began = new Map<string, number>()
  const started = now()
  let latest: View = new Map()
  let drawn = 0
  // Line by line, and never the rest of the screen at once: a terminal may keep what is cleared that way.
  const clear = () => {
    if (drawn > 0) screen.write(`\r\u001b[K${"\u001b[A\u001b[K".repeat(drawn - 1)}`)
    drawn = 0
  }
  const say = (line: string) => {
    clear()
    screen.write(`${line}\n`)
  }
  const draw = () => {
    const width = (screen.columns || 80) - 1
    const most = Math.min(mostLines, Math.max(1, (screen.rows || 24) - 4))
    const since = (id: string) => now() - (began.get(id) ?? started)
    const lines = status(latest, { since, now: now() - started, width, most })
    const up = drawn > 1 ? `\u001b[${drawn - 1}A` : ""
    const fewer = Math.max(0, drawn - lines.length)
    const rest = fewer > 0 ? `${"\n\u001b[K".repeat(fewer)}\u001b[${fewer}A` : ""
    screen.write(`\r${up}${lines.map((line) => `${cut(line, width)}\u001b[K`).join("\n")}${rest}`)
    drawn = lines.length
  }
  const timer = live ? setInterval(draw, beat) : undefined
  timer?.unref()
  return {
    event(event, view) {
      latest = view
      if (!began.has(event.run)) began.set(event.run, now())
      const line = noteOf(event, view, { verbose, live, since: () => now() - (began.get(event.run) ?? now()) })
      if (line) say(line)
      if (event.type === "run.settled") began.delete(event.run)
    },
    end() {
      clearInterval(timer)
      clear()
    },
  }
}

/** A line for the main run, and one for each child that works; those that wait for a place are counted. */
type Frame = { since(id: string): number; now: number; width: number; most: number }

function status(view: View, { since, now, width, most }: Frame): string[] {
  const main = [...view.values()].find(({ depth }) => depth === 0)
  const children = [...view.values()].filter(({ depth, rest }) => depth > 0 && !rest)
  const working = children.filter(({ messages }) => messages.length > 0)
  const shown = working.slice(0, most).map((run) => {
    const numbers = ` ... ${tally(run, since(run.id))}`
    return `${cut(head(run), Math.max(12, width - numbers.length))}${numbers}`
  })
  const more = children.length - shown.length
  return [
    `  ${main ? doing(main) : "starting"} ... ${count(main ? main.family.toolCalls - main.before.toolCalls : 0, "tool")}, ${seconds(now)}`,
    ...shown,
    ...(more > 0 ? [`  +${more} more`] : []),
  ]
}

const head = ({ agent, label, depth }: RunView): string =>
  `${"  ".repeat(depth)}[${agent}] ${oneLine(label ?? "subtask", 60)}`
const tally = ({ family, before }: RunView, ms: number): string =>
  `${count(family.toolCalls - before.toolCalls, "tool")}, ${seconds(ms)}`

type Manner = { verbose: boolean; live: boolean; since(): number }

function noteOf(event: Event, view: View, { verbose, live, since }: Manner): string | undefined {
  const run = view.get(event.run)
  if (!run) return undefined
  const note = noteOn(event)
  if (note !== undefined) return oneLine(`${"  ".repeat(run.depth + 1)}${note}`, 200)
  if (verbose && event.type === "call.started") {
    const call = run.calls.get(event.id)?.call
    return call && `  ${run.depth > 0 ? "[sub] " : ""}${callLine(call)}`
  }
  if (run.depth === 0) return undefined
  if (event.type === "mail.read" && !live) return head(run)
  if (event.type !== "run.settled") return undefined
  const { status } = event.outcome
  return `${head(run)} - ${status === "completed" ? "done" : status} (${tally(run, since())})`
}

function doing(run: RunView): string {
  if (run.compacting !== undefined) return "making the conversation shorter"
  if (run.failing) return "waiting for the provider"
  const open = [...run.calls.values()].find(({ state }) => state === "started" || state === "asking")
  if (open) return open.state === "asking" ? `asking: ${callLine(open.call)}` : callLine(open.call)
  return run.draft.text ? "answering" : "thinking"
}
