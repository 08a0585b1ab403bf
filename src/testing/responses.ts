import type { Usage } from "../core/usage.ts"
import { type Json, objects, parse, string, textIn } from "./json.ts"
import { openaiError } from "./openai.ts"
import { responsesRules } from "./responses-rules.ts"
import type { Heard } from "./script.ts"
import { argumentPieces, pieces, type Shape } from "./shape.ts"
import type { Speech, SpokenPart } from "./speech.ts"
import { created, type Exchange, type Frame, joinTurns, proofOf, type Wire } from "./wire.ts"

export const responses: Wire = {
  rules: responsesRules,
  read,
  frames,
  whole,
  error: openaiError,
  errorFrame(trouble, sequence) {
    const { code, type, message, param } = openaiError(trouble).error
    const data = { type: "error", code: code ?? type, message, param, sequence_number: sequence }
    return { name: "error", data: JSON.stringify(data) }
  },
  ping: ": ping\n\n",
  overloaded: 503,
}

function read(body: Json): ReturnType<Wire["read"]> {
  const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : objects(body.input)
  const isSystem = ({ role }: Json) => role === "system" || role === "developer"
  const system = [string(body.instructions), ...items.filter(isSystem).map(({ content }) => textIn(content, "\n"))]
  return {
    system: system.filter((text) => text !== "").join("\n"),
    messages: joinTurns(items.filter((item) => !isSystem(item)).flatMap(heard)),
    tools: objects(body.tools).map(({ name, type }) => string(name) || string(type)),
  }
}

function heard(item: Json): Heard[] {
  switch (item.type ?? "message") {
    case "message":
      return item.role === "assistant"
        ? [{ role: "assistant", text: textIn(item.content, "") }]
        : [{ role: "user", text: textIn(item.content, "\n") }]
    case "function_call": {
      const input = parse(string(item.arguments)) ?? item.arguments
      return [{ role: "assistant", text: "", calls: [{ id: string(item.call_id), name: string(item.name), input }] }]
    }
    case "function_call_output":
      return [{ role: "result", text: textIn(item.output, "\n"), call: string(item.call_id) }]
    case "reasoning":
      return [{ role: "assistant", text: "" }]
    default:
      return []
  }
}

type Write = (name: string, body: object, mark?: Frame["mark"]) => void

function frames(speech: Speech, exchange: Exchange): Frame[] {
  const list: Frame[] = []
  const write: Write = (name, body, mark) => {
    const data = JSON.stringify({ type: name, sequence_number: list.length, ...body })
    list.push({ name, data, ...(mark && { mark }) })
  }
  const response = whole(speech, exchange)
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null }
  write("response.created", { response: begun })
  write("response.in_progress", { response: begun })
  for (const [output_index, part] of speech.parts.entries()) {
    const item = itemOf(part, output_index, exchange)
    write("response.output_item.added", { output_index, item: { ...item, ...hollow[part.type] } })
    writePart(part, { output_index, item_id: item.id }, exchange.shape, write)
    write("response.output_item.done", { output_index, item })
  }
  write(`response.${response.status}`, { response }, "stop")
  return list
}

/** What of an item is not there yet when it is announced. */
const hollow: Record<SpokenPart["type"], object> = {
  text: { status: "in_progress", content: [] },
  reasoning: { summary: [] },
  redacted: {},
  call: { status: "in_progress", arguments: "" },
}

function writePart(
  part: SpokenPart,
  at: { output_index: number; item_id: string },
  { piece }: Shape,
  write: Write,
): void {
  switch (part.type) {
    case "text": {
      const where = { ...at, content_index: 0 }
      write("response.content_part.added", { ...where, part: outputText("") })
      for (const delta of pieces(part.text, piece))
        write("response.output_text.delta", { ...where, delta, logprobs: [] }, "text")
      write("response.output_text.done", { ...where, text: part.text, logprobs: [] })
      write("response.content_part.done", { ...where, part: outputText(part.text) })
      return
    }
    case "reasoning": {
      const where = { ...at, summary_index: 0 }
      write("response.reasoning_summary_part.added", { ...where, part: summaryText("") })
      for (const delta of pieces(part.text, piece))
        write("response.reasoning_summary_text.delta", { ...where, delta }, "text")
      write("response.reasoning_summary_text.done", { ...where, text: part.text })
      write("response.reasoning_summary_part.done", { ...where, part: summaryText(part.text) })
      return
    }
    case "redacted":
      return
    case "call":
      for (const delta of argumentPieces(part.arguments, piece))
        write("response.function_call_arguments.delta", { ...at, delta }, "call")
      write("response.function_call_arguments.done", { ...at, name: part.name, arguments: part.arguments })
      return
    default:
      part satisfies never
  }
}

const outputText = (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] })
const summaryText = (text: string) => ({ type: "summary_text", text })

function itemOf(part: SpokenPart, index: number, { turn, body }: Exchange): Json & { id: string } {
  const encrypted = (proof: string) =>
    Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content")
      ? { encrypted_content: proof }
      : {}
  const done = { status: "completed" }
  switch (part.type) {
    case "text":
      return {
        id: `msg_${turn}_${index}`,
        type: "message",
        ...done,
        role: "assistant",
        content: [outputText(part.text)],
      }
    case "reasoning":
      return {
        id: `rs_${turn}_${index}`,
        type: "reasoning",
        summary: [summaryText(part.text)],
        ...encrypted(proofOf(part)),
      }
    case "redacted":
      return { id: `rs_${turn}_${index}`, type: "reasoning", summary: [], ...encrypted(part.data) }
    case "call": {
      const { id: call_id, name, arguments: text } = part
      return { id: `fc_${turn}_${index}`, type: "function_call", ...done, call_id, name, arguments: text }
    }
    default:
      return part satisfies never
  }
}

function whole({ parts, stop, usage }: Speech, exchange: Exchange): Json {
  const { turn, model, body } = exchange
  const reason = { end: null, calls: null, length: "max_output_tokens", refusal: "content_filter", other: "other" }[
    stop
  ]
  return {
    id: `resp_${turn}`,
    object: "response",
    created_at: created,
    status: reason === null ? "completed" : "incomplete",
    error: null,
    incomplete_details: reason === null ? null : { reason },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    model,
    output: parts.map((part, index) => itemOf(part, index, exchange)),
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: "disabled",
    usage: usageOf(usage),
    metadata: {},
  }
}

function usageOf({ input, output, cacheRead, cacheWrite, reasoning }: Usage): object {
  const all = input + cacheRead + cacheWrite
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: all + output,
  }
}
