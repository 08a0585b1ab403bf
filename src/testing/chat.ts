import type { Stop } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"
import { chatRules } from "./chat-rules.ts"
import { isObject, type Json, objects, parse, string, textIn } from "./json.ts"
import { openaiError } from "./openai.ts"
import type { Heard } from "./script.ts"
import { argumentPieces, pieces, type Shape } from "./shape.ts"
import type { Speech, SpokenCall, SpokenPart } from "./speech.ts"
import { created, type Exchange, type Frame, joinTurns, type Wire } from "./wire.ts"

export const chat: Wire = {
  rules: chatRules,
  read,
  frames,
  whole,
  error: openaiError,
  errorFrame: (trouble) => ({ data: JSON.stringify(openaiError(trouble)) }),
  ping: ": ping\n\n",
  overloaded: 503,
}

function read(body: Json): ReturnType<Wire["read"]> {
  const all = objects(body.messages)
  const isSystem = ({ role }: Json) => role === "system" || role === "developer"
  return {
    system: all
      .filter(isSystem)
      .map(({ content }) => textIn(content, "\n"))
      .join("\n"),
    messages: joinTurns(all.filter((each) => !isSystem(each)).map(heard)),
    tools: objects(body.tools).map((tool) => (isObject(tool.function) ? string(tool.function.name) : "")),
  }
}

function heard({ role, content, tool_calls, tool_call_id }: Json): Heard {
  if (role === "tool") return { role: "result", text: textIn(content, "\n"), call: string(tool_call_id) }
  if (role !== "assistant") return { role: "user", text: textIn(content, "\n") }
  const calls = objects(tool_calls).map((each) => {
    const { name, arguments: text } = isObject(each.function) ? each.function : {}
    return { id: string(each.id), name: string(name), input: parse(string(text)) ?? text }
  })
  return { role, text: textIn(content, ""), ...(calls.length > 0 && { calls }) }
}

function frames({ parts, stop, usage }: Speech, { turn, model, body, shape }: Exchange): Frame[] {
  const counting = isObject(body.stream_options) && body.stream_options.include_usage === true
  const head = `{"id":"chatcmpl-${turn}","object":"chat.completion.chunk","created":${created},"model":${JSON.stringify(model)},"system_fingerprint":null`
  const tail = counting ? ',"usage":null}' : "}"
  const chunk = (delta: string, reason = "null"): string =>
    `${head},"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}]${tail}`
  const said = deltas(parts, shape).map(({ data, mark }) => ({ data: chunk(data), ...(mark && { mark }) }))
  const content = parts.some(({ type }) => type === "text") ? '""' : "null"
  return [
    { data: chunk(`{"role":"assistant","content":${content},"refusal":null}`) },
    ...said,
    { data: chunk("{}", JSON.stringify(reasons[stop])), mark: "stop" },
    ...(counting ? [{ data: `${head},"choices":[],"usage":${JSON.stringify(usageOf(usage))}}` }] : []),
    { data: "[DONE]" },
  ]
}

function deltas(parts: SpokenPart[], shape: Shape): Frame[] {
  let called = 0
  return parts.flatMap((part): Frame[] => {
    switch (part.type) {
      case "text":
        return pieces(part.text, shape.piece).map((text) => textDelta("content", text))
      case "reasoning":
        return pieces(part.text, shape.piece).map((text) => textDelta("reasoning_content", text))
      case "redacted":
        return []
      case "call":
        return callDeltas(part, called++, shape)
      default:
        return part satisfies never
    }
  })
}

const textDelta = (key: string, text: string): Frame => ({ data: `{"${key}":${JSON.stringify(text)}}`, mark: "text" })

function callDeltas(call: SpokenCall, index: number, { piece }: Shape): Frame[] {
  const first = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }
  const rest = argumentPieces(call.arguments, piece).map(
    (text): Frame => ({
      data: `{"tool_calls":[{"index":${index},"function":{"arguments":${JSON.stringify(text)}}}]}`,
      mark: "call",
    }),
  )
  return [{ data: JSON.stringify({ tool_calls: [first] }), mark: "text" }, ...rest]
}

function whole({ parts, stop, usage }: Speech, { turn, model }: Exchange): object {
  const joined = (kind: "text" | "reasoning") =>
    parts.flatMap((part) => (part.type === kind ? [part.text] : [])).join("")
  const calls = parts.flatMap((part) =>
    part.type === "call"
      ? [{ id: part.id, type: "function", function: { name: part.name, arguments: part.arguments } }]
      : [],
  )
  const message = {
    role: "assistant",
    content: joined("text") || (calls.length > 0 ? null : ""),
    refusal: null,
    ...(joined("reasoning") && { reasoning_content: joined("reasoning") }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  return {
    id: `chatcmpl-${turn}`,
    object: "chat.completion",
    created,
    model,
    system_fingerprint: null,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reasons[stop] }],
    usage: usageOf(usage),
  }
}

function usageOf({ input, output, cacheRead, cacheWrite, reasoning }: Usage): object {
  const prompt = input + cacheRead + cacheWrite
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

const reasons: Record<Stop, string> = {
  end: "stop",
  calls: "tool_calls",
  length: "length",
  refusal: "content_filter",
  other: "other",
}
