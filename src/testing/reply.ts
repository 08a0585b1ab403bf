import type { Failure } from "../core/event.ts"
import type { Stop } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"
import type { Shape } from "./shape.ts"

/** A call without an id gets one that is new in its conversation and the same in every repetition. */
export type CallReply = { type: "call"; name: string; input: unknown; id?: string; raw?: string }

export type PartReply =
  | { type: "text"; text: string }
  | { type: "reasoning"; text: string; by?: string; proof?: unknown }
  /** Reasoning that the provider shows to nobody. */
  | { type: "redacted"; data: string }
  | CallReply

/** `parts` come first, in their order; then reasoning, text and calls. */
export type Said = {
  parts?: readonly PartReply[]
  reasoning?: string
  text?: string
  calls?: readonly CallReply[]
  stop?: Stop
  usage?: Partial<Usage>
}

export type Fail = {
  type: "fail"
  error: Failure
  retry: boolean
  retryAfter?: number
  usage?: Partial<Usage>
}

/** What a model answers: text, calls, both, or a failure. */
export type Reply = string | readonly CallReply[] | Said | Fail

/** A place in a stream. A number counts bytes of the body. */
export type Place = number | "headers" | "mid-event" | "mid-utf8" | "mid-call" | "before-stop" | "before-last"

/** What only a server can do wrong. */
export type Fault =
  | {
      type: "status"
      status: number
      message?: string
      code?: string
      retryAfter?: string
      headers?: Record<string, string>
      body?: string
    }
  | { type: "cut"; at: Place; of: Reply; how: "destroy" | "end" }
  | { type: "stall"; at: Place; of: Reply; pings: number }
  | { type: "error"; kind: Failure["kind"]; message: string; at: "headers" | "mid-call" | "before-stop"; of: Reply }
  | { type: "raw"; bytes: string | Uint8Array; status: number; contentType: string; how: "destroy" | "end" }
  | { type: "shaped"; reply: Reply | Fault; shape: Shape }

export const call = (name: string, input: unknown = {}, id?: string): CallReply => ({
  type: "call",
  name,
  input,
  ...(id !== undefined && { id }),
})

/** A call whose arguments are sent as they stand, whole JSON or not. */
export const rawCall = (name: string, raw: string, id?: string): CallReply => ({ ...call(name, {}, id), raw })

const passing: ReadonlySet<Failure["kind"]> = new Set(["rate_limit", "overloaded", "network", "truncated", "stalled"])

/** The model fails. On a server, this is the fault on the wire that a client reads as this kind of failure. */
export function fail(
  kind: Failure["kind"],
  message: string = defaultMessages[kind],
  options: { status?: number; retry?: boolean; retryAfter?: number; usage?: Partial<Usage> } = {},
): Fail {
  const { status, retry = passing.has(kind), ...rest } = options
  return { type: "fail", error: { kind, message, ...(status !== undefined && { status }) }, retry, ...rest }
}

const defaultMessages: Record<Failure["kind"], string> = {
  authentication: "the key is not valid",
  rate_limit: "too many requests",
  overloaded: "overloaded",
  network: "the connection was lost",
  truncated: "the answer ended before it was whole",
  stalled: "the answer stalled",
  context_overflow: "prompt is too long: 200001 tokens > 200000 maximum",
  refused: "refused",
  bad_request: "the request is not legal",
  not_found: "there is no such model",
  bad_calls: "the calls make no sense",
  store: "the session could not be stored",
  internal: "internal server error",
}

/** An HTTP error in the provider's own shape, or with `body` in any other. `retryAfter` is sent as it stands. */
export const status = (
  status: number,
  options: {
    message?: string
    code?: string
    retryAfter?: string
    headers?: Record<string, string>
    body?: string
  } = {},
): Fault => ({ type: "status", status, ...options })

/** The stream breaks off: the socket is destroyed, or the body ends as if all were well. */
export const cut = (at: Place, options: { of?: Reply; how?: "destroy" | "end" } = {}): Fault => ({
  type: "cut",
  at,
  of: options.of ?? sample,
  how: options.how ?? "destroy",
})

/** Headers, the answer up to a place, then nothing but a ping every so many milliseconds; 0 means not even that. */
export const stall = (options: { at?: Place; of?: Reply; pings?: number } = {}): Fault => ({
  type: "stall",
  at: options.at ?? "headers",
  of: options.of ?? sample,
  pings: options.pings ?? 100,
})

/** Status 200, part of an answer, then an error as an event of the stream. */
export const errorEvent = (
  kind: Failure["kind"] = "overloaded",
  message: string = defaultMessages[kind],
  options: { at?: "headers" | "mid-call" | "before-stop"; of?: Reply } = {},
): Fault => ({ type: "error", kind, message, at: options.at ?? "before-stop", of: options.of ?? sample })

/** Any bytes as the body. */
export const raw = (
  bytes: string | Uint8Array,
  options: { status?: number; contentType?: string; how?: "destroy" | "end" } = {},
): Fault => ({
  type: "raw",
  bytes,
  status: options.status ?? 200,
  contentType: options.contentType ?? "text/event-stream",
  how: options.how ?? "end",
})

/** The same answer in another gait: slower, in other chunks, with other line ends. */
export const shaped = (reply: Reply | Fault, shape: Shape): Fault => ({ type: "shaped", reply, shape })

/** Has all that can be cut: words, characters of several bytes, and a call that a careless client would make. */
const sample: Reply = {
  text: "Half of this answer – naïve, 半分 – is all there will be.",
  calls: [call("read", { path: "package.json" })],
}
