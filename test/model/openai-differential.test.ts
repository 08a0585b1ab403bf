import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import fc from "fast-check"
import OpenAI from "openai"
import type { Part, Stop } from "../../src/core/message.ts"
import type { Usage } from "../../src/core/usage.ts"
import { openaiChat } from "../../src/model/openai-chat.ts"
import { openaiResponses } from "../../src/model/openai-responses.ts"
import { ask, cutAt, named, places, reader, type Server, serve, sse, type Typed } from "./openai-wire.ts"

let server: Server
let vendor: OpenAI
before(async () => {
  server = await serve()
  vendor = new OpenAI({ apiKey: "x", baseURL: server.url, maxRetries: 0 })
})
after(() => server[Symbol.asyncDispose]())

const options = () => ({
  provider: "openai",
  name: "gpt-5",
  baseURL: server.url,
  keyVariable: "OPENAI_API_KEY",
  pool: server.pool,
})

type Read = { parts: Part[]; stop: Stop; usage: Usage }

async function ours(kind: "chat" | "responses"): Promise<Read> {
  const attempt = kind === "chat" ? openaiChat(options()) : openaiResponses(options())
  const { answer } = await ask(attempt, { tools: [reader] })
  assert.ok(answer.ok, JSON.stringify(answer))
  const { ok: _, ...read } = answer
  return read
}

const callPart = (id: string, name: string, raw: string): Part => ({ type: "call", id, name, input: JSON.parse(raw) })

async function theirChat(): Promise<Read> {
  const { choices, usage } = await vendor.chat.completions
    .stream({ model: "gpt-5", messages: [], stream_options: { include_usage: true } })
    .finalChatCompletion()
  const { message, finish_reason } = choices[0]!
  const calls = (message.tool_calls ?? []).map((call) => {
    assert.equal(call.type, "function")
    return callPart(call.id, call.function.name, call.function.arguments)
  })
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
  return {
    parts: [...(message.content ? [{ type: "text" as const, text: message.content }] : []), ...calls],
    stop: finish_reason === "tool_calls" ? "calls" : "end",
    usage: {
      input: (usage?.prompt_tokens ?? 0) - cached,
      output: usage?.completion_tokens ?? 0,
      cacheRead: cached,
      cacheWrite: 0,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

async function theirResponse(): Promise<Read> {
  const { output, usage } = await vendor.responses.stream({ model: "gpt-5", input: "" }).finalResponse()
  const parts = output.flatMap((item): Part[] => {
    if (item.type === "message") {
      return item.content.flatMap((each) => (each.type === "output_text" ? [{ type: "text", text: each.text }] : []))
    }
    if (item.type === "function_call") return [callPart(item.call_id, item.name, item.arguments)]
    assert.equal(item.type, "reasoning")
    if (item.type !== "reasoning") return []
    const { id, summary, encrypted_content } = item
    const text = summary.map((each) => each.text).join("\n\n")
    return [{ type: "reasoning", text, by: "openai", proof: { id, summary, encrypted_content } }]
  })
  const cached = usage?.input_tokens_details.cached_tokens ?? 0
  return {
    parts,
    stop: parts.some(({ type }) => type === "call") ? "calls" : "end",
    usage: {
      input: (usage?.input_tokens ?? 0) - cached,
      output: usage?.output_tokens ?? 0,
      cacheRead: cached,
      cacheWrite: 0,
      reasoning: usage?.output_tokens_details.reasoning_tokens ?? 0,
    },
  }
}

const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 })
const calls = fc.uniqueArray(
  fc.record({ id: fc.stringMatching(/^call_[a-z0-9]{4}$/), input: fc.dictionary(words, words, { maxKeys: 3 }) }),
  { selector: ({ id }) => id, maxLength: 3 },
)
const spent = fc.record({ input: fc.nat(1000), cached: fc.nat(1000), output: fc.nat(1000), reasoning: fc.nat(1000) })
const ends = fc.constantFrom("\n", "\r\n")
const said = {
  text: fc.array(words, { maxLength: 5 }),
  calls,
  spent,
  places,
  cutEvery: fc.integer({ min: 1, max: 9 }),
  ends,
}

/** Cuts a text into pieces of a length. */
const pieces = (text: string, length: number): string[] => text.match(new RegExp(`[^]{1,${length}}`, "g")) ?? []

type Said = { text: string[]; calls: { id: string; input: object }[]; spent: Spent; cutEvery: number }
type Spent = { input: number; cached: number; output: number; reasoning: number }

function chatEvents({ text, calls, spent, cutEvery }: Said): object[] {
  const chunk = (choices: object[], usage: object | null = null) => ({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt-5",
    choices,
    usage,
  })
  const delta = (delta: object, finish_reason: string | null = null) => chunk([{ index: 0, delta, finish_reason }])
  return [
    delta({ role: "assistant", content: "" }),
    ...text.map((content) => delta({ content })),
    ...calls.flatMap(({ id, input }, index) => [
      delta({ tool_calls: [{ index, id, type: "function", function: { name: "read", arguments: "" } }] }),
      ...pieces(JSON.stringify(input), cutEvery).map((raw) =>
        delta({ tool_calls: [{ index, function: { arguments: raw } }] }),
      ),
    ]),
    delta({}, calls.length > 0 ? "tool_calls" : "stop"),
    chunk([], {
      prompt_tokens: spent.input + spent.cached,
      completion_tokens: spent.output,
      total_tokens: spent.input + spent.cached + spent.output,
      prompt_tokens_details: { cached_tokens: spent.cached },
      completion_tokens_details: { reasoning_tokens: spent.reasoning },
    }),
  ]
}

test("ours and the vendor's client read the same message from any chat stream, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.record(said), async ({ places, ends, ...all }) => {
      const stream = `: hello\n\n${sse(...chatEvents(all), "[DONE]")}`.replaceAll("\n", ends)
      server.reply = () => ({ chunks: cutAt(stream, places) })
      assert.deepEqual(await ours("chat"), await theirChat())
    }),
    { numRuns: 40 },
  )
})

