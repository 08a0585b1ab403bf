import type { Failure } from "../core/event.ts"
import type { Json } from "./json.ts"
import type { Heard } from "./script.ts"
import type { Shape } from "./shape.ts"
import type { Speech } from "./speech.ts"

/** One event of a stream. `mark` says what it brings, for pacing and for cutting. */
export type Frame = { name?: string; data: string; mark?: "text" | "call" | "stop" }

/** What an answer is made for. `turn` is its number in the conversation. */
export type Exchange = { turn: number; model: string; body: Json; shape: Shape }

/** What a provider says when it does not answer. */
export type Trouble = { status: number; message: string; code?: string }

/** How one provider hears and speaks. */
export type Wire = {
  /** What is wrong with a request, worst first; a legal one yields nothing. */
  rules(body: Json): Iterable<string>
  read(body: Json): { system: string; messages: Heard[]; tools: string[] }
  frames(speech: Speech, exchange: Exchange): Frame[]
  /** The answer to a request that did not ask for a stream. */
  whole(speech: Speech, exchange: Exchange): object
  error(trouble: Trouble): object
  errorFrame(trouble: Trouble, sequence: number): Frame
  /** What keeps a silent stream open. */
  ping: string
  /** The status that says "come back later". */
  overloaded: number
}

/** Answers carry no real time, so that the same request gets the same bytes. */
export const created = 1_700_000_000

/** Joins what follows without anybody in between: what one answer said arrives in several items. */
export function joinTurns(messages: Heard[]): Heard[] {
  const joined: Heard[] = []
  for (const message of messages) {
    const before = joined.at(-1)
    if (message.role !== "assistant" || before?.role !== "assistant") {
      joined.push(message)
      continue
    }
    before.text += message.text
    if (message.calls) before.calls = [...(before.calls ?? []), ...message.calls]
  }
  return joined
}

/** A thought's proof as a provider would send it: what was given, else something that depends on the thought alone. */
export const proofOf = (part: { text: string; proof?: unknown }): string =>
  typeof part.proof === "string" ? part.proof : Buffer.from(`proof of ${part.text.slice(0, 48)}`).toString("base64")

/** How each kind of failure looks as an HTTP error. Those that are no HTTP error have no line here. */
export function troubleOf({ kind, message, status }: Failure, wire: Wire): Trouble {
  const usual = { context_overflow: 400, bad_request: 400, authentication: 401, not_found: 404, rate_limit: 429 }
  const known = kind in usual ? usual[kind as keyof typeof usual] : kind === "overloaded" ? wire.overloaded : 500
  const code = kind === "context_overflow" ? { code: "context_length_exceeded" } : {}
  return { status: status ?? known, message, ...code }
}
