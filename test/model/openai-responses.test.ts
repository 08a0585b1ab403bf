import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { noUsage } from "../../src/core/usage.ts"
import { openaiResponses } from "../../src/model/openai-responses.ts"
import type { Attempt } from "../../src/model/retry.ts"
import { ask, named, reader, type Server, serve, sse, type Typed } from "./openai-wire.ts"

let server: Server
before(async () => {
  server = await serve()
})
after(() => server[Symbol.asyncDispose]())

const client = (): Attempt =>
  openaiResponses({
    provider: "openai",
    name: "gpt-5",
    baseURL: `${server.url}/v1`,
    key: "sk-secret",
    keyVariable: "OPENAI_API_KEY",
    pool: server.pool,
  })

const hears = async (...events: Typed[]) => {
  server.reply = () => ({ chunks: [named(...events)] })
  return ask(client(), { tools: [reader] })
}

const thought = {
  type: "reasoning",
  id: "rs_1",
  summary: [
    { type: "summary_text", text: "First." },
    { type: "summary_text", text: "Then." },
  ],
  encrypted_content: "sealed",
}
const words = {
  type: "message",
  id: "m",
  role: "assistant",
  content: [{ type: "output_text", text: "Looking", annotations: [] }],
}
const call = { type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: '{"path":"a"}' }
const spent = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}
const done = (output_index: number, item: object) => ({ type: "response.output_item.done", output_index, item })
const completed = (output: object[]) => ({
  type: "response.completed",
  response: { status: "completed", output, usage: spent },
})
const incomplete = (reason: string, output: object[]) => ({
  type: "response.incomplete",
  response: { status: "incomplete", incomplete_details: { reason }, output, usage: spent },
})

const whole = {
  ok: true,
  parts: [
    {
      type: "reasoning",
      text: "First.\n\nThen.",
      by: "openai",
      proof: { id: "rs_1", summary: thought.summary, encrypted_content: "sealed" },
    },
    { type: "text", text: "Looking" },
    { type: "call", id: "c1", name: "read", input: { path: "a" } },
  ],
  stop: "calls",
  usage: { input: 40, output: 20, cacheRead: 60, cacheWrite: 0, reasoning: 5 },
}

test("an answer with thoughts, words and a call is read whole, with what it cost", async () => {
  const { answer, deltas } = await hears(
    { type: "response.created" },
    { type: "response.output_item.added" },
    { type: "response.reasoning_summary_part.added", summary_index: 0 },
    { type: "response.reasoning_summary_text.delta", delta: "First." },
    { type: "response.reasoning_summary_part.added", summary_index: 1 },
    { type: "response.reasoning_summary_text.delta", delta: "Then." },
    { type: "response.output_text.delta", delta: "Looking" },
    { type: "response.function_call_arguments.delta", delta: '{"path":"a"}' },
    completed([thought, words, call]),
  )
  assert.deepEqual(answer, whole)
  assert.deepEqual(deltas, [
    { kind: "reasoning", text: "First." },
    { kind: "reasoning", text: "\n\n" },
    { kind: "reasoning", text: "Then." },
    { kind: "text", text: "Looking" },
  ])
  assert.equal(server.paths.at(-1), "/v1/responses")
})

test("the items that came one by one count when the last event lists none, in their own order", async () => {
  const { answer } = await hears(done(1, words), done(0, thought), done(2, call), completed([]))
  assert.deepEqual(answer, whole)
})

test("what was sealed goes back as it came", async () => {
  const { answer } = await hears(completed([thought, words, call]))
  assert.ok(answer.ok)
  await ask(client(), {
    messages: [
      { role: "user", text: "hello" },
      { role: "assistant", parts: answer.parts },
      { role: "result", call: "c1", name: "read", ok: true, text: "an A" },
    ],
  })
  assert.deepEqual(JSON.parse(server.bodies.at(-1) ?? "").input.slice(1), [
    thought,
    { type: "message", role: "assistant", content: "Looking" },
    { type: "function_call", call_id: "c1", name: "read", arguments: '{"path":"a"}' },
    { type: "function_call_output", call_id: "c1", output: "an A" },
  ])
})

