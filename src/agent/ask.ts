import { noUsage, totalTokens } from "../core/usage.ts"
import { weightOf } from "../core/weight.ts"
import type { Answer, Delta, Request } from "../model/model.ts"
import type { Scope } from "./scope.ts"

/** One answer of a run's model. Tries that failed, and what a stopped one cost, are on record. */
export async function asked(scope: Scope, request: Request, delta: (delta: Delta) => void): Promise<Answer> {
  const { model, signal, emit } = scope
  const sure = { ...noUsage(), input: weightOf(scope.view).tokens }
  const release = scope.reserve({ usage: sure, cost: model.cost(sure) })
  const answer = await model
    .stream(request, {
      signal,
      delta,
      failed: (failure) => emit({ type: "turn.failed", ...failure, cost: model.cost(failure.usage) }),
    })
    .finally(release)
  if (answer.ok || !signal.aborted) return answer
  // A request that was stopped is no failure, but what it cost by then was spent.
  const { error, usage } = answer
  if (totalTokens(usage) > 0) emit({ type: "turn.failed", error, wait: null, usage, cost: model.cost(usage) })
  return signal.throwIfAborted() as never
}
