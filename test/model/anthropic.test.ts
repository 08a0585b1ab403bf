import assert from "node:assert/strict"
import type { ServerResponse } from "node:http"
import { type TestContext, test } from "node:test"
import type { Failure } from "../../src/core/event.ts"
import { noUsage } from "../../src/core/usage.ts"
import { type AnthropicOptions, anthropic } from "../../src/model/anthropic.ts"
import { Gate } from "../../src/model/gate.ts"
import type { Answer, Delta, Request } from "../../src/model/model.ts"
import { retrying } from "../../src/model/retry.ts"
import { cutAt, dribble, poolFor, serve, stream } from "./serve.ts"

const request: Request = {
  system: "s",
  tools: [],
  messages: [{ role: "user", text: "hi" }],
  toolChoice: "auto",
  memo: {},
}

/** One event as the provider writes it. */
const sse = (event: { type: string; [field: string]: unknown }): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`

const usage = { input_tokens: 12, cache_creation_input_tokens: 3, cache_read_input_tokens: 40, output_tokens: 1 }
const start = sse({ type: "message_start", message: { id: "m", role: "assistant", content: [], usage } })
const begin = (index: number, content_block: object) => sse({ type: "content_block_start", index, content_block })
const delta = (index: number, delta: object) => sse({ type: "content_block_delta", index, delta })
const end = (index: number) => sse({ type: "content_block_stop", index })
const stop = (stop_reason: string) =>
  sse({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } })
const over = sse({ type: "message_stop" })
const hello = start + begin(0, { type: "text", text: "" }) + delta(0, { type: "text_delta", text: "Héllo 😀" }) + end(0)
const reading = (index: number, raw: string[]) =>
  begin(index, { type: "tool_use", id: "toolu_1", name: "read", input: {} }) +
  raw.map((partial_json) => delta(index, { type: "input_json_delta", partial_json })).join("") +
  end(index)
const calling = (raw: string[], reason = "tool_use") => start + reading(0, raw) + stop(reason) + over

const spent = { ...noUsage(), input: 12, cacheRead: 40, cacheWrite: 3, output: 9 }
const begun = { ...spent, output: 1 }

/** Asks a server that answers as given. */
async function ask(
  t: TestContext,
  answer: string | ((response: ServerResponse) => void),
  some: Partial<AnthropicOptions> & { signal?: AbortSignal; delta?: (delta: Delta) => void } = {},
): Promise<{ answer: Answer; heard: Delta[] }> {
  const { url } = await serve(t, (response) => {
    if (typeof answer === "string") response.writeHead(200, stream).end(answer)
    else answer(response)
  })
  const heard: Delta[] = []
  const { signal = new AbortController().signal, delta = (each: Delta) => heard.push(each), ...options } = some
  const pool = poolFor(t)
  const attempt = anthropic({
    provider: "anthropic",
    name: "claude-x",
    baseURL: url,
    key: "sk-secret",
    maxTokens: 100,
    pool,
    ...options,
  })
  return { answer: await attempt(request, { signal, delta }), heard }
}

const failure = (error: Failure, more: { retry: boolean; usage?: object; retryAfter?: number }) => ({
  ok: false,
  error,
  usage: noUsage(),
  ...more,
})
const truncated = (words: string, usage = begun) =>
  failure({ kind: "truncated", message: words }, { retry: true, usage })
const unfinished = "the answer of anthropic ended before it was whole"

test("the request goes to the right address with the right headers", async (t) => {
  const { url, asked } = await serve(t, (response) =>
    response.writeHead(200, stream).end(hello + stop("end_turn") + over),
  )
  const pool = poolFor(t)
  const options = { provider: "anthropic", name: "claude-x", maxTokens: 100, key: "sk-secret", pool }
  for (const base of ["", "/", "/v1", "/v1/", "/proxy//"]) {
    const attempt = anthropic({ ...options, baseURL: url + base, headers: { "x-own": "1" } })
    await attempt(request, { signal: new AbortController().signal, delta: () => {} })
  }
  assert.deepEqual(
    asked.map(({ path }) => path),
    ["/v1/messages", "/v1/messages", "/v1/messages", "/v1/messages", "/proxy/v1/messages"],
  )
  const { headers, body } = asked[0]!
  assert.deepEqual(
    ["x-api-key", "anthropic-version", "content-type", "accept", "x-own", "authorization"].map((name) => headers[name]),
    ["sk-secret", "2023-06-01", "application/json", "text/event-stream", "1", undefined],
  )
  assert.deepEqual(JSON.parse(body).model, "claude-x")
})

test("text, thoughts and calls are read, shown as they come, and counted", async (t) => {
  const body =
    start +
    sse({ type: "ping" }) +
    begin(0, { type: "thinking", thinking: "", signature: "" }) +
    delta(0, { type: "thinking_delta", thinking: "Let me " }) +
    delta(0, { type: "thinking_delta", thinking: "see." }) +
    delta(0, { type: "signature_delta", signature: "c2ln" }) +
    end(0) +
    begin(1, { type: "redacted_thinking", data: "b64==" }) +
    end(1) +
    begin(2, { type: "text", text: "" }) +
    delta(2, { type: "text_delta", text: "I " }) +
    delta(2, { type: "text_delta", text: "look." }) +
    end(2) +
    begin(3, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }) +
    delta(3, { type: "input_json_delta", partial_json: "{}" }) +
    end(3) +
    begin(4, { type: "tool_use", id: "toolu_1", name: "read", input: {} }) +
    delta(4, { type: "input_json_delta", partial_json: "" }) +
    delta(4, { type: "input_json_delta", partial_json: '{"path":' }) +
    delta(4, { type: "input_json_delta", partial_json: '"a"}' }) +
    end(4) +
    begin(5, { type: "tool_use", id: "toolu_2", name: "ls", input: {} }) +
    end(5) +
    sse({ type: "something_new", index: 7 }) +
    sse({
      type: "message_delta",
      delta: { stop_reason: "tool_use" },
      usage: { output_tokens: 30, output_tokens_details: { thinking_tokens: 8 } },
    }) +
    over
  const { answer, heard } = await ask(t, body)
  assert.deepEqual(answer, {
    ok: true,
    parts: [
      { type: "reasoning", text: "Let me see.", by: "anthropic", proof: { signature: "c2ln" } },
      { type: "reasoning", text: "", by: "anthropic", proof: { redacted: "b64==" } },
      { type: "text", text: "I look." },
      { type: "call", id: "toolu_1", name: "read", input: { path: "a" } },
      { type: "call", id: "toolu_2", name: "ls", input: {} },
    ],
    stop: "calls",
    usage: { input: 12, cacheRead: 40, cacheWrite: 3, output: 30, reasoning: 8 },
  })
  assert.deepEqual(heard, [
    { kind: "reasoning", text: "Let me " },
    { kind: "reasoning", text: "see." },
    { kind: "text", text: "I " },
    { kind: "text", text: "look." },
  ])
})

const reasons: Record<string, string> = {
  end_turn: "end",
  stop_sequence: "end",
  pause_turn: "end",
  tool_use: "calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
  brand_new: "other",
}
for (const [reason, word] of Object.entries(reasons)) {
  test(`the stop reason ${reason} is ${word} to us`, async (t) => {
    const { answer } = await ask(t, hello + stop(reason) + over)
    assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "Héllo 😀" }], stop: word, usage: spent })
  })
}

test("a stop reason followed by a clean end is enough", async (t) => {
  const { answer } = await ask(t, hello + stop("end_turn"))
  assert.equal(answer.ok, true)
})

test("an answer is whole at its stop, though the server keeps the connection open", async (t) => {
  const { answer } = await ask(t, (response) => response.writeHead(200, stream).write(hello + stop("end_turn") + over))
  assert.equal(answer.ok, true)
})

test("CRLF and comments make no difference", async (t) => {
  const body = `: welcome\r\n\r\n${(hello + stop("end_turn") + over).replaceAll("\n", "\r\n: hum\r\n").replaceAll(": hum\r\n\r\n: hum", "")}`
  const { answer } = await ask(t, body)
  assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "Héllo 😀" }], stop: "end", usage: spent })
})

test("an event of 2 MB is read whole", async (t) => {
  const text = "ü".repeat(1024 * 1024)
  const body =
    start + begin(0, { type: "text", text: "" }) + delta(0, { type: "text_delta", text }) + stop("end_turn") + over
  const { answer } = await ask(t, body)
  assert.ok(answer.ok && answer.parts[0]?.type === "text" && answer.parts[0].text === text)
})

const raws: [string, string[], unknown, string?][] = [
  ["whole arguments", ['{"a":', '[1,{"b":"ü"}]}'], { a: [1, { b: "ü" }] }],
  ["no arguments", [], {}],
  ["empty arguments", ["", ""], {}],
  ["arguments that are no object", ["[1]"], [1]],
  ["arguments cut off", ['{"a": "b'], {}, '{"a": "b'],
  ["arguments that are no JSON", ["path=a"], {}, "path=a"],
  [
    "arguments nested beyond all reason",
    ['{"a":', "[".repeat(5_000), "]".repeat(5_000), "}"],
    {},
    `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  ],
]
for (const [name, raw, input, broken] of raws) {
  test(`${name} are ${broken === undefined ? "taken" : "kept as they came, to be told to the model"}`, async (t) => {
    const { answer } = await ask(t, calling(raw))
    const call = { type: "call", id: "toolu_1", name: "read", input, ...(broken !== undefined && { broken }) }
    assert.deepEqual(answer, { ok: true, parts: [call], stop: "calls", usage: spent })
  })
}

