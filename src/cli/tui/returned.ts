import { owedBy } from "../../agent/delivery.ts"
import type { Event } from "../../core/event.ts"
import type { RunView, View } from "../../core/view.ts"

/** What a run's parent got of it, if this event is what brought it. */
export function returnedBy(event: Event, run: RunView): string | undefined {
  if (event.type === "mail.sent") return event.from === run.id ? event.text : undefined
  if (event.type !== "call.ended" || run.behind) return undefined
  return event.details?.kind === "task" && event.details.run === run.id ? event.text : undefined
}

/** The same for one that has come to its end before. */
export function returnedBefore(view: View, run: RunView): string | undefined {
  const { origin, rest } = run
  if (!origin || !rest) return undefined
  if (run.behind) return owedBy(view, run) ? undefined : rest.outcome.text
  const parent = view.get(origin.run)
  const open = parent?.calls.get(origin.call)
  if (open) return open.result?.text
  const result = parent?.messages.findLast((message) => message.role === "result" && message.call === origin.call)
  return result?.role === "result" ? result.text : rest.outcome.text
}
