import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import type { Part } from "../../src/core/message.ts"
import { noUsage } from "../../src/core/usage.ts"
import { openaiChat } from "../../src/model/openai-chat.ts"
import type { Attempt } from "../../src/model/retry.ts"
import { ask, reader, type Server, serve, sse } from "./openai-wire.ts"

let server: Server
before(async () => {
  server = await serve()
})
after(() => server[Symbol.asyncDispose]())

const client = (over: Partial<Parameters<typeof openaiChat>[0]> = {}): Attempt =>
  openaiChat({
    provider: "moon",
    name: "kimi",
    baseURL: `${server.url}/v1`,
    key: "sk-secret",
    keyVariable: "MOON_API_KEY",
    pool: server.pool,
    ...over,
  })

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const call = (piece: object) => chunk({ tool_calls: [piece] })
const usage = {
  choices: [],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60 },
    completion_tokens_details: { reasoning_tokens: 5 },
  },
}

const hears = async (...events: (object | string)[]) => {
  server.reply = () => ({ chunks: [sse(...events)] })
  return ask(client())
}
const partsOf = async (...events: (object | string)[]): Promise<Part[]> => {
  const { answer } = await hears(...events)
  assert.ok(answer.ok)
  return answer.parts
}

test("an answer with thoughts, words and a call is read whole, with what it cost", async () => {
  const { answer, deltas } = await hears(
    chunk({ role: "assistant", content: "", reasoning_content: "I must" }),
    chunk({ reasoning_content: " look" }),
    chunk({ content: "Look" }),
    chunk({ content: "ing…" }),
    call({ index: 0, id: "c1", type: "function", function: { name: "read", arguments: "" } }),
    call({ index: 0, function: { arguments: '{"path":' } }),
    call({ index: 0, function: { arguments: '"a"}' } }),
    chunk({}, "tool_calls"),
    usage,
    "[DONE]",
  )
  assert.deepEqual(answer, {
    ok: true,
    parts: [
      { type: "reasoning", text: "I must look", by: "moon", proof: { field: "reasoning_content" } },
      { type: "text", text: "Looking…" },
      { type: "call", id: "c1", name: "read", input: { path: "a" } },
    ],
    stop: "calls",
    usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 5 },
  })
  assert.deepEqual(deltas, [
    { kind: "reasoning", text: "I must" },
    { kind: "reasoning", text: " look" },
    { kind: "text", text: "Look" },
    { kind: "text", text: "ing…" },
  ])
})

test("the request goes to the base URL with the key, a local server's without one", async () => {
  server.reply = () => ({ chunks: [sse(chunk({ content: "hi" }, "stop"), "[DONE]")] })
  await ask(client({ baseURL: `${server.url}/v1/`, headers: { "x-title": "legwork" } }))
  assert.equal(server.paths.at(-1), "/v1/chat/completions")
  assert.equal(server.heads.at(-1)?.authorization, "Bearer sk-secret")
  assert.equal(server.heads.at(-1)?.["x-title"], "legwork")
  const { url: baseURL, pool } = server
  await ask(openaiChat({ provider: "ollama", name: "qwen", keyVariable: "OLLAMA_API_KEY", baseURL, pool }))
  assert.equal(server.heads.at(-1)?.authorization, undefined)
})

test("thoughts in the field `reasoning` are remembered as such", async () => {
  assert.deepEqual(await partsOf(chunk({ reasoning: "hm", content: "yes" }, "stop")), [
    { type: "reasoning", text: "hm", by: "moon", proof: { field: "reasoning" } },
    { type: "text", text: "yes" },
  ])
})

test("each reason to stop has its word", async () => {
  for (const [reason, stop] of [
    ["stop", "end"],
    ["tool_calls", "end"],
    ["function_call", "end"],
    ["length", "length"],
    ["content_filter", "refusal"],
    ["weary", "other"],
  ] as const) {
    const { answer } = await hears(chunk({ content: "x" }, reason))
    assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "x" }], stop, usage: noUsage() }, reason)
  }
  const { answer } = await hears(chunk({ content: "x" }), "[DONE]")
  assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "x" }], stop: "end", usage: noUsage() })
})

