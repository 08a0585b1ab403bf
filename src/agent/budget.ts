import type { Limits } from "../core/event.ts"
import { addCost, type Cost, noUsage, totalTokens, type Usage } from "../core/usage.ts"
import { lineage, type RunView, type View } from "../core/view.ts"

/** What was spent and is not on record yet. */
export type Unrecorded = { usage: Usage; cost: Cost }

/** Which budget is used up: a run's own, or that of one above it, which covers all that it set going. */
export function overBudget(
  view: View,
  run: RunView,
  limitsOf: (run: RunView) => Limits,
  more: Unrecorded = { usage: noUsage(), cost: 0 },
): "tokens" | "cost" | undefined {
  for (const each of lineage(view, run)) {
    const { tokens, cost } = limitsOf(each)
    const { family, before } = each
    const used = totalTokens(family.usage) - totalTokens(before.usage) + totalTokens(more.usage)
    if (tokens !== undefined && used >= tokens) return "tokens"
    // A price that nobody knows cannot be kept to: it counts as used up rather than as nothing.
    const spent = addCost(family.cost, more.cost)
    if (cost !== undefined && (spent === null || spent - (before.cost ?? 0) >= cost)) return "cost"
  }
  return undefined
}
