import type {
  LanguageModelV2StreamPart,
  LanguageModelV2Usage,
  LanguageModelV3StreamPart,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from "@ai-sdk/provider"
import type { Part, Stop } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import type { Proof } from "./ai-sdk-encode.ts"
import { callOf } from "./input.ts"
import type { Answer, Delta } from "./model.ts"

export type StreamPart = LanguageModelV2StreamPart | LanguageModelV3StreamPart | LanguageModelV4StreamPart

type Metadata = SharedV4ProviderMetadata | undefined

/** Parts that are still coming. */
type Words = { type: "text" | "reasoning"; id: string; text: string; metadata: Metadata }
type Draft = Words | { type: "call"; id: string; name: string; raw: string; metadata: Metadata }

/** One answer as it is read, part by part. */
export type Heard = { drafts: Draft[]; usage: Usage; begun: boolean; reason?: string }

export const nothingHeard = (): Heard => ({ drafts: [], usage: noUsage(), begun: false })

/** Adds one part to what was heard. Throws what the provider reports as an error. */
export function hear(heard: Heard, part: StreamPart, delta: (delta: Delta) => void): void {
  heard.begun ||= part.type !== "stream-start"
  const metadata = "providerMetadata" in part ? (part.providerMetadata as Metadata) : undefined
  switch (part.type) {
    case "text-start":
    case "reasoning-start":
      heard.drafts.push({ type: kindOf(part), id: part.id, text: "", metadata })
      return
    case "text-delta":
    case "reasoning-delta":
    case "text-end":
    case "reasoning-end": {
      const draft = draftOf(heard, kindOf(part), part.id)
      draft.metadata = metadata ?? draft.metadata
      if (!("delta" in part) || part.delta === "") return
      draft.text += part.delta
      delta({ kind: draft.type, text: part.delta })
      return
    }
    case "tool-call":
      // What the provider ran by itself is no call for us.
      if (part.providerExecuted) return
      heard.drafts.push({ type: "call", id: part.toolCallId, name: part.toolName, raw: part.input, metadata })
      return
    case "finish":
      Object.assign(heard.usage, usageOf(part.usage))
      heard.reason = typeof part.finishReason === "string" ? part.finishReason : part.finishReason.unified
      return
    case "error":
      throw part.error
    default:
      // The input of a call comes again, whole, with the call; all else is not for us.
      return
  }
}

const kindOf = ({ type }: StreamPart): Words["type"] => (type.startsWith("text") ? "text" : "reasoning")

/** The part that an id stands for. Some providers do not announce it. */
function draftOf({ drafts }: Heard, type: Words["type"], id: string): Words {
  const open = drafts.findLast((draft): draft is Words => draft.type === type && draft.id === id)
  if (open) return open
  const draft: Words = { type, id, text: "", metadata: undefined }
  drafts.push(draft)
  return draft
}

export function answerOf({ drafts, usage, reason }: Heard, provider: string): Answer {
  if (reason === undefined || reason === "interrupted" || reason === "error") {
    const message = `the answer of ${provider} ended before it was whole`
    return { ok: false, error: { kind: "truncated", message }, retry: true, usage }
  }
  const parts = drafts.flatMap((draft) => finished(draft, provider))
  return { ok: true, parts, stop: stopOf(reason, drafts), usage }
}

function finished(draft: Draft, by: string): Part[] {
  const { metadata, type, id } = draft
  const note = (proof: Proof): Part => ({ type: "reasoning", text: "", by, proof })
  switch (type) {
    case "reasoning":
      if (metadata) return [{ type, text: draft.text, by, proof: { of: "thought", metadata } satisfies Proof }]
      return draft.text ? [{ type, text: draft.text, by }] : []
    case "text":
      return [
        ...(metadata ? [note({ of: "text", metadata })] : []),
        ...(draft.text ? [{ type: "text" as const, text: draft.text }] : []),
      ]
    case "call":
      return [
        ...(metadata ? [note({ of: "call", id, metadata })] : []),
        { type: "call", ...callOf(id, draft.name, draft.raw) },
      ]
    default:
      return type satisfies never
  }
}

function stopOf(reason: string, drafts: Draft[]): Stop {
  if (reason === "length") return "length"
  if (reason === "content-filter") return "refusal"
  if (drafts.some(({ type }) => type === "call")) return "calls"
  return reason === "stop" || reason === "tool-calls" ? "end" : "other"
}

/** The oldest version counts in plain numbers, the others by kind. */
function usageOf(usage: LanguageModelV2Usage | LanguageModelV4Usage): Usage {
  const { inputTokens: given, outputTokens: made } = usage
  const counted = typeof given === "object" ? given : undefined
  const plain = usage as LanguageModelV2Usage
  const cacheRead = (counted ? counted.cacheRead : plain.cachedInputTokens) ?? 0
  const cacheWrite = counted?.cacheWrite ?? 0
  const total = (typeof given === "object" ? given.total : given) ?? 0
  return {
    input: counted?.noCache ?? Math.max(0, total - cacheRead - cacheWrite),
    output: (typeof made === "object" ? made.total : made) ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: (typeof made === "object" ? made.reasoning : plain.reasoningTokens) ?? 0,
  }
}
