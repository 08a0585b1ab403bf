import type {
  ContentBlockParam,
  ImageBlockParam,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
  ToolResultBlockParam,
} from "@anthropic-ai/sdk/resources/messages"
import type { Assistant, Call, Image, Message, Part, Result } from "../core/message.ts"
import { wireName } from "./input.ts"
import type { Request } from "./model.ts"

/** The name that reasoning parts of this wire format carry. */
export const by = "anthropic"

/** What has to come back with a thought, unread. */
export type Proof = { signature: string } | { redacted: string }

const mark = ',"cache_control":{"type":"ephemeral"}'
const filler = json({ type: "text", text: "(no message)" })
const budgets = { low: 4_096, medium: 12_288, high: 24_576 }
const smallestBudget = 1_024
const imageTypes: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"]

/** Builds request bodies, each of them the one before and what is new: for the provider's cache, and for our own speed. */
export function createEncoder(options: { name: string; maxTokens: number }): (request: Request) => string {
  const kept = new WeakMap<object, { history: History; head: Head }>()
  return (request) => {
    const memo = kept.get(request.memo) ?? { history: new History(), head: new Head() }
    kept.set(request.memo, memo)
    const choice = request.toolChoice === "none" && request.tools.length > 0 ? ',"tool_choice":{"type":"none"}' : ""
    const settings = json(settingsOf(options, request)).slice(0, -1)
    return `${settings}${memo.head.text(request)},"messages":[${memo.history.text(request.messages)}]${choice}}`
  }
}

/** These are told how many tokens they may think for, and so are models that only speak Claude's format. */
const budgeted = /^(?!claude-)|^claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?$)/

function settingsOf({ name, maxTokens }: { name: string; maxTokens: number }, request: Request): object {
  const { effort, temperature, topP } = request
  const base = { model: name, max_tokens: maxTokens, stream: true }
  // One who thinks takes no temperature.
  if (effort && !budgeted.test(name)) {
    const thinking = { type: "adaptive" } satisfies ThinkingConfigParam
    return { ...base, thinking, output_config: { effort } satisfies OutputConfig }
  }
  const budget = effort ? Math.min(budgets[effort], Math.floor(maxTokens * 0.75)) : 0
  if (budget >= smallestBudget) {
    return { ...base, thinking: { type: "enabled", budget_tokens: budget } satisfies ThinkingConfigParam }
  }
  return { ...base, ...(temperature !== undefined && { temperature }), ...(topP !== undefined && { top_p: topP }) }
}

/** System prompt and tools, written again only when they change. The cache mark covers both, as tools count as before it. */
class Head {
  #system: string | undefined
  #tools: Request["tools"] = []
  #text = ""

  text({ system, tools }: Request): string {
    const same = tools.length === this.#tools.length && tools.every((tool, i) => tool === this.#tools[i])
    if (same && system === this.#system) return this.#text
    const blank = isBlank(system)
    const specs = tools.map(({ name, description, schema }) =>
      json({ name, description, input_schema: schema as Tool.InputSchema } satisfies Tool),
    )
    const last = specs.length - 1
    if (blank && last >= 0) specs[last] = marked(specs[last] ?? "")
    this.#system = system
    this.#tools = [...tools]
    this.#text =
      (blank ? "" : `,"system":[${marked(textBlock(system))}]`) + (last < 0 ? "" : `,"tools":[${specs.join(",")}]`)
    return this.#text
  }
}

/** What the user's side says between two answers: the results of the calls before it, then everything else. */
class Side {
  readonly calls: readonly string[]
  readonly results = new Map<string, string>()
  readonly rest: string[] = []

  constructor(calls: readonly string[]) {
    this.calls = calls
  }

  /** One wire message without the end of its last block, where a cache mark may go. */
  text(): string {
    const results = this.calls.map((call) => this.results.get(call) ?? cutOff(call))
    const blocks = [...results, ...this.rest]
    if (blocks.length === 0) blocks.push(filler)
    return `{"role":"user","content":[${blocks.join(",").slice(0, -1)}`
  }
}

const ended = "}]}"

/**
 * The messages of one run as the provider accepts them: the user's side first and last, sides taking turns, each call
 * followed by its one result. Every message is written as JSON once, whatever the number of requests.
 */
class History {
  #kept: Message[] = []
  #calls = new Set<string>()
  #settled = ""
  #last: { user: string; assistant: string } | undefined
  #open = new Side([])