test("calls count as the reason to stop even if the server says otherwise", async () => {
  const { answer } = await hears(
    call({ index: 0, id: "a", function: { name: "read", arguments: "{}" } }),
    chunk({}, "stop"),
  )
  assert.equal(answer.ok && answer.stop, "calls")
})

test("a refusal is text that ends the answer", async () => {
  const { answer } = await hears(chunk({ refusal: "I can" }), chunk({ refusal: "not." }), chunk({}, "stop"))
  assert.deepEqual(answer, {
    ok: true,
    parts: [{ type: "text", text: "I cannot." }],
    stop: "refusal",
    usage: noUsage(),
  })
})

const a: Part = { type: "call", id: "a", name: "read", input: { path: "1" } }
const b: Part = { type: "call", id: "b", name: "read", input: { path: "2" } }
const whole = (path: string) => ({ name: "read", arguments: JSON.stringify({ path }) })

test("calls are told apart, however the server numbers them", async () => {
  const end = chunk({}, "tool_calls")
  const ways: Record<string, object[]> = {
    "pieces that alternate": [
      call({ index: 0, id: "a", function: { name: "read", arguments: '{"path"' } }),
      call({ index: 1, id: "b", function: { name: "read", arguments: '{"path"' } }),
      call({ index: 0, function: { arguments: ':"1"}' } }),
      call({ index: 1, function: { arguments: ':"2"}' } }),
    ],
    "whole calls without an index": [call({ id: "a", function: whole("1") }), call({ id: "b", function: whole("2") })],
    "both in one delta": [
      chunk({
        tool_calls: [
          { id: "a", function: whole("1") },
          { id: "b", function: whole("2") },
        ],
      }),
    ],
    "a new id under the same index": [
      call({ index: 0, id: "a", function: whole("1") }),
      call({ index: 0, id: "b", function: { name: "read", arguments: '{"path"' } }),
      call({ index: 0, function: { arguments: ':"2"}' } }),
    ],
    "an empty id and the name again on later pieces": [
      call({ index: 0, id: "a", function: { name: "read", arguments: '{"path"' } }),
      call({ index: 0, id: "", function: { name: "read", arguments: ':"1"}' } }),
      call({ index: 1, id: "b", function: whole("2") }),
      call({ index: 1, id: "", function: { name: "read", arguments: "" } }),
    ],
    "the id or the name after the rest": [
      call({ index: 0, function: { name: "read", arguments: "{" } }),
      call({ index: 0, id: "a", function: { arguments: '"path":"1"}' } }),
      call({ index: 1, id: "b", function: { arguments: "{" } }),
      call({ index: 1, function: { name: "read", arguments: '"path":"2"}' } }),
    ],
    "another id on each piece": [
      call({ index: 0, id: "a", function: { name: "read", arguments: '{"path"' } }),
      call({ index: 0, id: "a2", function: { arguments: ':"1"}' } }),
      call({ index: 1, id: "b", function: whole("2") }),
    ],
    "arguments that are no text": [
      call({ index: 0, id: "a", function: { name: "read", arguments: { path: "1" } } }),
      call({ index: 1, id: "b", function: { name: "read", arguments: { path: "2" } } }),
    ],
  }
  for (const [way, events] of Object.entries(ways)) assert.deepEqual(await partsOf(...events, end), [a, b], way)
})

test("calls without arguments are told apart by their ids or names", async () => {
  const bare = (id: string, name: string): Part => ({ type: "call", id, name, input: {} })
  const empty = (id: string, name: string) => call({ index: 0, id, function: { name, arguments: "" } })
  const end = chunk({}, "stop")
  assert.deepEqual(await partsOf(empty("a", "ls"), empty("b", "ls"), end), [bare("a", "ls"), bare("b", "ls")])
  assert.deepEqual(await partsOf(empty("", "ls"), empty("", "pwd"), end), [bare("call_1", "ls"), bare("call_2", "pwd")])
})