function responseEvents({ text, calls, spent, cutEvery, thoughts }: Said & { thoughts: string[] }): Typed[] {
  const base = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "gpt-5",
    error: null,
    incomplete_details: null,
  }
  const events: Typed[] = []
  const add = (type: string, event: object) => events.push({ type, sequence_number: events.length, ...event })
  const output: object[] = []
  const item = (begun: object, whole: object, between: (output_index: number) => void) => {
    const output_index = output.length
    add("response.output_item.added", { output_index, item: begun })
    between(output_index)
    add("response.output_item.done", { output_index, item: whole })
    output.push(whole)
  }
  add("response.created", { response: { ...base, status: "in_progress", output: [] } })
  if (thoughts.length > 0) {
    const summary = thoughts.map((text) => ({ type: "summary_text", text }))
    const begun = { type: "reasoning", id: "rs_1", summary: [] }
    item(begun, { ...begun, summary, encrypted_content: "sealed" }, (output_index) => {
      for (const [summary_index, text] of thoughts.entries()) {
        const at = { item_id: "rs_1", output_index, summary_index }
        add("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } })
        add("response.reasoning_summary_text.delta", { ...at, delta: text })
        add("response.reasoning_summary_text.done", { ...at, text })
        add("response.reasoning_summary_part.done", { ...at, part: { type: "summary_text", text } })
      }
    })
  }
  if (text.length > 0) {
    const begun = { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] }
    const part = { type: "output_text", text: text.join(""), annotations: [] }
    item(begun, { ...begun, status: "completed", content: [part] }, (output_index) => {
      const at = { item_id: "msg_1", output_index, content_index: 0 }
      add("response.content_part.added", { ...at, part: { ...part, text: "" } })
      for (const delta of text) add("response.output_text.delta", { ...at, delta, logprobs: [] })
      add("response.output_text.done", { ...at, text: part.text, logprobs: [] })
      add("response.content_part.done", { ...at, part })
    })
  }
  for (const { id, input } of calls) {
    const raw = JSON.stringify(input)
    const begun = {
      type: "function_call",
      id: `fc_${id}`,
      call_id: id,
      name: "read",
      arguments: "",
      status: "in_progress",
    }
    item(begun, { ...begun, arguments: raw, status: "completed" }, (output_index) => {
      const at = { item_id: begun.id, output_index }
      for (const delta of pieces(raw, cutEvery)) add("response.function_call_arguments.delta", { ...at, delta })
      add("response.function_call_arguments.done", { ...at, name: "read", arguments: raw })
    })
  }
  const usage = {
    input_tokens: spent.input + spent.cached,
    input_tokens_details: { cached_tokens: spent.cached, cache_write_tokens: 0 },
    output_tokens: spent.output,
    output_tokens_details: { reasoning_tokens: spent.reasoning },
    total_tokens: spent.input + spent.cached + spent.output,
  }
  add("response.completed", { response: { ...base, status: "completed", output, usage } })
  return events
}

test("ours and the vendor's client read the same message from any responses stream, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ ...said, thoughts: fc.array(words, { maxLength: 2 }) }),
      async ({ places, ends, ...all }) => {
        const stream = named(...responseEvents(all)).replaceAll("\n", ends)
        server.reply = () => ({ chunks: cutAt(stream, places) })
        assert.deepEqual(await ours("responses"), await theirResponse())
      },
    ),
    { numRuns: 40 },
  )
})

test("neither takes a chat stream for whole that ends before its last piece", async () => {
  const stream = sse(
    ...chatEvents({
      text: ["one", "two"],
      calls: [],
      spent: { input: 1, cached: 0, output: 1, reasoning: 0 },
      cutEvery: 1,
    }).slice(0, -2),
  )
  server.reply = () => ({ chunks: [stream] })
  await assert.rejects(theirChat())
  const { answer } = await ask(openaiChat(options()))
  assert.equal(!answer.ok && answer.error.kind, "truncated")
})