test("each way to stop has its word", async () => {
  const refusal = { type: "message", role: "assistant", content: [{ type: "refusal", refusal: "I cannot." }] }
  const empty = { ...call, arguments: "" }
  for (const [event, parts, stop] of [
    [completed([words]), [{ type: "text", text: "Looking" }], "end"],
    [completed([refusal]), [{ type: "text", text: "I cannot." }], "refusal"],
    [completed([empty]), [{ type: "call", id: "c1", name: "read", input: {} }], "calls"],
    [
      completed([{ ...call, arguments: "{" }]),
      [{ type: "call", id: "c1", name: "read", input: {}, broken: "{" }],
      "calls",
    ],
    [
      incomplete("max_output_tokens", [empty]),
      [{ type: "call", id: "c1", name: "read", input: {}, broken: "" }],
      "length",
    ],
    [incomplete("content_filter", [words]), [{ type: "text", text: "Looking" }], "refusal"],
    [incomplete("weary", []), [], "other"],
  ] as const) {
    const { answer } = await hears(event)
    assert.deepEqual(answer, { ok: true, parts, stop, usage: whole.usage })
  }
})

test("thoughts in the open, as local servers send them, are shown and need no proof", async () => {
  const open = { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "hm" }] }
  const { answer } = await hears(completed([open, { type: "web_search_call", id: "w" }, words]))
  assert.deepEqual(answer.ok && answer.parts, [
    { type: "reasoning", text: "hm", by: "openai" },
    { type: "text", text: "Looking" },
  ])
})

test("without its last event an answer does not count", async () => {
  const { answer } = await hears(done(0, call))
  assert.deepEqual(answer, {
    ok: false,
    error: { kind: "truncated", message: "the answer of openai ended before it was whole" },
    retry: true,
    usage: noUsage(),
  })
})

test("an answer that leaves out what the format demands does not count either", async () => {
  for (const event of [{ type: "response.completed" }, completed([{ type: "message" }])]) {
    const { answer } = await hears(event)
    assert.equal(!answer.ok && answer.error.kind, "truncated")
  }
})

test("a response that failed and an error event are told apart by their code", async () => {
  const failed = (code: string) => ({
    type: "response.failed",
    response: { status: "failed", error: { code, message: "sorry" }, output: [], usage: spent },
  })
  const { answer } = await hears(failed("server_error"))
  assert.deepEqual(answer, {
    ok: false,
    error: { kind: "overloaded", message: "openai broke off its answer: sorry" },
    retry: true,
    usage: whole.usage,
  })
  for (const [event, kind, retry] of [
    [failed("rate_limit_exceeded"), "rate_limit", true],
    [failed("context_length_exceeded"), "context_overflow", false],
    [failed("invalid_prompt"), "bad_request", false],
    [{ type: "error", code: "server_error", message: "sorry", param: null }, "overloaded", true],
    [{ type: "error", error: { code: "insufficient_quota", message: "sorry" } }, "rate_limit", false],
  ] as const) {
    const { answer } = await hears(event)
    assert.deepEqual(answer.ok || [answer.error.kind, answer.retry], [kind, retry], JSON.stringify(event))
  }
  server.reply = () => ({ chunks: [sse({ error: { message: "sorry" } })] })
  const bare = await ask(client())
  assert.equal(!bare.answer.ok && bare.answer.error.kind, "overloaded")
})

test("a refused key is told by the name of its variable", async () => {
  server.reply = () => ({ status: 401, chunks: ['{"error":{"message":"bad key sk-secret"}}'] })
  const { answer } = await ask(client())
  assert.deepEqual(answer, {
    ok: false,
    error: {
      kind: "authentication",
      message: "openai refused the key in OPENAI_API_KEY; set one that is valid for this model",
      status: 401,
    },
    retry: false,
    usage: noUsage(),
  })
})
