/** Reading JSON that others sent, without believing any of it. */
export type Json = Record<string, unknown>

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

export const string = (value: unknown): string => (typeof value === "string" ? value : "")

export const isWord = (value: unknown): value is string => typeof value === "string" && value !== ""

export function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The words in a message's content, be it a string or a list of blocks. */
export const textIn = (content: unknown, between: string): string =>
  typeof content === "string"
    ? content
    : objects(content)
        .flatMap(({ text }) => (typeof text === "string" ? [text] : []))
        .join(between)
