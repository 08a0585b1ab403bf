import type { Budget, Limits } from "../core/event.ts"
import { addCost, type Cost, noUsage, totalTokens, type Usage } from "../core/usage.ts"
import { lineage, type RunView, type View } from "../core/view.ts"

/** What was spent, or is being spent, and is not on record yet. */
export type Unrecorded = { usage: Usage; cost: Cost }

type Books = {
  view: View
  limitsOf(run: RunView): Limits
  /** What requests that are under way will cost a run and those below it, as far as can be told. */
  underWay(run: RunView): Unrecorded
}

/** Which budget is used up: a run's own, or that of one above it, which covers all that it set going. */
export function overBudget(books: Books, run: RunView, more?: Unrecorded): Budget | undefined {
  for (const each of lineage(books.view, run)) {
    const { tokens, cost, tools } = restOf(books, each, more)
    if (tokens !== undefined && tokens <= 0) return "tokens"
    if (cost !== undefined && cost <= 0) return "cost"
    if (tools !== undefined && tools <= 0) return "tools"
  }
  return undefined
}

/** How many calls of tools are left to a run and to all above it. */
export function callsLeft(books: Books, run: RunView): number {
  let left = Number.POSITIVE_INFINITY
  for (const each of lineage(books.view, run)) left = Math.min(left, restOf(books, each).tools ?? left)
  return Math.max(0, left)
}

type Rest = { [budget in Budget]?: number }

/** What a run has left of each budget that it has. */
function restOf({ limitsOf, underWay }: Books, run: RunView, more?: Unrecorded): Rest {
  const { tokens, cost, tools } = limitsOf(run)
  if (tokens === undefined && cost === undefined && tools === undefined) return {}
  const { family, before } = run
  const waiting = underWay(run)
  const unrecorded = [waiting, ...(more ? [more] : [])]
  const used =
    totalTokens(family.usage) - totalTokens(before.usage) + sum(unrecorded.map((each) => totalTokens(each.usage)))
  // A price that nobody knows cannot be kept to: it counts as used up rather than as nothing.
  const spent = unrecorded.reduce<Cost>((all, each) => addCost(all, each.cost), family.cost)
  return {
    ...(tokens !== undefined && { tokens: tokens - used }),
    ...(cost !== undefined && { cost: spent === null ? 0 : cost - (spent - (before.cost ?? 0)) }),
    ...(tools !== undefined && { tools: tools - (family.toolCalls - before.toolCalls) }),
  }
}

/** A child's own budgets are never more than what is left to those above it; one that may outlast them has them all. */
export function withinRest(books: Books, parent: RunView, limits: Limits, outlasts: boolean): Limits {
  const within = { ...limits }
  for (const each of lineage(books.view, parent)) {
    const rest = restOf(books, each)
    for (const budget of ["tokens", "cost", "tools"] as const) {
      const left = rest[budget]
      if (left === undefined || (within[budget] === undefined && !outlasts)) continue
      within[budget] = Math.max(0, Math.min(left, within[budget] ?? left))
    }
  }
  return within
}

const sum = (numbers: number[]): number => numbers.reduce((a, b) => a + b, 0)

/** What requests under way will cost, added up for each run and those above it. */
export class UnderWay {
  #of = new Map<RunView, Unrecorded>()

  of = (run: RunView): Unrecorded => this.#of.get(run) ?? { usage: noUsage(), cost: 0 }

  /** Counts a request in; the function it returns counts it out again. */
  add(view: View, run: RunView, { usage, cost }: Unrecorded): () => void {
    const runs = lineage(view, run)
    const tokens = totalTokens(usage)
    const count = (sign: 1 | -1) => {
      for (const each of runs) {
        const waiting = this.#of.get(each) ?? { usage: noUsage(), cost: 0 }
        waiting.usage.input += sign * tokens
        waiting.cost = addCost(waiting.cost, sign * (cost ?? 0))
        if (waiting.usage.input <= 0) this.#of.delete(each)
        else this.#of.set(each, waiting)
      }
    }
    count(1)
    return () => count(-1)
  }
}
