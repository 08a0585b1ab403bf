import assert from "node:assert/strict"
import test from "node:test"
import Anthropic, { APIError as AnthropicAPIError } from "@anthropic-ai/sdk"
import fc from "fast-check"
import OpenAI, { APIError as OpenaiAPIError } from "openai"
import {
  call,
  errorEvent,
  type Fault,
  type Reply,
  rawCall,
  type Script,
  serve,
  shaped,
  status,
} from "../../src/testing.ts"

/** What any of the vendors' clients made of an answer. */
type Understood = {
  text: string
  reasoning: string
  calls: { id: string; name: string; arguments: unknown }[]
  stop: string | null | undefined
  usage: { input: number; output: number; read: number; wrote: number; reasoning: number }
}

const user = { role: "user" as const, content: "hello" }

async function anthropic(url: string, streaming: boolean): Promise<Understood> {
  const client = new Anthropic({ apiKey: "test", baseURL: url, maxRetries: 0 })
  const body = { model: "claude", max_tokens: 100, messages: [user] }
  const message = streaming ? await client.messages.stream(body).finalMessage() : await client.messages.create(body)
  const { usage } = message
  return {
    text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    reasoning: message.content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])).join(""),
    calls: message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
    ),
    stop: message.stop_reason,
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      read: usage.cache_read_input_tokens ?? 0,
      wrote: usage.cache_creation_input_tokens ?? 0,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}

type Thoughtful = { reasoning_content?: string } | undefined

async function chat(url: string, streaming: boolean): Promise<Understood> {
  const client = new OpenAI({ apiKey: "test", baseURL: `${url}/v1`, maxRetries: 0 })
  const body = { model: "gpt", messages: [user] }
  let thoughts = ""
  const streamed = () =>
    client.chat.completions
      .stream({ ...body, stream_options: { include_usage: true } })
      // Not OpenAI's own, so its client passes it on without putting it together.
      .on("chunk", ({ choices }) => (thoughts += (choices[0]?.delta as Thoughtful)?.reasoning_content ?? ""))
      .finalChatCompletion()
  const completion = streaming ? await streamed() : await client.chat.completions.create(body)
  const choice = completion.choices[0]!
  const { usage } = completion
  return {
    text: choice.message.content ?? "",
    reasoning: streaming ? thoughts : ((choice.message as Thoughtful)?.reasoning_content ?? ""),
    calls: (choice.message.tool_calls ?? []).flatMap((each) =>
      each.type === "function"
        ? [{ id: each.id, name: each.function.name, arguments: JSON.parse(each.function.arguments) }]
        : [],
    ),
    stop: choice.finish_reason,
    usage: {
      input: usage!.prompt_tokens,
      output: usage!.completion_tokens,
      read: usage!.prompt_tokens_details?.cached_tokens ?? 0,
      wrote: usage!.prompt_tokens_details?.cache_write_tokens ?? 0,
      reasoning: usage!.completion_tokens_details?.reasoning_tokens ?? 0,
    },
  }
}

/** The vendor's stream object refuses to give back an answer that a filter or the length cut; its chunks tell. */
async function chatStop(url: string): Promise<string | null | undefined> {
  const client = new OpenAI({ apiKey: "test", baseURL: `${url}/v1`, maxRetries: 0 })
  let stop: string | null | undefined
  for await (const chunk of await client.chat.completions.create({ model: "gpt", messages: [user], stream: true }))
    stop = chunk.choices[0]?.finish_reason ?? stop
  return stop
}

async function responses(url: string, streaming: boolean): Promise<Understood> {
  const client = new OpenAI({ apiKey: "test", baseURL: `${url}/v1`, maxRetries: 0 })
  const body = { model: "gpt", input: "hello" }
  const response = streaming ? await client.responses.stream(body).finalResponse() : await client.responses.create(body)
  const { usage } = response
  return {
    text: response.output_text,
    reasoning: response.output
      .flatMap((item) => (item.type === "reasoning" ? item.summary.map(({ text }) => text) : []))
      .join(""),
    calls: response.output.flatMap((item) =>
      item.type === "function_call"
        ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }]
        : [],
    ),
    stop: response.incomplete_details?.reason ?? response.status,
    usage: {
      input: usage!.input_tokens,
      output: usage!.output_tokens,
      read: usage!.input_tokens_details.cached_tokens,
      wrote: usage!.input_tokens_details.cache_write_tokens ?? 0,
      reasoning: usage!.output_tokens_details.reasoning_tokens,
    },
  }
}

