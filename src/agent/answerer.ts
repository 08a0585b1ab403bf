import type { RunId } from "../core/event.ts"
import { lineage, type RunView } from "../core/view.ts"
import { abortable } from "./abortable.ts"
import type { Deadline } from "./deadline.ts"
import type { Options } from "./options.ts"
import type { Answerer } from "./permission.ts"

/** Whoever answers, told who asks. The time it takes is charged neither to the asker nor to those above it. */
export function answererFor(
  view: RunView,
  { answer, log }: Options,
  deadlineOf: (run: RunId) => Deadline | undefined,
): Answerer | undefined {
  if (!answer) return undefined
  return async (asked, signal) => {
    const above = lineage(log.view, view)
    const deadlines = above.flatMap(({ id }) => deadlineOf(id) ?? [])
    for (const deadline of deadlines) deadline.pause()
    try {
      const path = above.map(({ agent }) => agent).reverse()
      return await abortable(signal, answer({ ...asked, path }, signal))
    } finally {
      for (const deadline of deadlines) deadline.resume()
    }
  }
}
