import type { Outcome, RunId } from "../core/event.ts"
import { addCost, type Cost, type Usage } from "../core/usage.ts"
import type { Deeds, RunView, View } from "../core/view.ts"
import type { TaskResult } from "./scope.ts"

/** What a run and those below it did for a task, computed from the record and never claimed by a model. */
export type Receipt = {
  filesRead: string[]
  filesChanged: { path: string; before: string | null; after: string }[]
  commands: Deeds["commands"]
  /** Calls that were not permitted. */
  refused: number
  /** Why it ended, in words. */
  ended: string
}

/** The result of a task from what the run looks like at rest. */
export function resultOf(view: View, id: RunId, outcome: Outcome): TaskResult {
  const run = view.get(id)!
  return {
    status: outcome.status,
    agentId: id,
    agentType: run.agent,
    content: outcome.text,
    ...(outcome.status === "failed" && { error: outcome.error }),
    toolCalls: run.family.toolCalls - run.before.toolCalls,
    durationMs: run.rest?.ms ?? 0,
    usage: difference(run.family.usage, run.before.usage),
    cost: costBetween(run),
    model: run.model,
    receipt: receiptOf(run, outcome),
    ...(run.rest?.cached && { cached: true as const }),
  }
}

const receiptOf = ({ deeds }: RunView, outcome: Outcome): Receipt => ({
  filesRead: [...deeds.read].sort(),
  filesChanged: [...deeds.changed].map(([path, hashes]) => ({ path, ...hashes })),
  commands: [...deeds.commands],
  refused: deeds.refused,
  ended: outcome.status === "failed" ? outcome.error.message : endings[outcome.status],
})

const endings = {
  completed: "it finished",
  max_turns: "it used all its turns",
  timeout: "its time was up",
  budget: "its budget was used up",
  cancelled: "it was stopped",
}

const costBetween = ({ family, before }: RunView): Cost =>
  before.cost === null ? null : addCost(family.cost, -before.cost)

export const difference = (after: Usage, before: Usage): Usage => ({
  input: after.input - before.input,
  output: after.output - before.output,
  cacheRead: after.cacheRead - before.cacheRead,
  cacheWrite: after.cacheWrite - before.cacheWrite,
  reasoning: after.reasoning - before.reasoning,
})
