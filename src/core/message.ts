export type Image = { mediaType: string; data: string }

/** One use of a tool, as the model asked for it. `broken` holds arguments that were not JSON, as they came. */
export type Call = { id: string; name: string; input: unknown; broken?: string }

export type Part =
  | { type: "text"; text: string }
  /** `proof` is whatever the provider `by` wants to see again with this thought, unread by us. */
  | { type: "reasoning"; text: string; by: string; proof?: unknown }
  | ({ type: "call" } & Call)

export type User = { role: "user"; text: string; images?: Image[] }
export type Assistant = { role: "assistant"; parts: Part[] }
export type Result = { role: "result"; call: string; name: string; ok: boolean; text: string; images?: Image[] }
export type Message = User | Assistant | Result

/** Why the model stopped. `other` is a reason we have no word for. */
export type Stop = "end" | "calls" | "length" | "refusal" | "other"

export function callsOf(parts: readonly Part[]): Call[] {
  const calls: Call[] = []
  for (const part of parts) {
    if (part.type !== "call") continue
    const { id, name, input, broken } = part
    calls.push(broken === undefined ? { id, name, input } : { id, name, input, broken })
  }
  return calls
}

export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")

/** A tool as a model sees it. */
export type ToolSpec = { name: string; description: string; schema: Record<string, unknown> }
