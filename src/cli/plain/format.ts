import { type Cost, totalTokens, type Usage } from "../../core/usage.ts"

export const seconds = (ms: number): string =>
  ms < 59_950 ? `${(ms / 1000).toFixed(1)}s` : `${Math.floor(ms / 60_000)}m ${Math.round((ms % 60_000) / 1000)}s`

export const count = (n: number, thing: string): string => `${n} ${thing}${n === 1 ? "" : "s"}`

export function tokens(usage: Usage): string {
  const total = totalTokens(usage)
  if (total < 1_000) return count(total, "token")
  return total < 999_500 ? `${(total / 1_000).toFixed(1)}k tokens` : `${(total / 1_000_000).toFixed(1)}M tokens`
}

export function dollars(cost: Cost): string {
  if (cost === null) return "cost unknown"
  return cost < 0.01 && cost > 0 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`
}

/** The numbers that people ask for, in one line. */
export const numbers = (of: { toolCalls: number; usage: Usage; cost: Cost; durationMs: number }): string =>
  [count(of.toolCalls, "tool"), tokens(of.usage), dollars(of.cost), seconds(of.durationMs)].join(" · ")

/** Takes out what could steer a terminal: escape sequences and control characters, but for new lines and tabs. */
export const printable = (text: string): string =>
  text
    .replaceAll(
      /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)/g,
      "",
    )
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "")

export const oneLine = (text: string, most: number): string => {
  const flat = printable(text).replaceAll(/\s+/g, " ").trim()
  return flat.length > most ? `${flat.slice(0, most - 1)}…` : flat
}
