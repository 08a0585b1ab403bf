import type { HookEvent } from "../core/hook.ts"
import type { Decision } from "./said.ts"

/** What a hook may print. */
export type Reply = {
  continue?: boolean
  stopReason?: string
  systemMessage?: string
  /** The older way to decide. */
  decision?: "block" | "approve"
  reason?: string
  hookSpecificOutput?: {
    permissionDecision?: Decision
    permissionDecisionReason?: string
    updatedInput?: Record<string, unknown>
    additionalContext?: string
  }
}

type Fits = (value: unknown) => boolean

const isText: Fits = (value) => typeof value === "string"
const isFlag: Fits = (value) => typeof value === "boolean"
const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const oneOf =
  (...words: string[]): Fits =>
  (value) =>
    isText(value) && words.includes(value as string)

const general: Record<string, Fits> = {
  continue: isFlag,
  stopReason: isText,
  systemMessage: isText,
  decision: oneOf("block", "approve"),
  reason: isText,
  hookSpecificOutput: isMap,
}

const specific = (event: HookEvent): Record<string, Fits> => ({
  hookEventName: oneOf(event),
  permissionDecision: oneOf("allow", "deny", "ask"),
  permissionDecisionReason: isText,
  updatedInput: isMap,
  additionalContext: isText,
})

/** Reads what a hook printed; a text says what is wrong with it. Half an answer might lack the half that says no. */
export function readReply(text: string, event: HookEvent): Reply | string {
  const json = parsed(text)
  if (!isMap(json)) return "printed what looks like JSON and is not"
  const reply = withoutNulls(json)
  const wrong = odd(reply, general)
  if (wrong) return `printed JSON with a wrong ${wrong}`
  if (Object.hasOwn(reply, "permissionDecision")) return "printed a permissionDecision outside of hookSpecificOutput"
  if (!isMap(reply.hookSpecificOutput)) return reply
  const hookSpecificOutput = withoutNulls(reply.hookSpecificOutput)
  const inside = odd(hookSpecificOutput, specific(event))
  return inside ? `printed JSON with a wrong ${inside}` : { ...reply, hookSpecificOutput }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Many programs write null for what they leave out. */
const withoutNulls = (map: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(map).filter(([, value]) => value !== null))

const odd = (map: Record<string, unknown>, shape: Record<string, Fits>): string | undefined =>
  Object.keys(shape).find((key) => Object.hasOwn(map, key) && !shape[key]!(map[key]))
