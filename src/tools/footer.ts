import type { TaskResult } from "../agent/scope.ts"
import { count, seconds, tokens } from "../core/numbers.ts"

/** The one line about a child that its parent's model gets beside its answer. */
export function footer({ agentId, status, toolCalls, durationMs, usage, receipt, cached }: TaskResult): string {
  const changed = receipt.filesChanged.length
  const parts = [`agent ${agentId}`, status, count(toolCalls, "tool"), seconds(durationMs), tokens(usage)]
  return [...parts, ...(cached ? ["cached"] : []), ...(changed > 0 ? [`changed ${count(changed, "file")}`] : [])].join(
    " · ",
  )
}
