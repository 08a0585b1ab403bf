import type { Call } from "../core/message.ts"
import type { Tool } from "./scope.ts"

type Parsed = { ok: true; data: unknown } | { ok: false; text: string }

/** A call's arguments as its tool wants them, or what is wrong with them, in words for the model. */
export async function parse(tool: Tool, call: Pick<Call, "input" | "broken">): Promise<Parsed> {
  if (call.broken !== undefined) return { ok: false, text: "the arguments were not whole JSON; send the call again" }
  const parsed = tool.input.safeParse(call.input)
  if (parsed.success) return { ok: true, data: parsed.data }
  const { explain } = await import("./explain.ts")
  return { ok: false, text: `the arguments do not fit ${tool.name}:\n${explain(parsed.error)}` }
}
