import type { Failure } from "../core/event.ts"
import type { Message, Part, Stop, ToolSpec } from "../core/message.ts"
import type { Cost, Usage } from "../core/usage.ts"

export type { ToolSpec }

export type Request = {
  system: string
  tools: ToolSpec[]
  messages: readonly Message[]
  /** `none`: the tools stay in the request, for the cache's sake, and none may be called. */
  toolChoice: "auto" | "none"
  temperature?: number
  topP?: number
  /** How hard to think, where the model can be told. */
  effort?: "low" | "medium" | "high"
  /** Stays the same for all requests of one run; where a client may keep what it encoded before. */
  memo: object
  /** How many of the first messages came from the run that this one was forked from; the last of them holds the call. */
  inherited?: number
  /** The memo of that run: what was encoded for it need not be encoded again. */
  from?: object
}

/** Shown while the answer comes. Nothing of it counts until the answer is whole. */
export type Delta = { kind: "text" | "reasoning"; text: string }

export type Answer =
  | { ok: true; parts: Part[]; stop: Stop; usage: Usage }
  /** `retryAfter` is what the provider asked for, in milliseconds. `usage` is what was spent all the same. */
  | { ok: false; error: Failure; retry: boolean; retryAfter?: number; usage: Usage }

export type Listen = {
  signal: AbortSignal
  delta(delta: Delta): void
  /** A try failed and another will follow after `wait` milliseconds; what the failed try said is void. */
  failed(failure: { error: Failure; wait: number; usage: Usage }): void
}

/** One model of one provider. `stream` never rejects: what goes wrong is an answer too. */
export interface Model {
  /** `provider/name` */
  id: string
  /** Whether it takes images. */
  images: boolean
  /** Tokens that one request and its answer may hold together. */
  window: number
  /** Tokens of the longest answer it is asked for, where that is known. */
  maxTokens?: number
  stream(request: Request, listen: Listen): Promise<Answer>
  cost(usage: Usage): Cost
}
