import type {
  Response,
  ResponseOutputItem,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses"
import type { Part, Stop } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import { callOf } from "./input.ts"
import type { Delta } from "./model.ts"
import type { Progress, Reading } from "./openai-attempt.ts"
import type { Sealed } from "./openai-responses-encode.ts"

export function readResponse(provider: string, delta: (delta: Delta) => void): Reading {
  const usage = noUsage()
  const done: { item: ResponseOutputItem; at: number }[] = []
  let final: { response: Response; cut: boolean } | undefined

  const end = (response: Response, cut: boolean): Progress => {
    final = { response, cut }
    if (response.usage) Object.assign(usage, usageOf(response.usage))
    return { state: "whole" }
  }

  return {
    usage,
    take(data): Progress {
      const event = data as ResponseStreamEvent
      switch (event.type) {
        case "response.output_text.delta":
        case "response.refusal.delta":
          delta({ kind: "text", text: event.delta })
          return { state: "open" }
        case "response.reasoning_summary_text.delta":
        case "response.reasoning_text.delta":
          delta({ kind: "reasoning", text: event.delta })
          return { state: "open" }
        case "response.reasoning_summary_part.added":
          if (event.summary_index > 0) delta({ kind: "reasoning", text: between })
          return { state: "open" }
        case "response.output_item.done":
          done.push({ item: event.item, at: event.output_index })
          return { state: "open" }
        case "response.completed":
        case "response.incomplete":
          return end(event.response, event.type === "response.incomplete")
        case "response.failed":
          end(event.response, true)
          return { state: "failed", error: event.response.error }
        case "error":
          return { state: "failed", error: event }
        default:
          // Some servers send an error without a type; all other events repeat what these say.
          return "error" in data && data.error ? { state: "failed", error: data.error } : { state: "open" }
      }
    },
    close() {},
    answer() {
      if (!final) return undefined
      const { response, cut } = final
      // Some servers leave the list out of the last event.
      const items = response.output?.length ? response.output : done.sort((a, b) => a.at - b.at).map(({ item }) => item)
      const parts = items.flatMap((item) => partsOf(item, cut, provider))
      return { parts, stop: cut ? cutBy(response) : stopOf(items) }
    },
  }
}

/** What stands between two sections of a summary, in the hints and in the whole. */
const between = "\n\n"

function partsOf(item: ResponseOutputItem, cut: boolean, provider: string): Part[] {
  switch (item.type) {
    case "message":
      return item.content.flatMap((each) => {
        const text = each.type === "output_text" ? each.text : each.refusal
        return text ? [{ type: "text", text }] : []
      })
    case "reasoning":
      return thought(item, provider)
    case "function_call": {
      const call = callOf(item.call_id, item.name, item.arguments)
      // The token limit may have cut a call off before its first argument: that is not a call without arguments.
      return [{ type: "call", ...call, ...(cut && item.arguments === "" && { broken: "" }) }]
    }
    default:
      // Built-in tools of the provider: none is offered, so there is nothing to keep.
      return []
  }
}

function thought({ id, summary, content, encrypted_content }: ResponseReasoningItem, by: string): Part[] {
  const text = (summary?.length ? summary : (content ?? [])).map((each) => each.text).join(between)
  if (!encrypted_content) return text ? [{ type: "reasoning", text, by }] : []
  const proof: Sealed = { id, summary, encrypted_content }
  return [{ type: "reasoning", text, by, proof }]
}

function cutBy({ incomplete_details }: Response): Stop {
  if (incomplete_details?.reason === "content_filter") return "refusal"
  return incomplete_details?.reason === "max_output_tokens" ? "length" : "other"
}

function stopOf(items: ResponseOutputItem[]): Stop {
  const refused = items.some((item) => item.type === "message" && item.content.some(({ type }) => type === "refusal"))
  if (refused) return "refusal"
  return items.some(({ type }) => type === "function_call") ? "calls" : "end"
}

function usageOf(usage: ResponseUsage): Usage {
  const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0
  const cacheWrite = usage.input_tokens_details?.cache_write_tokens ?? 0
  return {
    input: Math.max(0, (usage.input_tokens ?? 0) - cacheRead - cacheWrite),
    output: usage.output_tokens ?? 0,
    cacheRead,
    cacheWrite,
    reasoning: usage.output_tokens_details?.reasoning_tokens ?? 0,
  }
}
