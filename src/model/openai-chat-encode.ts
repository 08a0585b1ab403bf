import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionContentPart,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from "openai/resources/chat/completions"
import { callsOf, type Image, type Part, textOf } from "../core/message.ts"
import { asText, type Body } from "./body.ts"
import { argumentsOf, wireName } from "./input.ts"
import type { Request, ToolSpec } from "./model.ts"
import type { OpenaiOptions } from "./openai-attempt.ts"
import { type Block, createTranscript, listed, once, wordsOf } from "./transcript.ts"

/** Where servers put a model's thoughts. The API's own vendor has no field for them. */
export type ThoughtField = "reasoning_content" | "reasoning"

export const chatEncoder = (options: Asked) => asText(chatBody(options))

/** Messages come last, so that each request begins with the one before; only what may change at any time follows. */
export function chatBody(options: Asked): (request: Request) => Body {
  const transcript = createTranscript((block) => encode(block, options.provider))
  const tool = once((spec: ToolSpec) => JSON.stringify(toolOf(spec)))
  return (request) => {
    const head = JSON.stringify(settings(options, request)).slice(0, -1)
    const tools = request.tools.length > 0 ? `,"tools":[${request.tools.map(tool).join(",")}]` : ""
    const system = request.system && `,${JSON.stringify({ role: "system", content: request.system })}`
    const choice = tools && request.toolChoice === "none" ? ',"tool_choice":"none"' : ""
    return listed(`${head}${tools},"messages":[`, [system, ...transcript(request)], `]${choice}}`)
  }
}

type Asked = Pick<OpenaiOptions, "provider" | "name" | "maxTokens">

function settings(
  { provider, name, maxTokens }: Asked,
  { temperature, topP, effort }: Request,
): Omit<ChatCompletionCreateParamsStreaming, "messages" | "tools"> {
  return {
    model: name,
    stream: true,
    stream_options: { include_usage: true },
    // The vendor's newer models refuse the old name, most others know no other.
    ...(maxTokens && { [/^openai\b/.test(provider) ? "max_completion_tokens" : "max_tokens"]: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(effort && { reasoning_effort: effort }),
  }
}

const toolOf = ({ name, description, schema }: ToolSpec): ChatCompletionTool => ({
  type: "function",
  function: { name, description, parameters: schema },
})

function encode(block: Block, provider: string): ChatCompletionMessageParam[] {
  if (block.role === "user") return [said(block.user.text.toWellFormed(), block.user.images)]
  const answer = answerOf(block.parts, provider)
  const results = block.results.map((result) => ({
    role: "tool" as const,
    tool_call_id: result.call,
    content: wordsOf(result),
  }))
  const shown = block.results.filter(({ images }) => images?.length)
  const images = shown.flatMap(({ images }) => images ?? [])
  const names = shown.map(({ name, call }) => `${name} (${call})`).join(", ")
  // A tool message holds text alone, so what a call shows comes after the last of them.
  const seen = images.length > 0 ? [said(`The images of ${names}:`, images)] : []
  return [...answer, ...results, ...seen]
}

function said(text: string, images: Image[] = []): ChatCompletionMessageParam {
  if (images.length === 0) return { role: "user", content: text }
  const parts: ChatCompletionContentPart[] = text ? [{ type: "text", text }] : []
  for (const { mediaType, data } of images) {
    parts.push({ type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } })
  }
  return { role: "user", content: parts }
}

function answerOf(parts: Part[], provider: string): ChatCompletionMessageParam[] {
  const text = textOf(parts).toWellFormed()
  const calls = callsOf(parts).map(
    (call): ChatCompletionMessageFunctionToolCall => ({
      id: call.id,
      type: "function",
      function: { name: wireName(call.name), arguments: argumentsOf(call) },
    }),
  )
  if (calls.length === 0) return text ? [{ role: "assistant", content: text }] : []
  const answer: ChatCompletionAssistantMessageParam = {
    role: "assistant",
    content: text || null,
    ...thoughtsOf(parts, provider),
    tool_calls: calls,
  }
  return [answer]
}

/** Thoughts go back only along with the calls that they led to, and only to where they came from. */
function thoughtsOf(parts: Part[], provider: string): { [field in ThoughtField]?: string } {
  const thoughts: { [field in ThoughtField]?: string } = {}
  for (const part of parts) {
    if (part.type !== "reasoning" || part.by !== provider) continue
    const field = (part.proof as { field?: unknown } | undefined)?.field
    if (field !== "reasoning_content" && field !== "reasoning") continue
    thoughts[field] = (thoughts[field] ?? "") + part.text
  }
  return thoughts
}
