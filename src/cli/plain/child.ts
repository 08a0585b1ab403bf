import type { Event } from "../../core/event.ts"
import { count, seconds } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import { lineage, type RunView, type View } from "../../core/view.ts"

/** Who does what: `  [explore] find auth files`, further in the deeper it is. */
export const head = ({ agent, label, depth }: RunView): string =>
  `${"  ".repeat(depth)}[${agent}] ${oneLine(label ?? "subtask", 60)}`

/** The calls of a run and of all below it since it last rose, and the time. */
export const tally = ({ family, before }: RunView, ms: number): string =>
  `${count(family.toolCalls - before.toolCalls, "tool")}, ${seconds(ms)}`

export const startLine = (run: RunView): string => `${head(run)}${run.behind ? " (background)" : ""}`
export const queuedLine = (run: RunView): string => `${head(run)} (${run.behind ? "background, " : ""}queued)`
export const goesOnLine = (run: RunView): string => `${startLine(run)} goes on`
export const movedLine = (run: RunView): string => `${head(run)} goes on in the background`

/** `  [explore] find auth files - done (5 tools, 3.2s)`. */
export function endLine(run: RunView, ms: number): string {
  const status = run.rest?.outcome.status ?? "working"
  const numbers = [...(run.rest?.cached ? ["cached"] : []), tally(run, ms)].join(", ")
  return `${head(run)} - ${status === "completed" ? "done" : status} (${numbers})`
}

/** Whether a run begins with this event; what it is told later, it hears in the middle of its work. */
export const isStart = (event: Event, run: RunView): boolean => event.type === "mail.read" && run.turns === 0

/** Whether nobody waits for a run, or for one above it. */
export const isBehind = (view: View, run: RunView): boolean => lineage(view, run).some(({ behind }) => behind)
