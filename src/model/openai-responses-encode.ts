import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseFunctionCallOutputItemList,
  ResponseInputContent,
  ResponseInputItem,
  ResponseReasoningItem,
} from "openai/resources/responses/responses"
import type { Image, Part, Result } from "../core/message.ts"
import { asText, type Body } from "./body.ts"
import { argumentsOf, wireName } from "./input.ts"
import type { Request, ToolSpec } from "./model.ts"
import type { OpenaiOptions } from "./openai-attempt.ts"
import { type Block, createTranscript, listed, once, wordsOf } from "./transcript.ts"

/** A thought as it must be seen again: sealed, so that nothing has to be stored at the provider. */
export type Sealed = Pick<ResponseReasoningItem, "id" | "summary"> & { encrypted_content: string }

export const responsesEncoder = (options: Asked) => asText(responsesBody(options))

/** The input comes last, so that each request begins with the one before; only what may change at any time follows. */
export function responsesBody(options: Asked): (request: Request) => Body {
  const transcript = createTranscript((block) => encode(block, options.provider))
  const tool = once((spec: ToolSpec) => JSON.stringify(toolOf(spec)))
  return (request) => {
    const head = JSON.stringify(settings(options, request)).slice(0, -1)
    const tools = request.tools.length > 0 ? `,"tools":[${request.tools.map(tool).join(",")}]` : ""
    const choice = tools && request.toolChoice === "none" ? ',"tool_choice":"none"' : ""
    return listed(`${head}${tools},"input":[`, transcript(request), `]${choice}}`)
  }
}

type Asked = Pick<OpenaiOptions, "provider" | "name" | "maxTokens">

function settings(
  { name, maxTokens }: Asked,
  { system, temperature, topP, effort }: Request,
): Omit<ResponseCreateParamsStreaming, "input" | "tools"> {
  return {
    model: name,
    stream: true,
    store: false,
    ...(thinks(name) && { include: ["reasoning.encrypted_content"] }),
    ...(maxTokens && { max_output_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(effort && { reasoning: { effort, summary: "auto" } }),
    ...(system && { instructions: system }),
  }
}

/** Models without thoughts refuse to be asked for sealed ones. */
const thinks = (name: string): boolean => !/^(gpt-3|gpt-4|chatgpt-)|^gpt-5.*-chat/.test(name)

const toolOf = ({ name, description, schema }: ToolSpec): FunctionTool => ({
  type: "function",
  name,
  description,
  parameters: schema,
  strict: false,
})

function encode(block: Block, provider: string): ResponseInputItem[] {
  if (block.role === "user") {
    const { text, images } = block.user
    return [{ type: "message", role: "user", content: shown(text.toWellFormed(), images) }]
  }
  return [...answerOf(block.parts, provider), ...block.results.map(resultOf)]
}

function answerOf(parts: Part[], provider: string): ResponseInputItem[] {
  const items: ResponseInputItem[] = []
  // A thought with nothing after it is refused, so it waits for what it led to.
  let thoughts: ResponseReasoningItem[] = []
  for (const part of parts) {
    if (part.type === "reasoning") {
      const sealed = part.by === provider ? sealedOf(part.proof) : undefined
      if (sealed) thoughts.push(sealed)
      continue
    }
    if (part.type === "text" && part.text === "") continue
    items.push(...thoughts, partOf(part))
    thoughts = []
  }
  return items
}

function sealedOf(proof: unknown): ResponseReasoningItem | undefined {
  const { id, summary, encrypted_content } = (proof ?? {}) as Partial<Sealed>
  if (!id || !summary || !encrypted_content) return undefined
  return { type: "reasoning", id, summary, encrypted_content }
}

function partOf(part: Exclude<Part, { type: "reasoning" }>): ResponseInputItem {
  if (part.type === "text") return { type: "message", role: "assistant", content: part.text.toWellFormed() }
  return { type: "function_call", call_id: part.id, name: wireName(part.name), arguments: argumentsOf(part) }
}

const resultOf = (result: Result): ResponseInputItem => ({
  type: "function_call_output",
  call_id: result.call,
  output: shown(wordsOf(result), result.images) satisfies string | ResponseFunctionCallOutputItemList,
})

function shown(
  text: string,
  images: Image[] = [],
): string | (ResponseInputContent & { type: "input_text" | "input_image" })[] {
  if (images.length === 0) return text
  return [
    ...(text ? [{ type: "input_text" as const, text }] : []),
    ...images.map(({ mediaType, data }) => ({
      type: "input_image" as const,
      detail: "auto" as const,
      image_url: `data:${mediaType};base64,${data}`,
    })),
  ]
}
