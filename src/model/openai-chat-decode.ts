import type { ChatCompletionChunk } from "openai/resources/chat/completions"
import { type Call, callsOf, type Message, type Part, type Stop } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import { callOf, parsed } from "./input.ts"
import type { Delta } from "./model.ts"
import type { Progress, Reading } from "./openai-attempt.ts"
import type { ThoughtField } from "./openai-chat-encode.ts"

/** A chunk as servers really send it: nearly all of it may be missing, and some add fields of their own. */
type Chunk = {
  error?: unknown
  choices?: Choice[] | null
  usage?: Spent | null
}
/** Two vendors count what their cache read in places of their own. */
type Spent = NonNullable<ChatCompletionChunk["usage"]> & { prompt_cache_hit_tokens?: number; cached_tokens?: number }
type Choice = { index?: number; finish_reason?: string | null; delta?: Piece | null }
type Piece = { [field in ThoughtField]?: unknown } & {
  content?: unknown
  refusal?: unknown
  tool_calls?: CallPiece[] | null
}
type CallPiece = {
  index?: number | null
  id?: string | null
  function?: { name?: string | null; arguments?: string | object | null } | null
}

type Slot = { index: number | undefined; id: string; name: string; raw: string }

type Source = { provider: string; messages: readonly Message[]; delta(delta: Delta): void }

export function readChat({ provider, messages, delta }: Source): Reading {
  const usage = noUsage()
  const calls: Slot[] = []
  const thoughts: { text: string; field: ThoughtField } = { text: "", field: "reasoning_content" }
  let text = ""
  let refusal = false
  let reason: string | undefined

  const hear = (piece: Piece): void => {
    const thought = thoughtOf(piece)
    if (thought) {
      if (!thoughts.text) thoughts.field = thought.field
      thoughts.text += thought.text
      delta({ kind: "reasoning", text: thought.text })
    }
    for (const words of [piece.content, piece.refusal]) {
      if (typeof words !== "string" || words === "") continue
      if (words === piece.refusal) refusal = true
      text += words
      delta({ kind: "text", text: words })
    }
    for (const each of piece.tool_calls ?? []) addCall(calls, each)
  }

  return {
    usage,
    take(event): Progress {
      const chunk = event as Chunk
      if (chunk.error) return { state: "failed", error: chunk.error }
      if (chunk.usage) Object.assign(usage, usageOf(chunk.usage))
      const choice = chunk.choices?.[0]
      if (choice?.delta) hear(choice.delta)
      if (choice?.finish_reason) reason = choice.finish_reason
      return { state: "open" }
    },
    close() {
      reason ??= "stop"
    },
    answer() {
      if (reason === undefined) return undefined
      const parts: Part[] = []
      if (thoughts.text) {
        parts.push({ type: "reasoning", text: thoughts.text, by: provider, proof: { field: thoughts.field } })
      }
      if (text) parts.push({ type: "text", text })
      const ids = freshIds(messages, calls)
      for (const slot of calls) parts.push({ type: "call", ...finished(slot, ids, reason) })
      return { parts, stop: refusal ? "refusal" : stopOf(reason, calls.length > 0) }
    },
  }
}

function thoughtOf(piece: Piece): { text: string; field: ThoughtField } | undefined {
  for (const field of ["reasoning_content", "reasoning"] as const) {
    const text = piece[field]
    if (typeof text === "string" && text !== "") return { text, field }
  }
  return undefined
}

/** Finds the call that a piece belongs to. Servers differ in what they repeat, and some leave out index or id. */
function addCall(calls: Slot[], piece: CallPiece): void {
  const name = piece.function?.name ?? ""
  const given = piece.function?.arguments ?? ""
  const raw = typeof given === "string" ? given : JSON.stringify(given)
  const index = typeof piece.index === "number" ? piece.index : undefined
  const id = piece.id ?? ""
  const last = calls.findLast((slot) => (index !== undefined ? slot.index === index : id === "" || slot.id === id))
  if (!last || isNext(last, { index, id, name, raw })) {
    calls.push({ index, id, name, raw })
    return
  }
  if (id && !last.id) last.id = id
  if (name) last.name = name
  last.raw += raw
}

/** A name opens a call, unless the server just says it again: then the id is the same, or the last one not yet whole. */
function isNext(last: Slot, piece: Slot): boolean {
  if (!piece.name || !last.name) return false
  if (piece.id && last.id) return piece.id !== last.id
  return piece.name !== last.name || (piece.raw !== "" && parsed(last.raw) !== undefined)
}

/** Ids for calls that came without: the same for the same conversation, and new in it. */
function freshIds(messages: readonly Message[], calls: Slot[]): () => string {
  const used = new Set(calls.map(({ id }) => id))
  let next = 1
  return () => {
    if (next === 1) for (const id of idsOf(messages)) used.add(id)
    while (used.has(`call_${next}`)) next++
    return `call_${next++}`
  }
}

const idsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === "assistant" ? callsOf(message.parts).map(({ id }) => id) : []))

function finished(slot: Slot, fresh: () => string, reason: string): Call {
  const call = callOf(slot.id || fresh(), slot.name, slot.raw)
  // The token limit may have cut a call off before its first argument: that is not a call without arguments.
  return reason === "length" && slot.raw === "" ? { ...call, broken: "" } : call
}

function stopOf(reason: string, calls: boolean): Stop {
  if (reason === "length") return "length"
  if (reason === "content_filter") return "refusal"
  if (calls) return "calls"
  return reason === "stop" || reason === "tool_calls" || reason === "function_call" ? "end" : "other"
}

function usageOf(usage: Spent): Usage {
  const cacheRead =
    usage.prompt_tokens_details?.cached_tokens ?? usage.prompt_cache_hit_tokens ?? usage.cached_tokens ?? 0
  const cacheWrite = usage.prompt_tokens_details?.cache_write_tokens ?? 0
  return {
    input: Math.max(0, (usage.prompt_tokens ?? 0) - cacheRead - cacheWrite),
    output: usage.completion_tokens ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: usage.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
