import assert from "node:assert/strict"
import test from "node:test"
import {
  call,
  cut,
  errorEvent,
  type Fault,
  type Format,
  fail,
  type Place,
  type Reply,
  raw,
  rawCall,
  serve,
  shaped,
  stall,
  status,
} from "../../src/testing.ts"
import { bodies, formats, type Got, post } from "./client.ts"

const reply: Reply = { text: "naïve words", calls: [call("read", { path: "package.json" }, "a")] }

async function got(format: Format, answer: Reply | Fault, body = bodies[format]): Promise<Got> {
  await using server = await serve(() => answer)
  const result = await post(server.url, format, { body })
  assert.deepEqual(server.refused, [])
  return result
}

/** Each place, and how what arrived must end, seen from the whole answer. */
const ends: Record<Extract<Place, string>, (whole: string, part: Buffer) => void> = {
  headers: (_, part) => assert.equal(part.length, 0),
  "mid-event": (_, part) => assert.match(part.toString(), /\ndata: \{[^\n]*[^}\n]$/),
  "mid-utf8": (_, part) => assert.equal(part.at(-1), 0xc3),
  "mid-call": (whole, part) => {
    const text = part.toString()
    assert.match(text, /\{\\"path\\"/)
    const sent = text.match(/"(partial_json|arguments|delta)":"[^"]/g) ?? []
    assert.equal(sent.filter((piece) => piece.endsWith("\\") || piece.endsWith("{")).length, 1)
    assert.ok(!text.includes("package.json") && text.endsWith("\n\n") && whole.startsWith(text))
  },
  "before-stop": (whole, part) => {
    const rest = whole.slice(part.toString().length)
    assert.match(rest, /^(event: message_delta\n|data: \{.*"finish_reason":"tool_calls"|event: response.completed\n)/)
  },
  "before-last": (whole, part) => {
    const rest = whole.slice(part.toString().length)
    assert.match(rest, /^(event: message_stop\n|data: \[DONE\]|event: response.completed\n)/)
    assert.equal(rest.split("\n\n").length, 2)
  },
}

for (const format of formats) {
  test(`a cut breaks the stream at the very place, and the connection with it: ${format}`, async () => {
    const whole = (await got(format, reply)).text
    for (const [place, check] of Object.entries(ends) as [Extract<Place, string>, (typeof ends)["headers"]][]) {
      const { status, bytes, broken } = await got(format, cut(place, { of: reply }))
      assert.deepEqual({ place, status, broken }, { place, status: 200, broken: "ECONNRESET" })
      assert.deepEqual(bytes, Buffer.from(whole).subarray(0, bytes.length))
      check(whole, bytes)
    }
  })

  test(`a cut after so many bytes lets through exactly those: ${format}`, async () => {
    const whole = (await got(format, reply)).bytes
    for (const count of [0, 1, 100, whole.length - 1, whole.length, whole.length + 9]) {
      const { bytes, broken } = await got(format, cut(count, { of: reply }))
      assert.deepEqual(bytes, whole.subarray(0, count))
      assert.equal(broken, "ECONNRESET")
    }
  })

  test(`a cut can look like a proper end: ${format}`, async () => {
    const { text, broken } = await got(format, cut("before-stop", { of: reply, how: "end" }))
    assert.equal(broken, undefined)
    assert.ok(text.endsWith("\n\n"))
  })

  test(`without a reply of one's own, every cut is still possible: ${format}`, async () => {
    for (const place of Object.keys(ends) as Place[]) assert.equal((await got(format, cut(place))).broken, "ECONNRESET")
  })

  test(`an answer that is not streamed is cut in the middle of its JSON: ${format}`, async () => {
    const { bytes, broken } = await got(format, cut("mid-event", { of: reply }), { ...bodies[format], stream: false })
    assert.equal(broken, "ECONNRESET")
    assert.throws(() => JSON.parse(bytes.toString()), SyntaxError)
  })

  test(`a stall sends headers and then only pings, until the client leaves: ${format}`, async () => {
    const waits: number[] = []
    const wait = async (ms: number, signal: AbortSignal) => {
      waits.push(ms)
      await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
    }
    await using server = await serve(() => stall({ pings: 40 }), { wait })
    const control = new AbortController()
    const seen = (text: string) => text.split("\n\n").length > 3 && control.abort()
    const { status, text, broken } = await post(server.url, format, { signal: control.signal, seen })
    const ping = format === "anthropic" ? 'event: ping\ndata: {"type": "ping"}\n\n' : ": ping\n\n"
    assert.deepEqual({ status, broken }, { status: 200, broken: "ABORT_ERR" })
    assert.ok(text.startsWith(ping.repeat(3)))
    assert.deepEqual([...new Set(waits)], [40])
  })

  test(`a stall can come later, and be wholly silent: ${format}`, async () => {
    await using server = await serve(() => stall({ at: "mid-call", of: reply, pings: 0 }))
    const control = new AbortController()
    const seen = (text: string) => text.includes('{\\"path\\"') && control.abort()
    const { text } = await post(server.url, format, { signal: control.signal, seen })
    assert.ok(!text.includes("package.json"))
  })

  test(`an error event comes after a good beginning: ${format}`, async () => {
    const shapes: Record<Format, object> = {
      anthropic: { type: "error", error: { type: "overloaded_error", message: "busy" }, request_id: "req_test" },
      chat: { error: { message: "busy", type: "server_error", param: null, code: null } },
      responses: { type: "error", code: "server_error", message: "busy", param: null, sequence_number: 2 },
    }
    const { status, text, broken } = await got(format, errorEvent("overloaded", "busy", { of: {} }))
    assert.deepEqual({ status, broken }, { status: 200, broken: undefined })
    const last = text.trim().split("\n\n").at(-1) ?? ""
    assert.equal(last.startsWith("event: error\n"), format !== "chat")
    assert.deepEqual(JSON.parse(last.slice(last.indexOf("{"))), shapes[format])
  })

  test(`an error event can come first, or in the midst of a call: ${format}`, async () => {
    const first = await got(format, errorEvent("rate_limit", "slow", { at: "headers" }))
    assert.equal(first.text.trim().split("\n\n").length, 1)
    const later = await got(format, errorEvent("rate_limit", "slow", { at: "mid-call", of: reply }))
    assert.match(later.text, /\{\\"path\\"/)
    assert.doesNotMatch(later.text, /package.json/)
    const whole = await got(format, errorEvent("rate_limit", "slow"), { ...bodies[format], stream: false })
    assert.equal(whole.status, 429)
  })

  test(`a status comes with the provider's error, or any body, and headers as they are given: ${format}`, async () => {
    const limited = await got(format, status(429, { message: "slow down", retryAfter: "soon, perhaps" }))
    const anthropic = {
      type: "error",
      error: { type: "rate_limit_error", message: "slow down" },
      request_id: "req_test",
    }
    const openai = { error: { message: "slow down", type: "requests", param: null, code: "rate_limit_exceeded" } }
    assert.equal(limited.status, 429)
    assert.equal(limited.headers["retry-after"], "soon, perhaps")
    assert.deepEqual(JSON.parse(limited.text), format === "anthropic" ? anthropic : openai)
    const page = await got(
      format,
      status(502, { body: "<h1>Bad Gateway</h1>", headers: { "content-type": "text/html" } }),
    )
    assert.deepEqual(
      { status: page.status, type: page.headers["content-type"], text: page.text },
      { status: 502, type: "text/html", text: "<h1>Bad Gateway</h1>" },
    )
  })

  test(`arguments go out as they were given, whole JSON or not: ${format}`, async () => {
    const { text } = await got(format, shaped([rawCall("read", '{"path": nope')], { piece: Number.POSITIVE_INFINITY }))
    assert.ok(text.includes(JSON.stringify('{"path": nope')))
  })

  test(`line ends, comments and the size of events can be chosen: ${format}`, async () => {
    const plain = (await got(format, reply)).text
    assert.equal((await got(format, shaped(reply, { newline: "\r\n" }))).text, plain.replaceAll("\n", "\r\n"))
    assert.equal((await got(format, shaped(reply, { newline: "\r" }))).text, plain.replaceAll("\n", "\r"))
    const commented = (await got(format, shaped(reply, { comments: true }))).text
    assert.equal(commented.replaceAll(": a comment\n", ""), plain)
    assert.equal(commented.split(": a comment\n").length, plain.split("\n\n").length)
    const long = "x".repeat(2_000_000)
    const { text } = await got(format, shaped(long, { piece: Number.POSITIVE_INFINITY }))
    assert.ok(text.split("\n").some((line) => line.startsWith("data: ") && line.includes(long)))
  })

  test(`bytes can be sent one by one: ${format}`, async () => {
    const plain = await got(format, "é")
    const single = await got(format, shaped("é", { chunkBytes: 1 }))
    assert.deepEqual(single.bytes, plain.bytes)
    assert.equal(single.pieces, single.bytes.length)
  })

  test(`a failure of the model is the fault that a client reads as such: ${format}`, async () => {
    const expected = {
      authentication: 401,
      rate_limit: 429,
      overloaded: format === "anthropic" ? 529 : 503,
      context_overflow: 400,
      bad_request: 400,
      not_found: 404,
      internal: 500,
    } as const
    for (const [kind, code] of Object.entries(expected) as [keyof typeof expected, number][]) {
      const { status, text } = await got(format, fail(kind, "as told"))
      assert.deepEqual({ kind, status, told: text.includes("as told") }, { kind, status: code, told: true })
    }
    assert.equal((await got(format, fail("rate_limit", "", { retryAfter: 2_500 }))).headers["retry-after"], "3")
    assert.equal((await got(format, fail("truncated"))).broken, "ECONNRESET")
    await assert.rejects(got(format, fail("network")), { code: "ECONNRESET" })
    const refusal = { anthropic: '"refusal"', chat: '"content_filter"', responses: '"content_filter"' }[format]
    assert.ok((await got(format, fail("refused", "I will not"))).text.includes(refusal))
  })
}

test("raw bytes are the whole body, whatever they are", async () => {
  const { bytes, headers } = await got("chat", raw(Buffer.from([0xff, 0x00, 0x0a])))
  assert.deepEqual(bytes, Buffer.from([0xff, 0x00, 0x0a]))
  assert.equal(headers["content-type"], "text/event-stream")
  const cut = await got("chat", raw("data: {", { how: "destroy" }))
  assert.deepEqual({ text: cut.text, broken: cut.broken }, { text: "data: {", broken: "ECONNRESET" })
})

test("latency and speed are waited for, not more often than a timer can", async () => {
  const waits: number[] = []
  const wait = async (ms: number) => void waits.push(ms)
  const words = "one two three four five six"
  await using server = await serve((_, n) => (n === 0 ? words : shaped(words, { tokensPerSecond: 500 })), {
    latency: 70,
    tokensPerSecond: 10,
    wait,
  })
  await post(server.url, "chat")
  assert.deepEqual(waits.splice(0), [70, 100, 100, 100, 100, 100, 100])
  await post(server.url, "chat")
  assert.deepEqual(waits, [70, 6, 6])
})

test("a slow answer arrives bit by bit", async () => {
  let release = () => {}
  const gate = new Promise<void>((resolve) => (release = resolve))
  await using server = await serve(() => "one two", { tokensPerSecond: 1, wait: () => gate })
  let early = ""
  const seen = (text: string) => {
    early ||= text
    release()
  }
  const { text } = await post(server.url, "chat", { seen })
  assert.ok(early.length > 0 && !early.includes("one") && text.includes(" two"))
})

test("a place that a reply does not have is said, not guessed", async () => {
  const answers = [
    cut("mid-utf8", { of: "plain" }),
    cut("mid-call", { of: "plain" }),
    cut("headers", { of: fail("network") }),
  ]
  await using server = await serve((_, n) => answers[n]!)
  for (const _ of answers) assert.equal((await post(server.url, "chat")).status, 400)
  assert.deepEqual(
    server.refused.map(({ message }) => message),
    [
      'the script threw: a cut at "mid-utf8" needs a reply with a character beyond ASCII',
      'the script threw: a cut at "mid-call" needs a reply with a call that has arguments',
      "the script threw: a failure has no answer that could be cut, stalled or broken off",
    ],
  )
})
