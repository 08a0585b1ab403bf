import { describe } from "./agent/describe.ts"
import { difference } from "./agent/receipt.ts"
import type { Failure, Outcome, RunId, Status } from "./core/event.ts"
import type { Log } from "./core/log.ts"
import type { Cost, Usage } from "./core/usage.ts"
import type { RunView } from "./core/view.ts"

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

type Reporting = { report(sessionId: string, outcome: Outcome): Report; stop(): void }

/** Begins to count; `report` tells what came of it, and `stop` ends the counting. */
export function reporting(log: Log, run: RunId, now: () => number): Reporting {
  const began = now()
  const { family } = log.view.get(run)!
  const before = { ...family, usage: { ...family.usage } }
  const refused: Refused[] = []
  const unlisten = log.listen((event) => {
    if (event.type !== "gate.answered" || event.allow) return
    const why = event.word ?? "not permitted"
    refused.push({ run: event.run, call: event.call, what: describe(event.access), why })
  })
  const report = (sessionId: string, outcome: Outcome): Report => ({
    status: outcome.status,
    text: outcome.text,
    ...(outcome.status === "failed" && { error: outcome.error }),
    sessionId,
    runs: [...log.view.values()].map(runReport),
    usage: difference(family.usage, before.usage),
    cost: family.cost === null || before.cost === null ? null : family.cost - before.cost,
    toolCalls: family.toolCalls - before.toolCalls,
    durationMs: Math.round(now() - began),
    refused,
  })
  return { report, stop: unlisten }
}

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
