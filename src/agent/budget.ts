import type { Limits } from "../core/event.ts"
import { totalTokens } from "../core/usage.ts"
import { lineage, type RunView, type View } from "../core/view.ts"

/** Which budget is used up: a run's own, or that of one above it, which covers all that it set going. */
export function overBudget(
  view: View,
  run: RunView,
  limitsOf: (run: RunView) => Limits,
): "tokens" | "cost" | undefined {
  for (const each of lineage(view, run)) {
    const { tokens, cost } = limitsOf(each)
    const { family, before } = each
    if (tokens !== undefined && totalTokens(family.usage) - totalTokens(before.usage) >= tokens) return "tokens"
    // A price that nobody knows cannot be kept to: it counts as used up rather than as nothing.
    if (cost !== undefined && (family.cost === null || family.cost - (before.cost ?? 0) >= cost)) return "cost"
  }
  return undefined
}
