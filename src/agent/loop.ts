import { reasonOf } from "../core/error.ts"
import type { Budget, Failure, Outcome, Reason } from "../core/event.ts"
import { type Part, textOf } from "../core/message.ts"
import { type CallView, lastText, type RunView } from "../core/view.ts"
import { weightOf } from "../core/weight.ts"
import { act, stopped } from "./act.ts"
import { asked } from "./ask.ts"
import { compact } from "./compact.ts"
import { request } from "./context.ts"
import { beforeEnd } from "./hooked.ts"
import { pause } from "./pause.ts"
import type { Scope } from "./scope.ts"
import { type Plan, roomOf, squeezeOf } from "./squeeze.ts"
import { Failed, Stopped } from "./stopped.ts"
import { stored } from "./stored.ts"

export type Next =
  | { do: "act"; calls: CallView[] }
  | { do: "read" }
  | { do: "tell"; reason: Exclude<Reason, "hook"> }
  | { do: "compact"; plan: Plan }
  | { do: "ask"; tools: "auto" | "none" }
  | { do: "settle"; outcome: Outcome }

/** How often a run may make the very same mistake in a row. */
const patience = 3

/** `room`: tokens that a request may have. */
type Bounds = { turns: number; room: number; spent?: Budget | undefined }

/** What a run must do next. It reads the view and its limits, so a resumed run goes on as the first would have. */
export function decide(run: RunView, limits: Bounds): Next {
  if (run.calls.size > 0) return { do: "act", calls: [...run.calls.values()] }
  if (run.mail.length > 0) return { do: "read" }
  if (run.mistake.times >= patience)
    return fail("bad_calls", `made the same mistake ${patience} times: ${run.mistake.text}`)
  if (run.messages.at(-1)?.role === "assistant") return conclude(run)
  if (limitsTold(run)) return inRoom(run, limits.room, { do: "ask", tools: "none" })
  if (limits.spent) return { do: "tell", reason: limits.spent }
  return run.turns >= limits.turns
    ? { do: "tell", reason: "turns" }
    : inRoom(run, limits.room, { do: "ask", tools: "auto" })
}

/** Nothing is asked that would not fit. Where our own guess was wrong the provider says so, and gets one more try. */
function inRoom(run: RunView, room: number, ask: Next): Next {
  const full = run.overflows > 0
  if (run.squeezed || !(full || weightOf(run).tokens > room)) return ask
  const plan = run.overflows > 1 ? undefined : squeezeOf(run, room)
  if (plan) return { do: "compact", plan }
  if (!full) return ask
  return fail("context_overflow", run.failing?.error.message ?? "the conversation is too long", lastSaid(run))
}

/** The last thing that was said about the work at hand. */
function lastSaid({ messages, task }: RunView): string {
  const own = messages.slice(task)
  const last = own.findLast((message) => message.role === "assistant" && textOf(message.parts).trim() !== "")
  return last?.role === "assistant" ? textOf(last.parts) : ""
}

/** Whether a run was told that it is at a limit: it has one more answer then, without tools. */
export function limitsTold({ told }: RunView): "max_turns" | "budget" | undefined {
  if (told.has("tokens") || told.has("cost") || told.has("tools")) return "budget"
  return told.has("turns") ? "max_turns" : undefined
}

/** The last answer called nothing: it is the result, unless it was cut, empty, refused or no report at all so far. */
function conclude(run: RunView): Next {
  const text = run.partial + lastText(run)
  const limit = limitsTold(run)
  if (limit) return settled({ status: limit, text: text || noSummary })
  if (run.stop === "length" && !run.told.has("length")) return { do: "tell", reason: "length" }
  if (run.stop === "refusal") {
    if (!run.told.has("refusal")) return { do: "tell", reason: "refusal" }
    return fail("refused", "the model refused to answer", text)
  }
  if (run.depth > 0 && isNoReport(text) && !run.told.has("report")) return { do: "tell", reason: "report" }
  if (text.trim()) return settled({ status: "completed", text })
  return run.told.has("empty") ? settled({ status: "completed", text: noSummary }) : { do: "tell", reason: "empty" }
}

/** A child that says what it is about to do, and then stops, has reported nothing. */
const isNoReport = (text: string): boolean =>
  /^\s*(let me|i'll|i will|i'm going to|now i|next,? i|first,? i)\b[^\n]{0,200}[:.…]?\s*$/i.test(text)

const noSummary = "(no summary)"
const settled = (outcome: Outcome): Next => ({ do: "settle", outcome })
const fail = (kind: Failure["kind"], message: string, text = ""): Next =>
  settled({ status: "failed", text, error: { kind, message } })

const lastWord = "Call no more tools: answer now with what you have, and say what is left undone."
const words: Record<Exclude<Reason, "hook">, string> = {
  turns: `You have used all your turns. ${lastWord}`,
  tokens: `You have used all your tokens. ${lastWord}`,
  cost: `You have used all the money for this. ${lastWord}`,
  tools: `You have used all your tool calls. ${lastWord}`,
  length: "Your answer was cut at the token limit. Go on exactly where it broke off.",
  empty: "Your answer was empty. Say what you found or did, in words that stand alone.",
  refusal: "Your last answer was stopped. Answer what can be answered, and say what cannot.",
  report: "That is no report. Do it now, or say what you found or did, in words that stand alone.",
}

/** The loop. The main agent and every subagent run this same function; only their scopes differ. It never rejects. */
export async function drive(scope: Scope): Promise<Outcome> {
  const began = scope.now()
  for (;;) {
    try {
      const outcome = await go(scope)
      if (scope.view.depth > 0 && outcome.status !== "completed") await leave(scope)
      return await settle(scope, outcome, began)
    } catch (error) {
      if (await again(scope, error)) continue
      if (scope.view.depth > 0 && !scope.signal.aborted) await leave(scope)
      close(scope)
      return settle(scope, outcomeOf(scope.signal, error), began)
    }
  }
}