test("what the cache read is found wherever the vendor counts it", async () => {
  for (const more of [{ prompt_cache_hit_tokens: 60 }, { cached_tokens: 60 }]) {
    const spent = { prompt_tokens: 100, completion_tokens: 20, ...more }
    const { answer } = await hears(chunk({ content: "x" }, "stop"), { choices: [], usage: spent })
    assert.deepEqual(answer.usage, { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 0 })
  }
})

test("calls without ids get new ones, the same each time", async () => {
  server.reply = () => ({
    chunks: [
      sse(
        call({ index: 0, id: "", function: whole("1") }),
        call({ index: 0, id: "call_2", function: whole("2") }),
        call({ index: 0, function: whole("3") }),
        chunk({}, "tool_calls"),
      ),
    ],
  })
  const earlier = { role: "assistant" as const, parts: [{ ...a, id: "call_1" }] }
  for (const _ of [1, 2]) {
    const { answer } = await ask(client(), { messages: [earlier], tools: [reader] })
    assert.deepEqual(answer.ok && answer.parts, [
      { ...a, id: "call_3" },
      { ...a, id: "call_2", input: { path: "2" } },
      { ...a, id: "call_4", input: { path: "3" } },
    ])
  }
})

test("arguments that are not whole JSON are kept as they came; none at all are an empty object", async () => {
  const deep = `${"[".repeat(600)}${"]".repeat(600)}`
  const given = ['{"path":', "", "null", '{"__proto__":{"x":1}}', deep]
  const calls = given.map((raw, index) => call({ index, id: `c${index}`, function: { name: "read", arguments: raw } }))
  assert.deepEqual(await partsOf(...calls, chunk({}, "stop")), [
    { type: "call", id: "c0", name: "read", input: {}, broken: '{"path":' },
    { type: "call", id: "c1", name: "read", input: {} },
    { type: "call", id: "c2", name: "read", input: {} },
    { type: "call", id: "c3", name: "read", input: JSON.parse('{"__proto__":{"x":1}}') },
    { type: "call", id: "c4", name: "read", input: {}, broken: deep },
  ])
})

test("a call that the token limit cut before its arguments is not a call without any", async () => {
  const { answer } = await hears(
    call({ index: 0, id: "a", function: { name: "read", arguments: "" } }),
    chunk({}, "length"),
  )
  assert.deepEqual(answer, {
    ok: true,
    parts: [{ type: "call", id: "a", name: "read", input: {}, broken: "" }],
    stop: "length",
    usage: noUsage(),
  })
})

test("an answer without its end, cut or garbled, does not count and may be tried again", async () => {
  const begun = chunk({ content: "half" })
  const truncated = (message: string) => ({
    ok: false,
    error: { kind: "truncated", message },
    retry: true,
    usage: noUsage(),
  })
  assert.deepEqual((await hears(begun)).answer, truncated("the answer of moon ended before it was whole"))
  for (const garbage of ['{"choices":', "7", '{"choices":[{"delta":{"tool_calls":7}}]}']) {
    const { answer } = await hears(begun, garbage, "[DONE]")
    assert.deepEqual(answer, truncated("moon sent an event that makes no sense"), garbage)
  }
  server.reply = () => ({ chunks: [sse(begun), "data: {"], cut: true })
  const { answer } = await ask(client())
  assert.equal(!answer.ok && answer.error.kind, "truncated")
  assert.equal(!answer.ok && answer.retry, true)
})

test("a stream that was ended with [DONE] is whole even if the connection then breaks", async () => {
  server.reply = () => ({ chunks: [sse(chunk({ content: "x" }, "stop"), "[DONE]")], cut: true })
  const { answer } = await ask(client())
  assert.equal(answer.ok, true)
})

