import type { Outcome, RunId, Status } from "./event.ts"
import { callLine } from "./one-line.ts"
import { type Cost, totalTokens } from "./usage.ts"
import { type CallView, family, type RunView, type View } from "./view.ts"

/** What a run is about, in words that every face uses as they are. */
type State =
  /** Nobody has asked it anything yet. */
  | "ready"
  /** It waits for a place among those at work. */
  | "queued"
  /** Its model has been asked, and has not begun to answer. */
  | "thinking"
  | "answering"
  /** It waits for a tool. */
  | "tool"
  /** It waits for a person. */
  | "asking"
  /** Its provider failed, and is asked again. */
  | "retrying"
  /** The same, as its provider takes no more requests for now. */
  | "rate-limited"
  /** Its conversation is being made shorter. */
  | "compacting"
  /** Its answer is given, but agents behind it are still at work. */
  | "waiting"
  /** Nothing has come of it for longer than is usual. */
  | "stuck"
  | "stopping"
  | "done"
  | "failed"
  | "stopped"
  /** It came to the end of its turns, its time or its budget. */
  | "limited"

type Numbers = { tools: number; tokens: number; cost: Cost }

/** What there is to see of a run at a glance. Its numbers are those since it was opened. */
export type Progress = Numbers & {
  id: RunId
  agent: string
  label: string
  depth: number
  model: string
  state: State
  /** What its provider said, what it came to the end of, or why it is stopped. */
  why?: string
  /** The call at hand, in one line. */
  tool?: string
  elapsedMs: number
  /** How long nothing has happened to it and all below it, though something should. */
  idleMs: number
  /** Its numbers with those of all below it. */
  family: Numbers
  /** How many agents behind it are still at work, once its own answer is given. */
  waitingFor?: number
}

/** How far a run is, at a time on the clock of its events. */
export function progressOf(view: View, run: RunView, now: number): Progress {
  const { id, agent, depth, model, usage, cost, toolCalls } = run
  const call = callOf(run)
  const waitingFor = waitedFor(view, run)
  const idleMs = idleOf(view, run, now)
  const { state, why } = timely(stateOf(run, call, waitingFor), idleMs)
  return {
    id,
    agent,
    label: run.label ?? (depth === 0 ? "" : "subtask"),
    depth,
    model,
    state,
    ...(why !== undefined && { why }),
    ...(call && { tool: callLine(call.call) }),
    tools: toolCalls,
    tokens: totalTokens(usage),
    cost,
    elapsedMs: run.rest?.ms ?? Math.max(0, now - run.roseAt),
    idleMs,
    family: { tools: run.family.toolCalls, tokens: totalTokens(run.family.usage), cost: run.family.cost },
    ...(state === "waiting" && { waitingFor }),
  }
}

/** Whether a run has come to its end, so that nothing more happens to it by itself. */
export const isOver = ({ state }: Pick<Progress, "state">): boolean => over.has(state)

const over: ReadonlySet<State> = new Set<State>(["done", "failed", "stopped", "limited"])

type Told = { state: State; why?: string }

function stateOf(run: RunView, call: CallView | undefined, waitingFor: number): Told {
  const { rest, stopping, failing, messages, draft } = run
  if (run.queued) return { state: "queued" }
  if (rest) return rest.outcome.status === "completed" && waitingFor > 0 ? { state: "waiting" } : ended(rest.outcome)
  if (stopping) return { state: "stopping", why: stopping.why }
  if (call) return { state: call.state === "asking" ? "asking" : "tool" }
  // An end that nothing comes after, or a longer wait, is told by the next event.
  if (failing && failing.wait !== null)
    return { state: failing.error.kind === "rate_limit" ? "rate-limited" : "retrying", why: failing.error.message }
  if (run.compacting !== undefined) return { state: "compacting" }
  if (isUnasked(run)) return { state: "ready" }
  if (draft.text !== "") return { state: "answering" }
  if (messages.at(-1)?.role === "assistant") return { state: waitingFor > 0 ? "waiting" : "answering" }
  return { state: "thinking" }
}

const isUnasked = ({ messages, task, mail }: RunView): boolean => messages.length === task && mail.length === 0

function ended(outcome: Outcome): Told {
  if (outcome.status === "failed") return { state: "failed", why: outcome.error.message }
  const why = limits[outcome.status]
  if (why !== undefined) return { state: "limited", why }
  return { state: outcome.status === "cancelled" ? "stopped" : "done" }
}

const limits: Partial<Record<Status, string>> = {
  max_turns: "its turns are used up",
  timeout: "its time is up",
  budget: "its budget is used up",
}

/** The call that says most about what a run does now: one that a person is asked about, then one at work. */
function callOf({ calls }: RunView): CallView | undefined {
  const open = [...calls.values()]
  for (const state of ["asking", "started", "waiting"] as const) {
    const found = open.find((call) => call.state === state)
    if (found) return found
  }
  return undefined
}

/** Its own children that it will hear of, and that are still at work. */
function waitedFor(view: View, { children }: RunView): number {
  const own = [...children.values()].map((id) => view.get(id))
  return own.filter((child) => child?.behind && !child.announce && (!child.rest || child.queued)).length
}

/** Waiting for a person, or for a place, is not idleness. A run is as lively as the liveliest below it. */
function idleOf(view: View, run: RunView, now: number): number {
  const members = family(view, run.id).flatMap((id) => view.get(id) ?? [])
  const alive = members.filter((each) => !each.rest && !isUnasked(each))
  if (alive.length === 0) return 0
  if (alive.some(({ queued, calls }) => queued || [...calls.values()].some(({ state }) => state === "asking"))) return 0
  return Math.max(0, now - Math.max(...alive.map(({ seenAt }) => seenAt)))
}

/** How long each may take in silence. A command may work for ten minutes without a word. */
const patience: Partial<Record<State, number>> = {
  thinking: 120_000,
  answering: 120_000,
  compacting: 120_000,
  tool: 600_000,
}

const timely = (told: Told, idleMs: number): Told =>
  idleMs > (patience[told.state] ?? Number.POSITIVE_INFINITY) ? { state: "stuck" } : told
