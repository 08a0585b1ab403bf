import { owedBy } from "../agent/delivery.ts"
import { endedAbove } from "../core/rest.ts"
import type { RunView, View } from "../core/view.ts"

/** Whether there is something to go on with: work that was put aside, or that a crash cut off. */
export const isUnfinished = (view: View): boolean =>
  [...view.values()].some(
    (run) => isLeft(view, run) || run.mail.some(({ quiet }) => !quiet) || owedBy(view, run) !== undefined,
  )

/** The agents that work or wait for a place, but for those that are being stopped. */
export const agentsAtWork = (view: View): RunView[] =>
  [...view.values()].filter((run) => run.depth > 0 && !run.stopping && isLeft(view, run))

/** Whether a run was asked something and has not ended. */
function isLeft(view: View, run: RunView): boolean {
  const { rest, mail, messages, task } = run
  return !rest && !endedAbove(view, run) && messages.length - task + mail.length > 0
}
