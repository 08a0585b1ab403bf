import type { Event } from "../../core/event.ts"
import { seconds, tokenCount } from "../../core/numbers.ts"

/** What people should know of beside the work itself, in a line; undefined if the event is about something else. */
export function noteOn(event: Event): string | undefined {
  if (event.type === "hook.ran") return event.said.notes.length > 0 ? event.said.notes.join("; ") : undefined
  if (event.type === "run.compacted")
    return `the conversation was made shorter: from ${tokenCount(event.before)} to about ${tokenCount(event.after)}`
  if (event.type === "run.retried") return `${event.error.message}; asking once more in ${seconds(event.wait)}`
  if (event.type !== "turn.failed" || event.wait === null) return undefined
  if (event.error.kind === "context_overflow") return `${event.error.message}; making the conversation shorter`
  return `${event.error.message}; trying again in ${seconds(event.wait)}`
}
