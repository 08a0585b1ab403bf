import type { IncomingHttpHeaders } from "node:http"
import type { Json } from "./json.ts"
import { type Fault, fail, type Reply } from "./reply.ts"

export type Format = "anthropic" | "chat" | "responses"

/** A message of a request, whichever format it came in. What one answer said is one message. */
export type Heard = {
  role: "user" | "assistant" | "result"
  text: string
  /** What an assistant called. Arguments that are not JSON stay text. */
  calls?: { id: string; name: string; input: unknown }[]
  /** The id of the call that a result belongs to. */
  call?: string
}

export type Asked = {
  format: Format
  model: string
  system: string
  messages: Heard[]
  tools: string[]
  /** The text of the last message. */
  last: string
  body: Json
  /** The body as it came. */
  raw: string
  headers: IncomingHttpHeaders
  /** Aborted when the client goes away or the server closes. */
  signal: AbortSignal
}

/** `n` counts the requests that came before. */
export type Script = (asked: Asked, n: number) => Reply | Fault | Promise<Reply | Fault>

type Conversation = { messages: readonly { role: string }[] }
type Told<In, Out> = (asked: In, n: number) => Out | Promise<Out>
type Step<In, Out> = Out | Told<In, Out>

/**
 * One reply for each answer that a conversation wants. The place is read from the conversation itself, so one script
 * serves many at once, and those that are resumed.
 */
export function steps<In extends Conversation>(...replies: Step<In, Reply>[]): Told<In, Reply>
export function steps<In extends Conversation>(...replies: Step<In, Reply | Fault>[]): Told<In, Reply | Fault>
export function steps<In extends Conversation>(...replies: Step<In, Reply | Fault>[]): Told<In, Reply | Fault> {
  return (asked, n) => {
    const turn = turnsOf(asked.messages)
    const step = replies[turn]
    if (step !== undefined) return typeof step === "function" ? step(asked, n) : step
    return fail("bad_request", `the script has ${replies.length} steps and this is request ${turn + 1}: add a step`)
  }
}

/** One reply for each try of the same request; the last one stays. */
export function tries<In extends Conversation>(...replies: Step<In, Reply>[]): Told<In, Reply>
export function tries<In extends Conversation>(...replies: Step<In, Reply | Fault>[]): Told<In, Reply | Fault>
export function tries<In extends Conversation>(...replies: Step<In, Reply | Fault>[]): Told<In, Reply | Fault> {
  const made = new Map<string, number>()
  return (asked, n) => {
    const key = JSON.stringify(asked.messages)
    const before = made.get(key) ?? 0
    made.set(key, before + 1)
    const step = replies[Math.min(before, replies.length - 1)] ?? ""
    return typeof step === "function" ? step(asked, n) : step
  }
}

export const turnsOf = (messages: Conversation["messages"]): number =>
  messages.reduce((turns, { role }) => (role === "assistant" ? turns + 1 : turns), 0)
