import { describe } from "./agent/permit.ts"
import type { Failure, Outcome, RunId, Status } from "./core/event.ts"
import type { Log } from "./core/log.ts"
import type { Cost, Usage } from "./core/usage.ts"
import { family, type RunView } from "./core/view.ts"

/** How a prompt ended, with the numbers people ask for: of this prompt alone, children included. */
export type Report = {
  status: Status
  text: string
  error?: Failure
  sessionId: string
  runs: RunReport[]
  usage: Usage
  cost: Cost
  toolCalls: number
  durationMs: number
  refused: Refused[]
}

/** One run of the session so far, its own numbers only. */
export type RunReport = {
  id: RunId
  agent: string
  model: string
  depth: number
  parent: RunId | null
  status: Status | "working"
  toolCalls: number
  usage: Usage
  cost: Cost
}

/** Something that was not permitted. */
export type Refused = { run: RunId; call: string; what: string; why: string }

/** Begins to count; the function it returns makes the report. */
export function reporting(log: Log, run: RunId, now: () => number): (sessionId: string, outcome: Outcome) => Report {
  const began = now()
  const before = totals(log, run)
  const refused: Refused[] = []
  const unlisten = log.listen((event) => {
    if (event.type !== "gate.answered" || event.allow) return
    const why = event.word ?? "not permitted"
    refused.push({ run: event.run, call: event.call, what: describe(event.access), why })
  })
  return (sessionId, outcome) => {
    unlisten()
    const after = totals(log, run)
    return {
      status: outcome.status,
      text: outcome.text,
      ...(outcome.status === "failed" && { error: outcome.error }),
      sessionId,
      runs: [...log.view.values()].map(runReport),
      usage: subtract(after.usage, before.usage),
      cost: after.cost === null || before.cost === null ? null : after.cost - before.cost,
      toolCalls: after.toolCalls - before.toolCalls,
      durationMs: Math.round(now() - began),
      refused,
    }
  }
}

function totals(log: Log, run: RunId): { usage: Usage; cost: Cost; toolCalls: number } {
  const { usage, cost } = log.view.get(run)!.family
  const toolCalls = family(log.view, run).reduce((sum, id) => sum + log.view.get(id)!.toolCalls, 0)
  return { usage: { ...usage }, cost, toolCalls }
}

const subtract = (a: Usage, b: Usage): Usage => ({
  input: a.input - b.input,
  output: a.output - b.output,
  cacheRead: a.cacheRead - b.cacheRead,
  cacheWrite: a.cacheWrite - b.cacheWrite,
  reasoning: a.reasoning - b.reasoning,
})

const runReport = (run: RunView): RunReport => ({
  id: run.id,
  agent: run.agent,
  model: run.model,
  depth: run.depth,
  parent: run.origin?.run ?? null,
  status: run.rest?.outcome.status ?? "working",
  toolCalls: run.toolCalls,
  usage: run.usage,
  cost: run.cost,
})
