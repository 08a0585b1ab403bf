import { compacted, line, type Squeeze, taskOf } from "../core/compact.ts"
import type { Message } from "../core/message.ts"
import type { RunView } from "../core/view.ts"
import { weigh, weighAll, weighText, weighTools, weightOf } from "../core/weight.ts"
import type { Model } from "../model/model.ts"

/** What will be done to a conversation that grows too long. `notes` is how many tokens its summary may have, if it gets one. */
export type Plan = Omit<Squeeze, "summary"> & { notes?: number }

/** Answers of unknown length are taken to be no longer than this. */
const longAnswer = 16_000

/** Notes of fewer tokens than these say nothing. */
const leastNotes = 100

/** How many tokens a request may have, so that the answer fits too and a guess may be a little wrong. */
export function roomOf({ window, maxTokens }: Pick<Model, "window" | "maxTokens">): number {
  const answer = maxTokens ?? Math.min(longAnswer, window / 4)
  return window - Math.min(answer, window / 2) - window / 20
}

/**
 * How to make a conversation fit, with room to spare so that it need not be done again soon: old results go first, then
 * all that is old becomes a summary, and where what is recent is too much by itself, its results are cut. Undefined if
 * nothing of that would help.
 */
export function squeezeOf(run: RunView, room: number): Plan | undefined {
  const { messages, task, words } = run
  const budget = budgetOf(run, room)
  if (budget <= 0) return undefined
  const goal = budget / 2
  const longest = Math.max(leastNotes, Math.floor(budget / 8))
  const beside = budget * 0.9 - longest - weighAll([...taskOf(messages, task), ...(words ? [words] : [])])
  const from = recentFrom(messages, Math.min(budget / 4, beside))
  const [older, recent] = [messages.slice(0, from), messages.slice(from)]
  const heavy = weighAll(recent)
  const short = weighAll(older.map(line))
  const shrinks = short < weighAll(older)
  if (shrinks && short + heavy <= goal) return { from }
  const kept = weighAll(compacted(run, { from, summary: "" }).messages) - heavy
  // A summary that is no lighter than what it stands for is none.
  const notes = kept + longest < short ? longest : undefined
  const before = notes === undefined ? short : kept + notes
  const spare = budget * 0.9 - before
  const most = heavy > spare ? mostOf(recent, Math.max(goal - before, spare / 2)) : undefined
  const plan = { from, ...(notes !== undefined && { notes }), ...(most !== undefined && { most }) }
  return notes !== undefined || weighAll(compacted(run, plan).messages) < weighAll(messages) ? plan : undefined
}

/** What the messages may weigh, as we guess weights. Where the provider found them too long nobody knows by how much. */
function budgetOf(run: RunView, room: number): number {
  const { tokens, guess } = weightOf(run)
  const full = run.overflows > 0
  const asked = full ? Math.min(room, tokens) : room
  const free = (asked * guess) / tokens - weighText(run.system) - weighTools(run.tools)
  return full ? free / 2 : free
}

/** The last answer with all that came after it, and as much before it as is light enough. */
function recentFrom(messages: readonly Message[], allowed: number): number {
  let from = messages.findLastIndex(({ role }) => role === "assistant")
  if (from < 0) return 0
  let weight = weighAll(messages.slice(from))
  for (let i = from - 1; i >= 0 && weight <= allowed; i--) {
    weight += weighAll(messages.slice(i, i + 1))
    // A result never parts from its call.
    if (weight <= allowed && messages[i]!.role !== "result") from = i
  }
  return from
}

const leastKept = 100

/** The weight to cut recent results to, so that all together they are light enough; undefined if they are. */
function mostOf(recent: readonly Message[], allowed: number): number | undefined {
  const weights = recent.flatMap((message) => (message.role === "result" ? [weigh(message)] : []))
  weights.sort((a, b) => a - b)
  let left = allowed - weighAll(recent) + weights.reduce((sum, weight) => sum + weight, 0)
  for (const [i, weight] of weights.entries()) {
    const share = left / (weights.length - i)
    if (weight > share) return Math.max(leastKept, Math.floor(share))
    left -= weight
  }
  return undefined
}