test("an error inside of a stream is one, and is tried again unless that cannot help", async () => {
  const { answer } = await hears(chunk({ content: "half" }), usage, {
    error: { message: "busy", code: "server_error" },
  })
  assert.deepEqual(answer, {
    ok: false,
    error: { kind: "overloaded", message: "moon broke off its answer: busy" },
    retry: true,
    usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 5 },
  })
  for (const [error, kind, retry] of [
    [{ message: "slow down", code: 429 }, "rate_limit", true],
    [{ message: "down", code: "502" }, "overloaded", true],
    [{ message: "slow", type: "rate_limit_exceeded" }, "rate_limit", true],
    [{ message: "no money", code: "insufficient_quota" }, "rate_limit", false],
    [{ message: "too long", code: "context_length_exceeded" }, "context_overflow", false],
    [{ message: "no", type: "invalid_request_error" }, "bad_request", false],
    ["just words", "overloaded", true],
  ] as const) {
    const { answer } = await hears({ error })
    assert.deepEqual(answer.ok || [answer.error.kind, answer.retry], [kind, retry], JSON.stringify(error))
  }
})

test("each status has its meaning and its fate", async () => {
  const failing = async (status: number, body: unknown, over: { key?: string } = {}) => {
    server.reply = () => ({ status, chunks: [typeof body === "string" ? body : JSON.stringify(body)] })
    const { answer } = await ask(client(over))
    assert.ok(!answer.ok)
    return { ...answer.error, retry: answer.retry }
  }
  const saying = (message: string, code?: string) => ({ error: { message, code } })
  assert.deepEqual(await failing(401, saying("Incorrect API key provided: sk-secret")), {
    kind: "authentication",
    message: "moon refused the key in MOON_API_KEY; set one that is valid for this model",
    status: 401,
    retry: false,
  })
  assert.deepEqual(await failing(401, "", { key: "" }), {
    kind: "authentication",
    message: "moon wants a key; set MOON_API_KEY",
    status: 401,
    retry: false,
  })
  assert.deepEqual(await failing(403, saying("not for sk-secret")), {
    kind: "authentication",
    message: "moon refused the key in MOON_API_KEY: not for [key]; set one that is valid for this model",
    status: 403,
    retry: false,
  })
  assert.deepEqual(await failing(404, saying("no such model")), {
    kind: "not_found",
    message: "moon has no model kimi or no such address (404: no such model); check the model's name and the base URL",
    status: 404,
    retry: false,
  })
  assert.deepEqual(await failing(413, "too large"), {
    kind: "context_overflow",
    message: "the conversation is too long for the model: too large",
    status: 413,
    retry: false,
  })
  for (const [status, body] of [
    [400, saying("x", "context_length_exceeded")],
    [400, { object: "error", message: "This model's maximum context length is 4096 tokens.", code: 400 }],
  ] as const) {
    const { kind, retry } = await failing(status, body)
    assert.deepEqual([kind, retry], ["context_overflow", false])
  }
  assert.deepEqual(await failing(429, saying("You exceeded your current quota", "insufficient_quota")), {
    kind: "rate_limit",
    message: "the account at moon has no credit left; see to its plan and billing, or choose another model",
    status: 429,
    retry: false,
  })
  assert.deepEqual(await failing(429, saying("slow down")), {
    kind: "rate_limit",
    message: "moon said 429: slow down",
    status: 429,
    retry: true,
  })
  assert.deepEqual(await failing(400, { detail: [{ msg: "bad" }] }), {
    kind: "bad_request",
    message: 'moon said 400: [{"msg":"bad"}]',
    status: 400,
    retry: false,
  })
  assert.deepEqual(await failing(503, "<html>busy</html>"), {
    kind: "overloaded",
    message: "moon said 503: <html>busy</html>",
    status: 503,
    retry: true,
  })
})

test("an abort ends the attempt with an answer, not a rejection", async () => {
  const stop = new AbortController()
  server.reply = () => {
    setImmediate(() => stop.abort())
    return { chunks: [sse(chunk({ content: "half" })), ...Array(50).fill(": ping\n\n")] }
  }
  const { answer } = await ask(client(), {}, stop.signal)
  assert.deepEqual(answer, {
    ok: false,
    error: { kind: "network", message: "the request was stopped" },
    retry: false,
    usage: noUsage(),
  })
})

test("what cannot be written as JSON is told, not thrown", async () => {
  const loop: Record<string, unknown> = {}
  loop.self = loop
  const { answer } = await ask(client(), { messages: [{ role: "assistant", parts: [{ ...a, input: loop }] }] })
  assert.equal(!answer.ok && answer.error.kind, "internal")
})