const vendors = { anthropic, chat, responses }
type Vendor = keyof typeof vendors
const all = (Object.keys(vendors) as Vendor[]).flatMap((vendor) =>
  [true, false].map((streaming) => ({ vendor, streaming })),
)

const stops: Record<Vendor, Record<string, string>> = {
  anthropic: { end: "end_turn", calls: "tool_use", length: "max_tokens", refusal: "refusal", other: "pause_turn" },
  chat: { end: "stop", calls: "tool_calls", length: "length", refusal: "content_filter", other: "other" },
  responses: {
    end: "completed",
    calls: "completed",
    length: "max_output_tokens",
    refusal: "content_filter",
    other: "other",
  },
}

const answered = async (reply: Reply | Fault, run: (url: string) => Promise<void>): Promise<void> => {
  await using server = await serve(() => reply)
  await run(server.url)
  assert.deepEqual(server.refused, [])
}

for (const { vendor, streaming } of all) {
  const how = `${vendor}, ${streaming ? "streaming" : "whole"}`

  test(`the vendor's client understands all that a reply can say: ${how}`, async () => {
    const reply: Reply = {
      reasoning: "first I look",
      text: "Grüße, 世界 🌍\n",
      calls: [call("read", { path: "ü.txt", deep: { list: [1, null] } }, "a"), call("ls", {}, "b")],
      usage: { input: 5, output: 9, cacheRead: 100, cacheWrite: 20, reasoning: 3 },
    }
    await answered(reply, async (url) => {
      const sum = vendor === "anthropic" ? 5 : 125
      assert.deepEqual(await vendors[vendor](url, streaming), {
        text: "Grüße, 世界 🌍\n",
        reasoning: "first I look",
        calls: [
          { id: "a", name: "read", arguments: { path: "ü.txt", deep: { list: [1, null] } } },
          { id: "b", name: "ls", arguments: {} },
        ],
        stop: stops[vendor].calls,
        usage: { input: sum, output: 9, read: 100, wrote: 20, reasoning: 3 },
      })
    })
  })

  test(`every stop has its word: ${how}`, async () => {
    for (const stop of ["end", "length", "refusal", "other"] as const) {
      await answered({ text: "x", stop }, async (url) => {
        const understood =
          vendor === "chat" && streaming ? await chatStop(url) : (await vendors[vendor](url, streaming)).stop
        assert.equal(understood, stops[vendor][stop])
      })
    }
  })

  test(`errors become the vendor's own error classes: ${how}`, async () => {
    const names: Record<number, string> = {
      400: "BadRequestError",
      401: "AuthenticationError",
      403: "PermissionDeniedError",
      404: "NotFoundError",
      429: "RateLimitError",
      500: "InternalServerError",
      529: vendor === "anthropic" ? "OverloadedError" : "InternalServerError",
    }
    await using server = await serve((_, n) =>
      status(Number(Object.keys(names)[n]), { message: "not today", retryAfter: "3" }),
    )
    for (const code of Object.keys(names)) {
      const error = await vendors[vendor](server.url, streaming).catch((error: unknown) => error)
      assert.ok(error instanceof AnthropicAPIError || error instanceof OpenaiAPIError)
      assert.deepEqual(
        { name: error.constructor.name, status: error.status, retryAfter: error.headers?.get("retry-after") },
        { name: names[Number(code)], status: Number(code), retryAfter: "3" },
      )
      assert.match(error.message, /not today/)
    }
  })
}

test("an error event after 200 is an error of the vendor's client, with its words", async () => {
  for (const vendor of Object.keys(vendors) as Vendor[]) {
    await answered(errorEvent("overloaded", "too busy now"), async (url) => {
      const error = await vendors[vendor](url, true).catch((error: unknown) => error)
      assert.ok(error instanceof AnthropicAPIError || error instanceof OpenaiAPIError, vendor)
      assert.match(error.message, /too busy now/)
    })
  }
})

