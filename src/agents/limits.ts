import type { Definition } from "./definition.ts"
import type { Entry } from "./entry.ts"
import { type Fields, numberOf } from "./fields.ts"

const mostTurns = 100_000
const day = 86_400_000

type Limits = Pick<Definition, "maxTurns" | "timeoutMs" | "temperature" | "topP" | "effort" | "budget">

/** How long, how far and how warm an agent works. What is out of bounds is left out, never rounded. */
export function limitsOf(fields: Fields): Limits {
  const inner = nested(fields)
  const maxTurns = fields.number("maxTurns", { least: 1, most: mostTurns, whole: true }) ?? inner.maxTurns
  const timeoutMs = timeoutOf(fields) ?? inner.timeoutMs
  const temperature = fields.number("temperature", { least: 0, most: 2 }) ?? inner.temperature
  const topP = fields.number("topP", { least: 0, most: 1 }) ?? inner.topP
  const effort = effortOf(fields)
  const budget = budgetOf(fields)
  return {
    ...(maxTurns !== undefined && { maxTurns }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(effort && { effort }),
    ...(budget && { budget }),
  }
}

/** Qwen keeps some of them in maps of their own. */
function nested(fields: Fields): { [key in "maxTurns" | "timeoutMs" | "temperature" | "topP"]: number | undefined } {
  const run = mapOf(fields.one("runConfig"))
  const model = mapOf(fields.one("modelConfig"))
  const within = (value: unknown, least: number, most: number) => {
    const number = numberOf(value)
    return number !== undefined && number >= least && number <= most ? number : undefined
  }
  const minutes = within(run.max_time_minutes, 0.001, day / 60_000)
  return {
    maxTurns: within(run.max_turns, 1, mostTurns),
    timeoutMs: minutes && Math.round(minutes * 60_000),
    temperature: within(model.temp ?? model.temperature, 0, 2),
    topP: within(model.top_p, 0, 1),
  }
}

const units: Record<string, number> = {
  ms: 1,
  s: 1_000,
  sec: 1_000,
  m: 60_000,
  min: 60_000,
  mins: 60_000,
  h: 3_600_000,
}
/** A bare number as great as this is taken for milliseconds: nobody means hours and writes seconds. */
const leastBareMs = 10_000

function timeoutOf(fields: Fields): number | undefined {
  const minutes = fields.number("minutes", { least: 0.001, most: day / 60_000 })
  const entry = fields.one("timeout")
  if (!entry || entry.value === null) return minutes && Math.round(minutes * 60_000)
  const [, digits, unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)\s*([a-z]*)$/i.exec(String(entry.value).trim()) ?? []
  const number = Number(digits)
  const each = unit ? units[unit.toLowerCase()] : number >= leastBareMs ? 1 : 1_000
  const ms = Math.round(number * (each ?? Number.NaN))
  if (ms >= 1 && ms <= day) return ms
  fields.warn(entry, "must be seconds, or a time such as 90s or 10m, at most a day; it is left out")
  return undefined
}

const efforts: Record<string, NonNullable<Definition["effort"]>> = {
  none: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
}

function effortOf(fields: Fields): Definition["effort"] {
  const entry = fields.one("effort")
  if (!entry || entry.value === null) return undefined
  const effort = efforts[String(entry.value).trim().toLowerCase()]
  if (!effort) fields.warn(entry, "must be low, medium or high; it is left out")
  return effort
}

function budgetOf(fields: Fields): Definition["budget"] {
  const entry = fields.one("budget")
  if (!entry || entry.value === null) return undefined
  const map = mapOf(entry)
  const cost = money(typeof entry.value === "object" ? (map.cost ?? map.usd) : entry.value)
  const tokens = numberOf(map.tokens)
  if (cost === undefined && tokens === undefined) {
    fields.warn(entry, "must be dollars, or a map of cost and tokens; it is left out")
    return undefined
  }
  return { ...(cost !== undefined && { cost }), ...(tokens !== undefined && { tokens }) }
}

function money(value: unknown): number | undefined {
  const number = numberOf(typeof value === "string" ? value.trim().replace(/^\$/, "") : value)
  return number !== undefined && number >= 0 ? number : undefined
}

export const mapOf = (entry: Entry | undefined): Record<string, unknown> =>
  typeof entry?.value === "object" && entry.value !== null && !Array.isArray(entry.value)
    ? (entry.value as Record<string, unknown>)
    : {}
