import { type Cost, totalTokens, type Usage } from "./usage.ts"

export const seconds = (ms: number): string =>
  ms < 59_950 ? `${(ms / 1000).toFixed(1)}s` : `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`

export const count = (n: number, thing: string): string => `${n} ${thing}${n === 1 ? "" : "s"}`

export const tokens = (usage: Usage): string => tokenCount(totalTokens(usage))

export function tokenCount(n: number): string {
  if (n < 1_000) return count(n, "token")
  return n < 999_500 ? `${(n / 1_000).toFixed(1)}k tokens` : `${(n / 1_000_000).toFixed(1)}M tokens`
}

export function dollars(cost: Cost): string {
  if (cost === null) return "cost unknown"
  return cost < 0.01 && cost > 0 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`
}

/** The numbers that people ask for, in one line. */
export const numbers = (of: { toolCalls: number; usage: Usage; cost: Cost; durationMs: number }): string =>
  [count(of.toolCalls, "tool"), tokens(of.usage), dollars(of.cost), seconds(of.durationMs)].join(" · ")