test("arguments named __proto__ are data and change nothing", async (t) => {
  const { answer } = await ask(t, calling(['{"__proto__":{"polluted":1},"constructor":2}']))
  assert.ok(answer.ok && answer.parts[0]?.type === "call")
  const input = answer.parts[0].input as object
  assert.deepEqual(Object.getOwnPropertyNames(input), ["__proto__", "constructor"])
  assert.equal(Object.getPrototypeOf(input), Object.prototype)
  assert.equal("polluted" in {}, false)
})

test("arguments that came with the start of a call are taken when no others come", async (t) => {
  const block = { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a" } }
  const { answer } = await ask(t, start + begin(0, block) + end(0) + stop("tool_use") + over)
  assert.ok(answer.ok)
  assert.deepEqual(answer.parts, [{ type: "call", id: "toolu_1", name: "read", input: { path: "a" } }])
})

test("a call that the token limit cut before its arguments is not a call without arguments", async (t) => {
  const { answer } = await ask(t, calling([], "max_tokens"))
  assert.ok(answer.ok)
  assert.deepEqual(answer.parts, [{ type: "call", id: "toolu_1", name: "read", input: {}, broken: "" }])
})

const whole = hello + reading(1, ['{"path":"ü"}']) + stop("tool_use") + over
const cuts: [string, string, object][] = [
  ["after the headers", "", noUsage()],
  ["in the middle of an event", whole.slice(0, start.length + 40), begun],
  ["in the middle of a character", whole.slice(0, whole.indexOf("é")), begun],
  ["in the middle of a call's arguments", whole.slice(0, whole.indexOf('{\\"path')), begun],
  ["before the stop", whole.slice(0, whole.indexOf("event: message_delta")), begun],
]
for (const [where, text, usage] of cuts) {
  test(`an answer that ends ${where} is truncated`, async (t) => {
    const clean = await ask(t, text)
    assert.deepEqual(clean.answer, truncated(unfinished, usage as typeof begun))
    const torn = await ask(t, (response) => {
      response.writeHead(200, stream)
      response.flushHeaders()
      response.write(Buffer.concat([Buffer.from(text), Buffer.from("é").subarray(0, 1)]), () =>
        setImmediate(() => response.destroy()),
      )
    })
    assert.ok(!torn.answer.ok)
    assert.deepEqual([torn.answer.error.kind, torn.answer.retry, torn.answer.usage], ["truncated", true, usage])
  })
}

test("nothing but pings is no answer", async (t) => {
  const { answer, heard } = await ask(t, sse({ type: "ping" }).repeat(20))
  assert.deepEqual([answer, heard], [truncated(unfinished, noUsage() as typeof begun), []])
})

test("pings without end are a stalled stream", async (t) => {
  let time = 0
  let closed = false
  const { answer } = await ask(
    t,
    (response) => {
      response.on("close", () => (closed = true))
      response.writeHead(200, stream).write(start)
      const ping = () => {
        response.write(sse({ type: "ping" }))
        if (!closed) setImmediate(ping)
      }
      ping()
    },
    { idle: 1_000, now: () => (time += 400) },
  )
  const message = "anthropic gave signs of life for minutes, and no answer"
  assert.deepEqual(answer, failure({ kind: "stalled", message }, { retry: true, usage: begun }))
})

test("a stream that falls silent is stalled and can be tried again", async (t) => {
  const { answer } = await ask(t, (response) => response.writeHead(200, stream).write(hello), { idle: 500 })
  assert.ok(!answer.ok)
  assert.deepEqual([answer.error.kind, answer.retry, answer.usage], ["stalled", true, begun])
})

test("a fired signal ends the answer", async (t) => {
  const controller = new AbortController()
  const { answer } = await ask(t, (response) => response.writeHead(200, stream).write(hello), {
    signal: controller.signal,
    delta: () => controller.abort(),
  })
  const error: Failure = { kind: "network", message: "the request was stopped" }
  assert.deepEqual(answer, failure(error, { retry: false, usage: begun }))
})

test("an event that is not JSON makes the answer void", async (t) => {
  const { answer } = await ask(t, `${hello}data: {"type":"mess\n\n${stop("end_turn")}${over}`)
  assert.deepEqual(answer, truncated("anthropic sent an event that is not JSON"))
})

test("events without their fields are passed over", async (t) => {
  const odd = ["message_start", "content_block_start", "content_block_delta", "message_delta", "x"]
  const { answer } = await ask(t, odd.map((type) => sse({ type })).join("") + hello + stop("end_turn") + over)
  assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "Héllo 😀" }], stop: "end", usage: spent })
})

