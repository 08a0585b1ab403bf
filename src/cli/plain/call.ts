import type { Call } from "../../core/message.ts"
import { oneLine } from "./format.ts"

/** The one argument of a call that says most about it, in the order of looking. */
const telling = ["command", "file_path", "path", "pattern", "url", "query", "description", "prompt"]

/** A call in one line: `grep permit`, `read src/agent/loop.ts`. */
export function callLine({ name, input }: Pick<Call, "name" | "input">, width = 72): string {
  const given = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {}
  const key = telling.find((each) => typeof given[each] === "string")
  return oneLine(key ? `${name} ${given[key]}` : name, width)
}
