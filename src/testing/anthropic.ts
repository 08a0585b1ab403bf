import type { Stop } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"
import { anthropicRules } from "./anthropic-rules.ts"
import { isObject, type Json, objects, parse, string, textIn } from "./json.ts"
import type { Heard } from "./script.ts"
import { argumentPieces, pieces, type Shape } from "./shape.ts"
import type { Speech, SpokenPart } from "./speech.ts"
import { type Exchange, type Frame, joinTurns, proofOf, type Trouble, type Wire } from "./wire.ts"

export const anthropic: Wire = {
  rules: anthropicRules,
  read,
  frames,
  whole: ({ parts, stop, usage }, exchange) => ({
    ...envelope(exchange),
    content: parts.map(block),
    stop_reason: reasons[stop],
    usage: usageOf(usage),
  }),
  error,
  errorFrame: (trouble) => ({ name: "error", data: JSON.stringify(error(trouble)) }),
  ping: 'event: ping\ndata: {"type": "ping"}\n\n',
  overloaded: 529,
}

function read(body: Json): ReturnType<Wire["read"]> {
  return {
    system: textIn(body.system, "\n"),
    messages: joinTurns(objects(body.messages).flatMap(heard)),
    tools: objects(body.tools).map(({ name }) => string(name)),
  }
}

function heard({ role, content }: Json): Heard[] {
  if (role === "assistant") {
    const calls = objects(content)
      .filter(({ type }) => type === "tool_use")
      .map(({ id, name, input }) => ({ id: string(id), name: string(name), input }))
    return [{ role, text: textIn(content, ""), ...(calls.length > 0 && { calls }) }]
  }
  const results = objects(content)
    .filter(({ type }) => type === "tool_result")
    .map((each): Heard => ({ role: "result", text: textIn(each.content, "\n"), call: string(each.tool_use_id) }))
  const text = textIn(content, "\n")
  return text === "" && results.length > 0 ? results : [...results, { role: "user", text }]
}

function frames({ parts, stop, usage }: Speech, exchange: Exchange): Frame[] {
  const { output_tokens, ...input } = usageOf(usage)
  const start = { ...envelope(exchange), content: [], stop_reason: null, usage: { ...input, output_tokens: 1 } }
  const delta = { stop_reason: reasons[stop], stop_sequence: null, stop_details: null, container: null }
  return [
    event("message_start", { message: start }),
    { name: "ping", data: '{"type": "ping"}' },
    ...parts.flatMap((part, index) => blockFrames(part, index, exchange.shape)),
    { ...event("message_delta", { delta, usage: { ...input, output_tokens } }), mark: "stop" },
    event("message_stop", {}),
  ]
}

function blockFrames(part: SpokenPart, index: number, shape: Shape): Frame[] {
  const start = event("content_block_start", { index, content_block: opening(part) })
  return [start, ...deltas(part, index, shape), event("content_block_stop", { index })]
}

function deltas(part: SpokenPart, index: number, { piece }: Shape): Frame[] {
  switch (part.type) {
    case "text":
      return pieces(part.text, piece).map((text) => delta(index, "text_delta", "text", text))
    case "reasoning": {
      const thoughts = pieces(part.text, piece).map((text) => delta(index, "thinking_delta", "thinking", text))
      return [...thoughts, delta(index, "signature_delta", "signature", proofOf(part))]
    }
    case "redacted":
      return []
    case "call": {
      // Calls without arguments come as one empty piece, which is not JSON.
      const texts = part.arguments === "{}" ? [] : argumentPieces(part.arguments, piece)
      const first: Frame = { ...delta(index, "input_json_delta", "partial_json", ""), mark: "text" }
      return [first, ...texts.map((text) => delta(index, "input_json_delta", "partial_json", text))]
    }
    default:
      return part satisfies never
  }
}

const opening = (part: SpokenPart): object => {
  switch (part.type) {
    case "text":
      return { ...block(part), text: "" }
    case "reasoning":
      return { ...block(part), thinking: "", signature: "" }
    case "redacted":
      return block(part)
    case "call":
      return { ...block(part), input: {} }
    default:
      return part satisfies never
  }
}

function block(part: SpokenPart): object {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, citations: null }
    case "reasoning":
      return { type: "thinking", thinking: part.text, signature: proofOf(part) }
    case "redacted":
      return { type: "redacted_thinking", data: part.data }
    case "call": {
      const input = parse(part.arguments)
      return {
        type: "tool_use",
        id: part.id,
        name: part.name,
        input: isObject(input) ? input : {},
        caller: { type: "direct" },
      }
    }
    default:
      return part satisfies never
  }
}

const event = (name: string, body: object): Frame => ({ name, data: JSON.stringify({ type: name, ...body }) })

const delta = (index: number, type: string, key: string, text: string): Frame => ({
  name: "content_block_delta",
  data: `{"type":"content_block_delta","index":${index},"delta":{"type":"${type}","${key}":${JSON.stringify(text)}}}`,
  mark: type === "input_json_delta" ? "call" : "text",
})

const envelope = ({ turn, model }: Exchange) => ({
  id: `msg_${turn}`,
  type: "message",
  role: "assistant",
  model,
  container: null,
  diagnostics: null,
  stop_sequence: null,
  stop_details: null,
})

const usageOf = ({ input, output, cacheRead, cacheWrite, reasoning }: Usage) => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: 0 },
  output_tokens: output,
  output_tokens_details: { thinking_tokens: reasoning },
  server_tool_use: null,
  service_tier: "standard",
})

const reasons: Record<Stop, string> = {
  end: "end_turn",
  calls: "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  other: "pause_turn",
}

function error({ status, message }: Trouble): object {
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error")
  return { type: "error", error: { type, message }, request_id: "req_test" }
}

const errorTypes: Record<number, string> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
}