const inStream: [string, string, Failure, boolean][] = [
  [
    "overloaded_error",
    "Overloaded",
    { kind: "overloaded", message: "anthropic said 529: Overloaded", status: 529 },
    true,
  ],
  ["api_error", "Internal", { kind: "overloaded", message: "anthropic said 500: Internal", status: 500 }, true],
  ["unheard_of", "Odd", { kind: "overloaded", message: "anthropic said 500: Odd", status: 500 }, true],
  ["rate_limit_error", "Slow", { kind: "rate_limit", message: "anthropic said 429: Slow", status: 429 }, true],
  ["invalid_request_error", "No", { kind: "bad_request", message: "anthropic said 400: No", status: 400 }, false],
  [
    "authentication_error",
    "bad key sk-secret",
    {
      kind: "authentication",
      message: "anthropic refused the key (401: bad key [key]); check ANTHROPIC_API_KEY",
      status: 401,
    },
    false,
  ],
]
for (const [type, message, error, retry] of inStream) {
  test(`${type} inside of a stream is ${error.kind}, and what was said before it is void`, async (t) => {
    const { answer } = await ask(t, hello + sse({ type: "error", error: { type, message } }) + stop("end_turn") + over)
    assert.deepEqual(answer, failure(error, { retry, usage: begun }))
  })
}

