import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider"
import type { Image, Part, Result, User } from "../core/message.ts"
import type { Request } from "./model.ts"
import { type Block, blocksOf, wordsOf } from "./transcript.ts"

type Version = "v2" | "v3" | "v4"

/**
 * Metadata that the provider wants to see again. What belongs to a text or a call is kept in a thought without words
 * before it, since only thoughts have room for it.
 */
export type Proof =
  | { of: "thought" | "text"; metadata: SharedV4ProviderOptions }
  | { of: "call"; id: string; metadata: SharedV4ProviderOptions }

type Call = { version: Version; provider: string; maxTokens: number | undefined }

export function callOptions(request: Request, call: Call): LanguageModelV4CallOptions {
  const { tools, temperature, topP, effort, toolChoice } = request
  return {
    prompt: promptOf(request, call),
    ...(call.maxTokens && { maxOutputTokens: call.maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(effort && call.version === "v4" && { reasoning: effort }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, schema }) => ({
        type: "function",
        name,
        description,
        inputSchema: schema,
      })),
      toolChoice: { type: toolChoice },
    }),
  }
}

function promptOf({ system, messages }: Request, call: Call): LanguageModelV4Prompt {
  const said = blocksOf(messages).flatMap((block) => encode(block, call))
  return system ? [{ role: "system", content: system }, ...said] : said
}

function encode(block: Block, { version, provider }: Call): LanguageModelV4Message[] {
  if (block.role === "user") return [userOf(block.user, version)]
  const content = answerOf(block.parts, provider)
  if (!content.some(({ type }) => type === "text" || type === "tool-call")) return []
  const answer: LanguageModelV4Message = { role: "assistant", content }
  if (block.results.length === 0) return [answer]
  const results = block.results.map((result) => ({
    type: "tool-result" as const,
    toolCallId: result.call,
    toolName: result.name,
    output: outputOf(result, version),
  }))
  return [answer, { role: "tool", content: results }]
}

function userOf({ text, images = [] }: User, version: Version): LanguageModelV4Message {
  const words = text || images.length === 0 ? [{ type: "text" as const, text: text.toWellFormed() }] : []
  return { role: "user", content: [...words, ...images.map((image) => fileOf(image, version))] }
}

type Answered = Extract<LanguageModelV4Message, { role: "assistant" }>["content"]

function answerOf(parts: Part[], provider: string): Answered {
  const content: Answered = []
  const proofs = new Map<string, SharedV4ProviderOptions>()
  let ofText: SharedV4ProviderOptions | undefined
  for (const part of parts) {
    if (ofText && part.type !== "text") {
      content.push({ type: "text", text: "", providerOptions: ofText })
      ofText = undefined
    }
    switch (part.type) {
      case "text":
        content.push({ type: "text", text: part.text.toWellFormed(), ...optionsOf(ofText) })
        ofText = undefined
        break
      case "reasoning": {
        if (part.by !== provider) break
        const proof = part.proof as Proof | undefined
        if (proof?.of === "call") proofs.set(proof.id, proof.metadata)
        else if (proof?.of === "text") ofText = proof.metadata
        else content.push({ type: "reasoning", text: part.text, ...optionsOf(proof?.metadata) })
        break
      }
      case "call":
        content.push({
          type: "tool-call",
          toolCallId: part.id,
          toolName: part.name,
          input: part.input,
          ...optionsOf(proofs.get(part.id)),
        })
        break
      default:
        part satisfies never
    }
  }
  if (ofText) content.push({ type: "text", text: "", providerOptions: ofText })
  return content
}

const optionsOf = (metadata: SharedV4ProviderOptions | undefined) => metadata && { providerOptions: metadata }

function outputOf(result: Result, version: Version): LanguageModelV4ToolResultOutput {
  if (!result.images?.length) return { type: result.ok ? "text" : "error-text", value: result.text.toWellFormed() }
  const images = result.images.map((image) => shownOf(image, version))
  return { type: "content", value: [{ type: "text", text: wordsOf(result) }, ...images] }
}

/** Older versions take the bytes bare, and have other names for an image in a result. */
function fileOf({ mediaType, data }: Image, version: Version): LanguageModelV4FilePart {
  if (version === "v4") return { type: "file", mediaType, data: { type: "data", data } }
  return { type: "file", mediaType, data } as unknown as LanguageModelV4FilePart
}

type Shown = Extract<LanguageModelV4ToolResultOutput, { type: "content" }>["value"][number]

function shownOf({ mediaType, data }: Image, version: Version): Shown {
  if (version === "v4") return { type: "file", mediaType, data: { type: "data", data } }
  return { type: version === "v3" ? "image-data" : "media", mediaType, data } as unknown as Shown
}
