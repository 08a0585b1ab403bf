import type {
  RawContentBlockStartEvent,
  RawMessageStreamEvent,
  Usage as Spent,
} from "@anthropic-ai/sdk/resources/messages"
import type { Part, Stop } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import { by, type Proof } from "./anthropic-encode.ts"
import { callOf, parsed } from "./input.ts"
import type { Delta } from "./model.ts"

/** An event as it may really come: of a kind that we know or not. */
type Incoming = RawMessageStreamEvent | { type: "ping" } | { type: "error"; error: unknown }

type Block =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string; signature: string }
  | { type: "redacted"; data: string }
  | { type: "call"; id: string; name: string; given: unknown; raw: string }

/** Where the answer stands after an event. */
export type Progress =
  | { state: "open" }
  | { state: "whole" }
  /** An event that is not JSON. */
  | { state: "garbled" }
  /** Signs of life, and nothing else for too long. */
  | { state: "silent" }
  | { state: "failed"; error: unknown }

type Listener = {
  delta(delta: Delta): void
  now(): number
  /** Milliseconds that may pass with nothing but signs of life. */
  patience: number
}

const open: Progress = { state: "open" }

const ends = new Map<string | undefined, Incoming>([
  ["content_block_stop", { type: "content_block_stop", index: 0 }],
  ["message_stop", { type: "message_stop" }],
])

/** Reads one answer, event by event. Nothing of it is given out before the provider said why it stopped. */
export class Reading {
  readonly usage: Usage = noUsage()
  #blocks = new Map<number, Block>()
  #reason: string | undefined
  #heard: number
  #to: Listener

  constructor(to: Listener) {
    this.#to = to
    this.#heard = to.now()
  }

  /** `event` is what the stream calls it: where that says all, its data are not looked at. */
  take(data: string, event?: string): Progress {
    const incoming = ends.get(event) ?? parsed(data)
    if (typeof incoming !== "object" || incoming === null) return { state: "garbled" }
    const now = this.#to.now()
    if ((incoming as Incoming).type !== "ping") this.#heard = now
    else if (now - this.#heard > this.#to.patience) return { state: "silent" }
    return this.#read(incoming as Incoming)
  }

  #read(incoming: Incoming): Progress {
    switch (incoming.type) {
      case "content_block_delta":
        this.#grow(incoming.index, incoming.delta)
        return open
      case "content_block_start":
        this.#begin(incoming)
        return open
      case "message_start":
        count(this.usage, incoming.message?.usage)
        return open
      case "message_delta":
        this.#reason = incoming.delta?.stop_reason ?? this.#reason
        count(this.usage, incoming.usage)
        return open
      case "message_stop":
        return this.#reason === undefined ? open : { state: "whole" }
      case "error":
        return { state: "failed", error: incoming.error }
      default:
        return open
    }
  }

  /** Nothing as long as the end has not come. */
  answer(): { parts: Part[]; stop: Stop } | undefined {
    if (this.#reason === undefined) return undefined
    const stop = stopOf(this.#reason)
    const parts = [...this.#blocks.values()].flatMap((block) => partOf(block, stop))
    return { parts, stop }
  }

  #begin({ index, content_block: block }: RawContentBlockStartEvent): void {
    switch (block?.type) {
      case "text":
        this.#blocks.set(index, { type: "text", text: "" })
        this.#say(index, block.text)
        return
      case "thinking":
        this.#blocks.set(index, { type: "thinking", text: "", signature: block.signature ?? "" })
        this.#say(index, block.thinking)
        return
      case "redacted_thinking":
        this.#blocks.set(index, { type: "redacted", data: block.data })
        return
      case "tool_use":
        this.#blocks.set(index, { type: "call", id: block.id, name: block.name, given: block.input, raw: "" })
        return
      default:
        // What the provider's own tools do is none of our parts.
        return
    }
  }

  #grow(index: number, delta: Extract<RawMessageStreamEvent, { type: "content_block_delta" }>["delta"]): void {
    const block = this.#blocks.get(index)
    switch (delta?.type) {
      case "text_delta":
        if (block?.type === "text") this.#say(index, delta.text)
        return
      case "thinking_delta":
        if (block?.type === "thinking") this.#say(index, delta.thinking)
        return
      case "input_json_delta":
        if (block?.type === "call") block.raw += delta.partial_json ?? ""
        return
      case "signature_delta":
        if (block?.type === "thinking") block.signature = delta.signature
        return
      default:
        return
    }
  }

  #say(index: number, text: string | undefined): void {
    const block = this.#blocks.get(index)
    if (!text || (block?.type !== "text" && block?.type !== "thinking")) return
    block.text += text
    this.#to.delta({ kind: block.type === "text" ? "text" : "reasoning", text })
  }
}

function partOf(block: Block, stop: Stop): Part[] {
  switch (block.type) {
    case "text":
      return block.text === "" ? [] : [{ type: "text", text: block.text }]
    case "thinking":
      return [
        { type: "reasoning", text: block.text, by, ...(block.signature && proven({ signature: block.signature })) },
      ]
    case "redacted":
      return [{ type: "reasoning", text: "", by, ...proven({ redacted: block.data }) }]
    case "call":
      return [{ type: "call", ...callFrom(block, stop) }]
    default:
      return block satisfies never
  }
}

const proven = (proof: Proof): { proof: Proof } => ({ proof })

function callFrom({ id, name, given, raw }: Extract<Block, { type: "call" }>, stop: Stop) {
  if (raw !== "") return callOf(id, name, raw)
  // The token limit may have cut a call off before its first argument: that is not a call without arguments.
  if (stop === "length") return { id, name, input: {}, broken: "" }
  return { id, name, input: given ?? {} }
}

function stopOf(reason: string): Stop {
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case "pause_turn":
      return "end"
    case "tool_use":
      return "calls"
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length"
    case "refusal":
      return "refusal"
    default:
      return "other"
  }
}

/** Each count is the answer's total so far, and left out where it does not apply. */
function count(usage: Usage, spent: { [key in keyof Spent]?: Spent[key] | null } | undefined): void {
  usage.input = spent?.input_tokens ?? usage.input
  usage.output = spent?.output_tokens ?? usage.output
  usage.cacheRead = spent?.cache_read_input_tokens ?? usage.cacheRead
  usage.cacheWrite = spent?.cache_creation_input_tokens ?? usage.cacheWrite
  usage.reasoning = spent?.output_tokens_details?.thinking_tokens ?? usage.reasoning
}