test("thoughts come back with their proof, and hidden ones as they are", async () => {
  const parts = [
    { type: "reasoning" as const, text: "hm", proof: "signed" },
    { type: "redacted" as const, data: "hidden" },
  ]
  await answered({ parts, text: "so" }, async (url) => {
    const one = new Anthropic({ apiKey: "test", baseURL: url })
    const message = await one.messages.stream({ model: "m", max_tokens: 9, messages: [user] }).finalMessage()
    assert.deepEqual(message.content.slice(0, 2), [
      { type: "thinking", thinking: "hm", signature: "signed" },
      { type: "redacted_thinking", data: "hidden" },
    ])
    const other = new OpenAI({ apiKey: "test", baseURL: `${url}/v1` })
    const include = ["reasoning.encrypted_content" as const]
    const response = await other.responses.stream({ model: "m", input: "hi", include }).finalResponse()
    assert.deepEqual(
      response.output.slice(0, 2).map((item) => item.type === "reasoning" && item.encrypted_content),
      ["signed", "hidden"],
    )
  })
})

test("a conversation with calls, sent back by the vendor's client, is legal and read alike in all formats", async () => {
  const script: Script = ({ messages }) =>
    messages.length === 1 ? { text: "look", calls: [call("read", { path: "a" })] } : "done"
  await using server = await serve(script)
  const { url } = server
  const claude = new Anthropic({ apiKey: "test", baseURL: url })
  const tools = [{ name: "read", input_schema: { type: "object" as const } }]
  const first = await claude.messages.create({ model: "m", max_tokens: 9, system: "be brief", messages: [user], tools })
  const result = { type: "tool_result" as const, tool_use_id: "call_1_1", content: "text of a" }
  const messages = [
    user,
    { role: "assistant" as const, content: first.content },
    { role: "user" as const, content: [result] },
  ]
  await claude.messages.create({ model: "m", max_tokens: 9, system: "be brief", messages, tools })

  const openai = new OpenAI({ apiKey: "test", baseURL: `${url}/v1` })
  const system = { role: "system" as const, content: "be brief" }
  const chatTools = [{ type: "function" as const, function: { name: "read", parameters: {} } }]
  const said = await openai.chat.completions.create({ model: "m", messages: [system, user], tools: chatTools })
  const back = { role: "tool" as const, tool_call_id: "call_1_1", content: "text of a" }
  await openai.chat.completions.create({
    model: "m",
    messages: [system, user, said.choices[0]!.message, back],
    tools: chatTools,
  })

  const own = [{ type: "function" as const, name: "read", parameters: {}, strict: false }]
  const response = await openai.responses.create({ model: "m", instructions: "be brief", input: "hello", tools: own })
  const output = { type: "function_call_output" as const, call_id: "call_1_1", output: "text of a" }
  await openai.responses.create({
    model: "m",
    instructions: "be brief",
    input: [user, ...(response.output as OpenAI.Responses.ResponseInputItem[]), output],
    tools: own,
  })

  assert.deepEqual(server.refused, [])
  const heard = server.requests.map(({ format, system, messages, tools, last }) => ({
    format,
    system,
    messages,
    tools,
    last,
  }))
  const same = {
    system: "be brief",
    tools: ["read"],
    last: "text of a",
    messages: [
      { role: "user", text: "hello" },
      { role: "assistant", text: "look", calls: [{ id: "call_1_1", name: "read", input: { path: "a" } }] },
      { role: "result", text: "text of a", call: "call_1_1" },
    ],
  }
  assert.deepEqual(
    [1, 3, 5].map((index) => heard[index]),
    ["anthropic", "chat", "responses"].map((format) => ({ format, ...same })),
  )
})

test("law: however an answer travels, the vendor's client understands the same", async () => {
  const shape = fc.record(
    {
      chunkBytes: fc.integer({ min: 1, max: 40 }),
      piece: fc.constantFrom(1, 3, 50, Number.POSITIVE_INFINITY),
      newline: fc.constantFrom("\n" as const, "\r\n" as const),
      comments: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  let reply: Reply | Fault = ""
  await using server = await serve(() => reply)
  const property = fc.asyncProperty(
    fc.constantFrom(...(Object.keys(vendors) as Vendor[])),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
    fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }),
    shape,
    async (vendor, text, input, shape) => {
      const said = JSON.stringify(input)
      reply = shaped({ text, calls: [rawCall("read", said, "id")] }, shape)
      const understood = await vendors[vendor](server.url, true)
      assert.equal(understood.text, text)
      assert.equal(
        JSON.stringify(understood.calls),
        `[{"id":"id","name":"read","arguments":${JSON.stringify(JSON.parse(said))}}]`,
      )
    },
  )
  await fc.assert(property, { numRuns: 60 })
})
