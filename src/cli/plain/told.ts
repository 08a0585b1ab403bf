import type { Event } from "../../core/event.ts"
import { callLine } from "../../core/one-line.ts"
import type { View } from "../../core/view.ts"
import { endLine, isBehind, isStart, movedLine, queuedLine, startLine } from "./child.ts"
import { noteOn } from "./note.ts"

/** What an event is to whoever talks to the main agent, in a line: its agents, and the calls that are waited for. */
export function told(event: Event, view: View): string | undefined {
  const run = view.get(event.run)
  if (!run) return undefined
  const indent = "  ".repeat(run.depth + 1)
  const note = noteOn(event)
  if (note !== undefined) return `${indent}${note}`
  if (run.depth > 0) {
    if (isStart(event, run)) return startLine(run)
    if (event.type === "run.queued") return queuedLine(run)
    if (event.type === "run.moved" && event.behind && !run.rest) return movedLine(run)
    if (event.type === "run.settled") return endLine(run, event.ms)
  }
  if (isBehind(view, run)) return undefined
  if (event.type === "call.started") {
    const call = run.calls.get(event.id)?.call
    return call && `${indent}${callLine(call)}`
  }
  return event.type === "call.ended" && !event.ok ? `${indent}failed: ${event.text.slice(0, 200)}` : undefined
}
