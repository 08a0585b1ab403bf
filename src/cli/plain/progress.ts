import type { Event } from "../../core/event.ts"
import { count, seconds } from "../../core/numbers.ts"
import { callLine, oneLine } from "../../core/one-line.ts"
import { mainOf, type RunView, type View } from "../../core/view.ts"
import { agentsAtWork } from "../unfinished.ts"
import { endLine, goesOnLine, head, isStart, movedLine, queuedLine, startLine, tally } from "./child.ts"
import { cut } from "./format.ts"
import { noteOn } from "./note.ts"

export type Screen = {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
  rows?: number | undefined
}

export type Progress = { event(event: Event): void; end(): void }

const beat = 100
/** So many children have a line of their own; the rest are counted. */
const mostLines = 10

/** `view`: the runs that are there already; those of them at work go on. */
type Watched = { verbose: boolean; now(): number; view: View }

/**
 * What goes on, for people, on standard error. A terminal has a line for the main run and one for each child at work,
 * rewritten in place. Anything else has a line when a child starts and one when it ends. `verbose` adds one a call.
 */
export function progress(screen: Screen, { verbose, now, view }: Watched): Progress {
  const live = screen.isTTY === true && process.env.TERM !== "dumb"
  const began = new Map<string, number>()
  const started = now()
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
    const lines = status(view, { since, now: now() - started, width, most })
    const up = drawn > 1 ? `\u001b[${drawn - 1}A` : ""
    const fewer = Math.max(0, drawn - lines.length)
    const rest = fewer > 0 ? `${"\n\u001b[K".repeat(fewer)}\u001b[${fewer}A` : ""
    screen.write(`\r${up}${lines.map((line) => `${cut(line, width)}\u001b[K`).join("\n")}${rest}`)
    drawn = lines.length
  }
  if (!live) for (const run of agentsAtWork(view)) say(goesOnLine(run))
  const timer = live ? setInterval(draw, beat) : undefined
  timer?.unref()
  return {
    event(event) {
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

type Frame = { since(id: string): number; now: number; width: number; most: number }

/** A line for the main run, and one for each child that works; the rest, and those that wait for a place, are counted. */
function status(view: View, { since, now, width, most }: Frame): string[] {
  const main = mainOf(view)
  const children = agentsAtWork(view)
  const working = children.filter(({ queued, messages }) => !queued && messages.length > 0)
  const shown = working.slice(0, most).map((run) => {
    const numbers = ` ... ${tally(run, since(run.id))}`
    return `${cut(head(run), Math.max(12, width - numbers.length))}${numbers}`
  })
  const queued = children.filter((run) => run.queued).length
  const more = children.length - shown.length - queued
  const counted = [...(more > 0 ? [`+${more} more`] : []), ...(queued > 0 ? [`${queued} queued`] : [])]
  return [
    `  ${main ? doing(main, children.length) : "starting"} ... ${count(main ? main.family.toolCalls - main.before.toolCalls : 0, "tool")}, ${seconds(now)}`,
    ...shown,
    ...(counted.length > 0 ? [`  ${counted.join(", ")}`] : []),
  ]
}

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
  if (event.type === "run.settled") return endLine(run, since())
  if (event.type === "run.moved" && event.behind && !run.rest) return movedLine(run)
  if (event.type === "run.queued" && !live) return queuedLine(run)
  return isStart(event, run) && !live ? startLine(run) : undefined
}

function doing(run: RunView, agents: number): string {
  if (run.rest && agents > 0) return `waiting for ${count(agents, "agent")} in the background`
  if (run.compacting !== undefined) return "making the conversation shorter"
  if (run.failing) return "waiting for the provider"
  const open = [...run.calls.values()].find(({ state }) => state === "started" || state === "asking")
  if (open) return open.state === "asking" ? `asking: ${callLine(open.call)}` : callLine(open.call)
  return run.draft.text ? "answering" : "thinking"
}