const refusals: [number, string, Failure, boolean][] = [
  [
    401,
    "invalid x-api-key sk-secret",
    {
      kind: "authentication",
      message: "anthropic refused the key (401: invalid x-api-key [key]); check ANTHROPIC_API_KEY",
      status: 401,
    },
    false,
  ],
  [
    403,
    "not allowed",
    {
      kind: "authentication",
      message: "anthropic refused the key (403: not allowed); check ANTHROPIC_API_KEY",
      status: 403,
    },
    false,
  ],
  [
    404,
    "model: claude-x",
    {
      kind: "not_found",
      message: 'anthropic has no model "claude-x" (404: model: claude-x); check its name and the base URL',
      status: 404,
    },
    false,
  ],
  [
    400,
    "prompt is too long: 210000 tokens > 200000 maximum",
    {
      kind: "context_overflow",
      message: "the conversation is too long for claude-x: prompt is too long: 210000 tokens > 200000 maximum",
      status: 400,
    },
    false,
  ],
  [
    400,
    "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
    {
      kind: "context_overflow",
      message:
        "the conversation is too long for claude-x: input length and `max_tokens` exceed context limit: 1 + 2 > 3",
      status: 400,
    },
    false,
  ],
  [
    413,
    "Request exceeds the maximum size",
    {
      kind: "context_overflow",
      message: "the conversation is too long for claude-x: Request exceeds the maximum size",
      status: 413,
    },
    false,
  ],
  [400, "tools.0: bad", { kind: "bad_request", message: "anthropic said 400: tools.0: bad", status: 400 }, false],
  [500, "Oops", { kind: "overloaded", message: "anthropic said 500: Oops", status: 500 }, true],
  [529, "Overloaded", { kind: "overloaded", message: "anthropic said 529: Overloaded", status: 529 }, true],
]
for (const [status, message, error, retry] of refusals) {
  test(`${status} with "${message}" is ${error.kind}`, async (t) => {
    const body = JSON.stringify({ type: "error", error: { type: "some_error", message }, request_id: "r" })
    const { answer } = await ask(t, (response) => response.writeHead(status).end(body))
    assert.deepEqual(answer, failure(error, { retry }))
  })
}

