import type { Call } from "./message.ts"

/** Takes out what could steer a terminal: escape sequences, control characters and turns of the writing direction. */
export const printable = (text: string): string =>
  text
    .replaceAll(
      /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]*[0-~]?)/g,
      "",
    )
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")

/** A text as one line of at most so many characters, never half of one. */
export function oneLine(text: string, most: number): string {
  const flat = printable(text).replaceAll(/\s+/g, " ").trim()
  return flat.length > most ? `${flat.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…` : flat
}

/** The one argument of a call that says most about it, in the order of looking. */
const telling = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt", "id", "key"]

/** A call in one line: `grep permit`, `read src/agent/loop.ts`. */
export function callLine({ name, input }: Pick<Call, "name" | "input">, width = 72): string {
  const given = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {}
  const key = telling.find((each) => typeof given[each] === "string")
  return oneLine(key ? `${name} ${given[key]}` : name, width)
}
