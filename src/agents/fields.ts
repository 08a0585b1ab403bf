import { type Entry, type Note, textOf } from "./entry.ts"
import { type Key, meaning } from "./keys.ts"

/** The fields of one front matter by what they mean, and what there is to say about them. */
export class Fields {
  readonly notes: Note[]
  readonly #entries: readonly Entry[]
  readonly #byKey: Map<Key | undefined, Entry[]>
  readonly #used = new Set<Entry>()

  constructor(entries: readonly Entry[], notes: readonly Note[]) {
    this.#entries = entries
    this.#byKey = Map.groupBy(entries, ({ key }) => meaning(key))
    this.notes = [...notes]
  }

  /** All spellings of a field. */
  all(key: Key): Entry[] {
    const found = this.#byKey.get(key) ?? []
    for (const entry of found) this.#used.add(entry)
    return found
  }

  /** Of several spellings the last counts. */
  one(key: Key): Entry | undefined {
    return this.all(key).at(-1)
  }

  text(key: Key): string | undefined {
    const entry = this.one(key)
    const text = entry && textOf(entry)
    if (entry && text === undefined && entry.value !== null && entry.value !== "")
      this.warn(entry, "must be text; it is left out")
    return text
  }

  /** A number, also one that is written as text. */
  number(key: Key, { least, most, whole }: { least: number; most: number; whole?: true }): number | undefined {
    const entry = this.one(key)
    if (!entry || entry.value === null || entry.value === "") return undefined
    const number = numberOf(entry.value)
    if (number !== undefined && number >= least && number <= most && (!whole || Number.isInteger(number))) return number
    this.warn(entry, `must be a ${whole ? "whole " : ""}number from ${least} to ${most}; it is left out`)
    return undefined
  }

  /** Yes or no. Undefined for what is neither. */
  flag(key: Key): boolean | undefined {
    const entry = this.one(key)
    if (!entry || entry.value === null || entry.value === "") return undefined
    const flag = flagOf(entry.value)
    if (flag === undefined) this.warn(entry, "must be true or false")
    return flag
  }

  warn({ key, line }: Entry, message: string): void {
    this.notes.push({ severity: "warning", line, message: `${key}: ${message}` })
  }

  /** What no question was asked about. */
  rest(): Record<string, unknown> {
    const left = this.#entries.filter((entry) => !this.#used.has(entry))
    return Object.fromEntries(left.map(({ key, value }) => [key, value]))
  }

  /** The line of each field. */
  lines(): Record<string, number> {
    return Object.fromEntries(this.#entries.map(({ key, line }) => [meaning(key) ?? key, line]))
  }

  keys(): string[] {
    return this.#entries.map(({ key }) => key)
  }
}

export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined
  const text = typeof value === "string" ? value.trim() : ""
  return /^[+-]?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : undefined
}

function flagOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value
  if (typeof value !== "string") return undefined
  if (/^(?:true|yes|on)$/i.test(value.trim())) return true
  return /^(?:false|no|off)$/i.test(value.trim()) ? false : undefined
}