test("an error page that is no JSON is told as it is, and a limit with its time", async (t) => {
  const { answer } = await ask(t, (response) => response.writeHead(502).end("<h1>Bad\n gateway</h1>"))
  const message = "anthropic said 502: <h1>Bad gateway</h1>"
  assert.deepEqual(answer, failure({ kind: "overloaded", message, status: 502 }, { retry: true }))
  const limited = await ask(t, (response) => response.writeHead(429, { "retry-after": "7" }).end())
  const error: Failure = { kind: "rate_limit", message: "anthropic said 429: Too Many Requests", status: 429 }
  assert.deepEqual(limited.answer, failure(error, { retry: true, retryAfter: 7_000 }))
})

test("another provider's key is named as its own", async (t) => {
  const refuse = (response: ServerResponse) => response.writeHead(401).end("no")
  const own = await ask(t, refuse, { provider: "my-proxy" })
  assert.match(own.answer.ok ? "" : own.answer.error.message, /check MY_PROXY_API_KEY$/)
  const named = await ask(t, refuse, { provider: "my-proxy", keyVariable: "PROXY_TOKEN" })
  assert.match(named.answer.ok ? "" : named.answer.error.message, /check PROXY_TOKEN$/)
})

test("an answer cut in the middle of a call is asked for again, and nothing of the first counts", async (t) => {
  const bodies = [
    whole.slice(0, whole.indexOf('{\\"path')),
    hello + sse({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    whole,
  ]
  const { url } = await serve(t, (response, _asked, nth) => response.writeHead(200, stream).end(bodies[nth]))
  const options = { provider: "anthropic", name: "claude-x", baseURL: url, key: "k", maxTokens: 100, pool: poolFor(t) }
  const clock = { now: () => 0, after: () => () => {}, random: () => 0 }
  const gate = new Gate(clock)
  const failed: [string, number, object][] = []
  const ask = retrying(anthropic(options), { gate, sleep: async () => {}, random: clock.random })
  const answer = await ask(request, {
    signal: new AbortController().signal,
    delta: () => {},
    failed: ({ error, wait, usage }) => failed.push([error.kind, wait, usage]),
  })
  assert.deepEqual(failed, [
    ["truncated", 0, begun],
    ["overloaded", 0, begun],
  ])
  assert.deepEqual(answer, {
    ok: true,
    parts: [
      { type: "text", text: "Héllo 😀" },
      { type: "call", id: "toolu_1", name: "read", input: { path: "ü" } },
    ],
    stop: "calls",
    usage: spent,
  })
})

test("where the bytes are cut makes no difference", async (t) => {
  const bytes = Buffer.from(whole)
  const all = await ask(t, whole)
  for (let from = 0; from < bytes.length; from += 150) {
    const pieces = cutAt(bytes, [from, from + 1, from + 2, from + 77])
    const { answer } = await ask(t, (response) => void dribble(response, pieces))
    assert.deepEqual(answer, all.answer)
  }
})