  text(messages: readonly Message[]): string {
    if (!this.#kept.every((message, i) => message === messages[i])) this.#forget()
    for (const message of messages.slice(this.#kept.length)) this.#add(message)
    const before = this.#last ? `${this.#last.user + mark + ended},${this.#last.assistant},` : ""
    return this.#settled + before + this.#open.text() + mark + ended
  }

  #forget(): void {
    this.#kept = []
    this.#calls.clear()
    this.#settled = ""
    this.#last = undefined
    this.#open = new Side([])
  }

  #add(message: Message): void {
    this.#kept.push(message)
    switch (message.role) {
      case "user":
        this.#open.rest.push(...contentOf(message.text, message.images).map(json))
        return
      case "result":
        this.#answer(message)
        return
      case "assistant":
        this.#say(message)
        return
      default:
        message satisfies never
    }
  }

  #answer(result: Result): void {
    const call = wireId(result.call)
    if (!this.#open.calls.includes(call)) {
      const text = `[The result of ${result.name}, whose call is not shown]\n${result.text}`
      this.#open.rest.push(...contentOf(text, result.images).map(json))
    } else if (!this.#open.results.has(call)) this.#open.results.set(call, resultBlock(call, result))
  }

  /** An answer without anything that can be sent back is left out, and what was said around it is one side. */
  #say({ parts }: Assistant): void {
    const calls: string[] = []
    const blocks = parts.flatMap((part) => {
      if (part.type !== "call") return said(part)
      const id = wireId(part.id)
      if (this.#calls.has(id)) return []
      this.#calls.add(id)
      calls.push(id)
      return `{"type":"tool_use","id":${json(id)},"name":${json(wireName(part.name))},"input":${inputOf(part)}}`
    })
    if (calls.length === 0 && !parts.some((part) => part.type === "text" && !isBlank(part.text))) return
    if (this.#last) this.#settled += `${this.#last.user + ended},${this.#last.assistant},`
    this.#last = { user: this.#open.text(), assistant: `{"role":"assistant","content":[${blocks.join(",")}]}` }
    this.#open = new Side(calls)
  }
}

function said(part: Exclude<Part, { type: "call" }>): string[] {
  if (part.type === "text") return isBlank(part.text) ? [] : [textBlock(part.text)]
  const proof =
    part.by === by ? (part.proof as Partial<{ signature: unknown; redacted: unknown }> | undefined) : undefined
  if (typeof proof?.redacted === "string") return [block({ type: "redacted_thinking", data: proof.redacted })]
  if (typeof proof?.signature !== "string" || proof.signature === "") return []
  return [block({ type: "thinking", thinking: part.text, signature: proof.signature })]
}

function resultBlock(call: string, { ok, text, images }: Result): string {
  const content = contentOf(text, images)
  if (content.length === 0) content.push({ type: "text", text: "(no output)" })
  const result: ToolResultBlockParam = { type: "tool_result", tool_use_id: call, content }
  return json(ok ? result : { ...result, is_error: true })
}

const cutOff = (call: string): string =>
  resultBlock(call, { role: "result", call, name: "", ok: false, text: "no result: the call was cut off" })

/** The provider refuses blocks of text with nothing in them. */
function contentOf(text: string, images: Image[] = []): (TextBlockParam | ImageBlockParam)[] {
  const words: TextBlockParam[] = isBlank(text) ? [] : [{ type: "text", text }]
  return [...words, ...images.map(shown)]
}

function shown({ mediaType, data }: Image): TextBlockParam | ImageBlockParam {
  if (!imageTypes.includes(mediaType)) return { type: "text", text: `[An image of type ${mediaType}, not shown]` }
  const media_type = mediaType as "image/png"
  return { type: "image", source: { type: "base64", media_type, data } }
}

/** Calls with arguments that were not JSON, or no object, go back without any. */
function inputOf({ input, broken }: Call): string {
  const whole = typeof input === "object" && input !== null && !Array.isArray(input) && broken === undefined
  return whole ? json(input) : "{}"
}

/** Calls of a conversation that began with another provider may have ids that this one refuses. */
const wireId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_") || "_"
const isBlank = (text: string): boolean => !/\S/.test(text)
const block = (content: ContentBlockParam): string => json(content)
const textBlock = (text: string): string => block({ type: "text", text })
const marked = (object: string): string => `${object.slice(0, -1)}${mark}}`

/** Half a surrogate pair, left over where a text was cut, makes the whole request unreadable to the provider. */
function json(value: unknown): string {
  const text = JSON.stringify(value)
  if (!text.includes("\\ud")) return text
  return text.replace(/\\(?:ud[89a-f][0-9a-f]{2}|.)/g, (each) => (each.startsWith("\\ud") ? "\\ufffd" : each))
}