/** A child that ends badly stops what it set going. What that still had to say is heard, and wakes nobody any more. */
async function leave({ abandon, view, emit }: Scope): Promise<void> {
  await abandon()
  if (view.mail.length > 0 && view.mail.every(({ from }) => from !== undefined)) emit({ type: "mail.read" })
}

/** One step after the other, until the run has its outcome. */
async function go(scope: Scope): Promise<Outcome> {
  const { view, limits, emit, signal } = scope
  const room = roomOf(scope.model)
  for (;;) {
    signal.throwIfAborted()
    const broken = scope.broken()
    if (broken) throw new Failed({ kind: "store", message: broken.message })
    const next = decide(view, { turns: limits.turns, room, spent: scope.spent() })
    if (next.do === "settle") {
      if (!(await goesOn(scope, next.outcome))) return next.outcome
      continue
    }
    if (next.do === "read") emit({ type: "mail.read", ...noteOn(scope) })
    if (next.do === "tell") emit({ type: "run.told", reason: next.reason, text: words[next.reason] })
    if (next.do === "act") await act(scope, next.calls)
    if (next.do === "compact") await compact(scope, next.plan)
    if (next.do === "ask") await ask(scope, next.tools)
  }
}

/** A child is done only when all that it will hear of has come; and hooks may have more for anybody to do. */
async function goesOn(scope: Scope, { status }: Outcome): Promise<boolean> {
  if (status !== "completed") return false
  if (scope.view.depth > 0 && scope.awaited() > 0) {
    await scope.mailed()
    return true
  }
  const more = await beforeEnd(scope)
  if (more !== undefined) scope.emit({ type: "run.told", reason: "hook", text: more })
  return more !== undefined || scope.view.mail.length > 0
}

/** Whoever hears a result wants to know whether it was the last. */
function noteOn({ view, awaited }: Scope): { note?: string } {
  if (view.mail.every(({ from }) => from === undefined)) return {}
  const left = awaited()
  if (left === 0) return { note: "No other agent is at work for you." }
  return { note: `${left} more ${left === 1 ? "is" : "are"} still at work; you will hear of each without asking.` }
}

/** Failures that lie with the provider pass. What a child has done so far is worth another try. */
const passing: ReadonlySet<Failure["kind"]> = new Set(["rate_limit", "overloaded", "network", "truncated", "stalled"])

async function again({ view, retry, emit, signal }: Scope, error: unknown): Promise<boolean> {
  if (!(error instanceof Failed) || !passing.has(error.failure.kind) || signal.aborted) return false
  if (view.depth === 0 || view.retries >= retry.times) return false
  const wait = Math.round(retry.wait())
  emit({ type: "run.retried", error: error.failure, wait })
  await pause(wait, signal)
  return true
}

/** A result leaves the session only when it is safe on disk. One that goes to a parent is stored before all that comes of it. */
async function settle(scope: Scope, outcome: Outcome, began: number): Promise<Outcome> {
  scope.emit({ type: "run.settled", outcome, ms: Math.round(scope.now() - began) })
  const { depth, behind } = scope.view
  return depth > 0 && !behind ? outcome : stored(outcome, scope.synced)
}

/** One turn of the model. A conversation that it finds too long is no end yet. */
async function ask(scope: Scope, tools: "auto" | "none"): Promise<void> {
  const began = scope.now()
  const { model, emit } = scope
  const answer = await asked(scope, request(scope, tools), (delta) => emit({ type: "turn.delta", ...delta }))
  const { usage } = answer
  const cost = model.cost(usage)
  if (!answer.ok) {
    const { error } = answer
    const full = error.kind === "context_overflow"
    const { overflows } = scope.view
    const again = full && squeezeOf({ ...scope.view, overflows: overflows + 1 }, roomOf(model)) && overflows === 0
    emit({ type: "turn.failed", error, wait: again ? 0 : null, usage, cost })
    if (full) return
    throw new Failed(error)
  }
  const parts =
    tools === "none" ? answer.parts.filter(({ type }) => type !== "call") : distinct(scope.view, answer.parts)
  emit({ type: "turn.ended", parts, stop: answer.stop, usage, cost, ms: Math.round(scope.now() - began) })
}

/** Providers want every call id in a conversation to be there once; some local models count from zero each turn. */
function distinct(run: RunView, parts: Part[]): Part[] {
  const taken = new Map<string, string>()
  return parts.flatMap((part): Part[] => {
    if (part.type !== "call") return [part]
    const same = JSON.stringify([part.name, part.broken ?? part.input])
    if (part.id && taken.get(part.id) === same) return [] // one call, sent twice
    let id = part.id || "call"
    for (let n = 2; taken.has(id) || run.ids.has(id); n++) id = `${part.id || "call"}_${n}`
    taken.set(id, same)
    return [{ ...part, id }]
  })
}

/** A run at rest has no open calls: what nobody will answer now is answered here. */
function close(scope: Scope): void {
  for (const open of [...scope.view.calls.values()]) {
    if (open.state === "ended") continue
    scope.emit({ type: "call.ended", id: open.call.id, ok: false, text: stopped(open), ms: 0 })
  }
}

function outcomeOf(signal: AbortSignal, error: unknown): Outcome {
  if (signal.aborted) return { status: signal.reason instanceof Stopped ? signal.reason.status : "cancelled", text: "" }
  if (error instanceof Failed) return { status: "failed", text: "", error: error.failure }
  return { status: "failed", text: "", error: { kind: "internal", message: reasonOf(error) } }
}
