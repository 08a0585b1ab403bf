import type { Call } from "../core/message.ts"

const deepest = 500

/** A call as the model wrote it: arguments that are not whole JSON are kept as they came, to be told to the model. */
export function callOf(id: string, name: string, raw: string): Call {
  if (raw.trim() === "") return { id, name, input: {} }
  const input = parsed(raw)
  if (input === undefined || isDeeper(input, deepest)) return { id, name, input: {}, broken: raw }
  return { id, name, input: input ?? {} }
}

/** The arguments to show a provider again, as text. Strict servers refuse anything but an object. */
export function argumentsOf({ input }: Call): string {
  return typeof input === "object" && input !== null && !Array.isArray(input) ? JSON.stringify(input) : "{}"
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Nesting that can be read may overflow the stack when it is written again. */
const isDeeper = (value: unknown, than: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (than === 0 || Object.values(value).some((inner) => isDeeper(inner, than - 1)))

/** A tool's name as every provider takes it: models invent others, and a history that has one must still be sent. */
export const wireName = (name: string): string => name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "_"
