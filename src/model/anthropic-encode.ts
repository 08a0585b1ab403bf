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
import { asText, type Body } from "./body.ts"
import { wireName } from "./input.ts"
import type { Request, ToolSpec } from "./model.ts"
import { once } from "./transcript.ts"

/** The name that reasoning parts of this wire format carry. */
export const by = "anthropic"

/** What has to come back with a thought, unread. */
export type Proof = { signature: string } | { redacted: string }

/** Says that the cache may end here. */
export const mark = ',"cache_control":{"type":"ephemeral"}'
const filler = json({ type: "text", text: "(no message)" })
const budgets = { low: 4_096, medium: 12_288, high: 24_576 }
const smallestBudget = 1_024
const imageTypes: readonly string[] = ["image/jpeg", "image/png", "image/gif", "image/webp"]

export const createEncoder = (options: { name: string; maxTokens: number }) => asText(createBody(options))

/** Builds request bodies, each of them the one before and what is new: for the provider's cache, and for our own speed. */
export function createBody(options: { name: string; maxTokens: number }): (request: Request) => Body {
  const kept = new WeakMap<object, History>()
  const head = heads()
  return (request) => {
    const { memo, from } = request
    const history = kept.get(memo) ?? (from && kept.get(from)?.copy()) ?? new History()
    kept.set(memo, history)
    const choice = request.toolChoice === "none" && request.tools.length > 0 ? ',"tool_choice":{"type":"none"}' : ""
    const settings = json(settingsOf(options, request)).slice(0, -1)
    const { kept: turns, rest } = history.body(request)
    return { kept: [`${settings}${head(request)},"messages":[`, ...turns], rest: `${rest}]${choice}}` }
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

/** Written once for all runs that have the same system prompt and the same list of tools. */
function heads(): (request: Request) => string {
  const tool = once(toolOf)
  const kept = new WeakMap<readonly ToolSpec[], { system: string; text: string }>()
  return (request) => {
    const known = kept.get(request.tools)
    if (known?.system === request.system) return known.text
    const text = headOf(request, tool)
    kept.set(request.tools, { system: request.system, text })
    return text
  }
}

/** System prompt and tools. The cache mark covers both, as tools count as before it. */
function headOf({ system, tools }: Request, tool: (spec: ToolSpec) => string): string {
  const blank = isBlank(system)
  const specs = tools.map((spec, i) => (blank && i === tools.length - 1 ? marked(tool(spec)) : tool(spec)))
  const words = blank ? "" : `,"system":[${marked(textBlock(system))}]`
  return words + (specs.length > 0 ? `,"tools":[${specs.join(",")}]` : "")
}

const toolOf = ({ name, description, schema }: ToolSpec): string =>
  json({ name, description, input_schema: schema as Tool.InputSchema } satisfies Tool)

/** What the user's side says between two answers: the results of the calls before it, then everything else. */
class Side {
  readonly calls: readonly string[]
  readonly results: Map<string, string>
  readonly rest: string[]

  constructor(calls: readonly string[], results = new Map<string, string>(), rest: string[] = []) {
    this.calls = calls
    this.results = results
    this.rest = rest
  }

  copy(): Side {
    return new Side(this.calls, new Map(this.results), [...this.rest])
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

/** What the user's side said and what was answered. It never changes, so the runs that have it in common share it. */
type Turn = {
  before: Turn | undefined
  /** Without the end of its last block. */
  user: string
  assistant: string
  /** All of it, without a cache mark. */
  plain: string
  calls: readonly string[]
  /** Where the answer stands among the messages. */
  at: number
}

/** Everything up to the end of a turn, with a cache mark on as many of the last sides as `marks` says. */
function upTo(turn: Turn | undefined, marks: number): Body {
  if (!turn) return { kept: [], rest: "" }
  if (marks > 0) {
    const { kept, rest } = upTo(turn.before, marks - 1)
    return { kept, rest: `${rest}${turn.user}${mark}${ended},${turn.assistant},` }
  }
  const kept: string[] = []
  for (let each: Turn | undefined = turn; each; each = each.before) kept.push(each.plain)
  return { kept: kept.reverse(), rest: "" }
}

/**
 * The messages of one run as the provider accepts them: the user's side first and last, sides taking turns, each call
 * followed by its one result. Every message is written as JSON once, whatever the number of requests.
 */
class History {
  #kept: Message[] = []
  #calls = new Set<string>()
  #last: Turn | undefined
  #open = new Side([])

  /** For a run that goes on from here by itself. */
  copy(): History {
    const copy = new History()
    copy.#kept = [...this.#kept]
    copy.#calls = new Set(this.#calls)
    copy.#last = this.#last
    copy.#open = this.#open.copy()
    return copy
  }

  body({ messages, inherited }: Request): Body {
    this.#rewind(messages)
    for (const message of messages.slice(this.#kept.length)) this.#add(message)
    // A fork's first request keeps the marks of the one that it goes on from: so it finds all of that in the cache.
    const forked = this.#last !== undefined && this.#last.at + 1 === inherited
    const { kept, rest } = upTo(this.#last, forked ? 2 : 1)
    return { kept, rest: rest + this.#open.text() + mark + ended }
  }

  /** Goes back to the last answer before the first message that is another now. */
  #rewind(messages: readonly Message[]): void {
    const other = this.#kept.findIndex((message, i) => message !== messages[i])
    if (other === -1) return
    for (; this.#last && this.#last.at >= other; this.#last = this.#last.before) {
      for (const call of this.#last.calls) this.#calls.delete(call)
    }
    this.#kept.length = this.#last ? this.#last.at + 1 : 0
    this.#open = new Side(this.#last?.calls ?? [])
  }

  #add(message: Message): void {
    const at = this.#kept.push(message) - 1
    switch (message.role) {
      case "user":
        this.#open.rest.push(...contentOf(message.text, message.images).map(json))
        return
      case "result":
        this.#answer(message)
        return
      case "assistant":
        this.#say(message, at)
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
  #say({ parts }: Assistant, at: number): void {
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
    // A thought that led to nothing is refused.
    while (/^\{"type":"(redacted_)?thinking"/.test(blocks.at(-1) ?? "")) blocks.pop()
    const before = this.#last
    const user = this.#open.text()
    const assistant = `{"role":"assistant","content":[${blocks.join(",")}]}`
    const plain = `${user}${ended},${assistant},`
    this.#last = { before, user, assistant, plain, calls, at }
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
