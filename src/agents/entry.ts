/** One field of a front matter. */
export type Entry = {
  key: string
  value: unknown
  /** The value as it stands in the file, for when its type was not meant. */
  text: string
  /** Counted from 1, in the file. */
  line: number
  /** Why it cannot be made out, and what to do. */
  broken?: string
}

export type Note = { severity: "error" | "warning" | "info"; line: number; message: string }

/** The value as text: what YAML takes for a number, a date or a comment may be a name or a colour. */
export function textOf({ value, text }: Entry): string | undefined {
  if (typeof value === "string") return value.trim() || undefined
  if (value === null) return text.startsWith("#") ? text : undefined
  return typeof value === "object" || value === undefined ? undefined : text || String(value)
}
