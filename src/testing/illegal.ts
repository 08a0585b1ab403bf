import { anthropic } from "./anthropic.ts"
import { chat } from "./chat.ts"
import { isObject } from "./json.ts"
import { responses } from "./responses.ts"
import type { Format } from "./script.ts"
import type { Wire } from "./wire.ts"

export const wires: Record<Format, Wire> = { anthropic, chat, responses }

/** Why the real API would refuse this request, if it would. */
export function illegal(format: Format, body: unknown): string | undefined {
  if (!isObject(body)) return "the body is not a JSON object"
  for (const rule of wires[format].rules(body)) return rule
  return undefined
}
