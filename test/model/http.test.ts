import assert from "node:assert/strict"
import { EventEmitter, getEventListeners, once } from "node:events"
import net, { type AddressInfo } from "node:net"
import { test } from "node:test"
import fc from "fast-check"
import { type Ended, type Exchange, exchange, failureOf, mask, type Pool, retryAfterOf } from "../../src/model/http.ts"
import { cutAt, dribble, poolFor, serve, stream } from "./serve.ts"

type Heard = { event?: string; data: string }

/** Makes one exchange with whatever is not said in `some` as usual, and tells what was heard. */
async function ask(pool: Pool, url: string, some: Partial<Exchange> = {}): Promise<{ ended: Ended; heard: Heard[] }> {
  const heard: Heard[] = []
  const ended = await exchange(pool, {
    url,
    headers: { "content-type": "application/json", "x-api-key": "sk-secret" },
    body: '{"ä":1}',
    signal: new AbortController().signal,
    idle: 5_000,
    event: ({ event, data }) => heard.push({ ...(event !== undefined && { event }), data }),
    explain: failureOf,
    ...some,
  })
  return { ended, heard }
}

test("events arrive whole wherever the bytes are cut, with any line end and comments between", async (t) => {
  const pool = poolFor(t)
  let pieces: Buffer[] = []
  const { url } = await serve(t, (response) => dribble(response, pieces))
  const word = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[\r\n\0]/.test(text))
  const event = fc.record({
    event: word.filter((text) => text.trim() === text),
    data: fc.array(word, { minLength: 1 }),
  })
  const wire = fc.record({
    events: fc.array(event, { maxLength: 5 }),
    eol: fc.constantFrom("\n", "\r\n", "\r"),
    cuts: fc.array(fc.nat(), { maxLength: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(wire, async ({ events, eol, cuts }) => {
      const text = events.map(({ event, data }) =>
        [`: a comment`, `event: ${event}`, ...data.map((line) => `data: ${line}`), "", ""].join(eol),
      )
      // A lone CR at the very end could still become CRLF, so something follows it.
      pieces = cutAt(Buffer.from(`${text.join("")}: end\n`), cuts)
      const { ended, heard } = await ask(pool, url)
      assert.deepEqual(ended, { ok: true })
      assert.deepEqual(
        heard,
        events.map(({ event, data }) => ({ event, data: data.join("\n") })),
      )
    }),
    { numRuns: 60 },
  )
})

test("an event of 2 MB arrives whole", async (t) => {
  const data = "ü".repeat(1024 * 1024)
  const { url } = await serve(t, (response) => response.writeHead(200, stream).end(`data: ${data}\n\n`))
  const { ended, heard } = await ask(poolFor(t), url)
  assert.deepEqual(ended, { ok: true })
  assert.equal(heard.length, 1)
  assert.ok(heard[0]?.data === data)
})

test("the request is a POST with our headers and body, and sockets are used again", async (t) => {
  const { url, asked, sockets } = await serve(t, (response) => response.writeHead(200, stream).end("data: 1\n\n"))
  const pool = poolFor(t)
  for (let i = 0; i < 3; i++) assert.deepEqual((await ask(pool, `${url}/v1/x?y=1`)).ended, { ok: true })
  assert.equal(sockets(), 1)
  assert.equal(asked.length, 3)
  assert.equal(asked[0]?.path, "/v1/x?y=1")
  assert.equal(asked[0]?.body, '{"ä":1}')
  assert.equal(asked[0]?.headers["x-api-key"], "sk-secret")
  assert.equal(asked[0]?.headers["content-length"], "8")
})

const statuses: [number, string, boolean][] = [
  [400, "bad_request", false],
  [401, "authentication", false],
  [403, "authentication", false],
  [404, "not_found", false],
  [408, "overloaded", true],
  [409, "overloaded", true],
  [413, "context_overflow", false],
  [422, "bad_request", false],
  [429, "rate_limit", true],
  [500, "overloaded", true],
  [502, "overloaded", true],
  [503, "overloaded", true],
  [529, "overloaded", true],
  [302, "bad_request", false],
]
for (const [status, kind, retry] of statuses) {
  test(`a ${status} is ${kind} and ${retry ? "may pass" : "will not pass"}`, async (t) => {
    const { url } = await serve(t, (response) => response.writeHead(status).end("because"))
    const { ended, heard } = await ask(poolFor(t), url)
    assert.deepEqual(ended, { ok: false, error: { kind, message: `${status}: because`, status }, retry })
    assert.deepEqual(heard, [])
  })
}

test("a provider can say that trying again is no use", async (t) => {
  const { url } = await serve(t, (response) => response.writeHead(429, { "x-should-retry": "false" }).end("spent"))
  const { ended } = await ask(poolFor(t), url)
  assert.deepEqual(ended, {
    ok: false,
    error: { kind: "rate_limit", message: "429: spent", status: 429 },
    retry: false,
  })
})

test("retry-after is understood as seconds, date or milliseconds, and garbage is no time at all", () => {
  const now = Date.parse("Wed, 21 Oct 2026 07:28:00 GMT")
  const said = (value: string) => retryAfterOf({ "retry-after": value }, now)
  assert.equal(said("0"), 0)
  assert.equal(said("3"), 3_000)
  assert.equal(said("120"), 120_000)
  assert.equal(said("1.5"), 1_500)
  assert.equal(said("-4"), 0)
  assert.equal(said("Wed, 21 Oct 2026 07:28:30 GMT"), 30_000)
  assert.equal(said("Wed, 21 Oct 2026 07:27:00 GMT"), 0)
  for (const garbage of ["soon", "", "3 bananas", "NaN", "Infinity", "1e3"]) assert.equal(said(garbage), undefined)
  assert.equal(retryAfterOf({ "retry-after-ms": "250", "retry-after": "9" }, now), 250)
  assert.equal(retryAfterOf({ "retry-after-ms": "x", "retry-after": "9" }, now), 9_000)
  assert.equal(retryAfterOf({}, now), undefined)
})

test("the time that a provider asks for is part of the failure", async (t) => {
  const { url } = await serve(t, (response) => response.writeHead(429, { "retry-after": "3" }).end("slow down"))
  const { ended } = await ask(poolFor(t), url)
  const error = { kind: "rate_limit", message: "429: slow down", status: 429 }
  assert.deepEqual(ended, { ok: false, error, retry: true, retryAfter: 3_000 })
})

test("no more than 64 KB of an error's body is read, and an endless one ends", async (t) => {
  const closed = new EventEmitter()
  const { url } = await serve(t, (response) => {
    response.on("close", () => closed.emit("closed"))
    response.writeHead(500)
    const more = () => {
      response.write("x".repeat(10_000))
      if (!response.destroyed) setImmediate(more)
    }
    more()
  })
  const gone = once(closed, "closed")
  let length = 0
  const explain = (status: number, body: string) => failureOf(status, String((length = body.length)))
  const { ended } = await ask(poolFor(t), url, { explain })
  assert.equal(length, 64 * 1024)
  assert.equal(ended.ok, false)
  await gone
})

test("an error's body that never ends or breaks off still tells the status", async (t) => {
  const { url } = await serve(t, (response, _asked, nth) => {
    response.writeHead(503)
    response.write("half a rea")
    if (nth === 0) setImmediate(() => response.destroy())
  })
  const pool = poolFor(t)
  const failure = {
    ok: false,
    error: { kind: "overloaded", message: "503: half a rea", status: 503 },
    retry: true,
  }
  assert.deepEqual((await ask(pool, url)).ended, failure)
  assert.deepEqual((await ask(pool, url, { idle: 500 })).ended, failure)
})

test("a key never comes back in a message", async (t) => {
  const { url } = await serve(t, (response, { headers }) =>
    response.writeHead(401).end(`bad key ${headers["x-api-key"]} or ${headers.authorization}`),
  )
  const headers = { "X-Api-Key": "sk-secret", authorization: "Bearer tok-en" }
  const { ended } = await ask(poolFor(t), url, { headers })
  const error = { kind: "authentication", message: "401: bad key [key] or Bearer [key]", status: 401 }
  assert.deepEqual(ended, { ok: false, error, retry: false })
  assert.equal(mask("sk-1 sk-2", { "content-type": "sk-1", "api-key": "sk-2" }), "sk-1 [key]")
})

test("a page instead of an event stream is a clear error", async (t) => {
  const { url } = await serve(t, (response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>Log in</h1>"),
  )
  const { ended, heard } = await ask(poolFor(t), url)
  const message = `${new URL(url).host} answered with text/html instead of an event stream; check the base URL and any proxy. It said: <h1>Log in</h1>`
  assert.deepEqual(ended, { ok: false, error: { kind: "bad_request", message, status: 200 }, retry: false })
  assert.deepEqual(heard, [])
})

test("an answer that breaks off is truncated and may be tried again", async (t) => {
  const { url } = await serve(t, (response) => {
    response.writeHead(200, stream)
    response.write("data: 1\n\ndata: 2", () => response.destroy())
  })
  const { ended, heard } = await ask(poolFor(t), url)
  const message = `the answer of ${new URL(url).host} broke off (ECONNRESET)`
  assert.deepEqual(ended, { ok: false, error: { kind: "truncated", message }, retry: true })
  assert.deepEqual(heard, [{ data: "1" }])
})

test("a body that is no HTTP in its middle is truncated", async (t) => {
  const server = net.createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () =>
      socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\nnonsense\r\n",
      ),
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => server.close())
  const { ended } = await ask(poolFor(t), `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  assert.ok(!ended.ok)
  assert.deepEqual([ended.error.kind, ended.retry], ["truncated", true])
})

test("a silent server is stalled, before its headers and after", async (t) => {
  const { url } = await serve(t, (response, _asked, nth) => {
    if (nth === 1) response.writeHead(200, stream).write("data: 1\n\n")
  })
  const pool = poolFor(t)
  const error = { kind: "stalled", message: `${new URL(url).host} sent nothing for 1 s` }
  assert.deepEqual(await ask(pool, url, { idle: 500 }), { ended: { ok: false, error, retry: true }, heard: [] })
  const half = await ask(pool, url, { idle: 500 })
  assert.deepEqual(half, { ended: { ok: false, error, retry: true }, heard: [{ data: "1" }] })
})

test("a comment is a sign of life", async (t) => {
  const idle = 1_000
  const { url } = await serve(t, (response) => {
    const begun = performance.now()
    response.writeHead(200, stream).write("data: 1\n\n")
    const beat = setInterval(() => {
      response.write(": beat\n")
      if (performance.now() - begun < 1.5 * idle) return
      clearInterval(beat)
      response.end("data: 2\n\n")
    }, idle / 20)
  })
  assert.deepEqual(await ask(poolFor(t), url, { idle }), { ended: { ok: true }, heard: [{ data: "1" }, { data: "2" }] })
})

test("a fired signal ends the exchange at once and the server sees it", async (t) => {
  const gone = new EventEmitter()
  const begun = new EventEmitter()
  const { url, asked } = await serve(t, (response, _asked, nth) => {
    response.on("close", () => gone.emit("close"))
    if (nth === 1) response.writeHead(200, stream).write("data: 1\n\n")
    begun.emit("begun")
  })
  const pool = poolFor(t)
  const stopped = { ok: false, error: { kind: "network", message: "the request was stopped" }, retry: false }

  assert.deepEqual((await ask(pool, url, { signal: AbortSignal.abort() })).ended, stopped)
  assert.equal(asked.length, 0)

  const waiting = new AbortController()
  const first = ask(pool, url, { signal: waiting.signal })
  await once(begun, "begun")
  const firstGone = once(gone, "close")
  waiting.abort()
  assert.deepEqual((await first).ended, stopped)
  await firstGone

  const streaming = new AbortController()
  const secondGone = once(gone, "close")
  const second = ask(pool, url, { signal: streaming.signal, event: () => streaming.abort() })
  assert.deepEqual((await second).ended, stopped)
  await secondGone
})

test("after the end nothing more is heard, even of what came in the same packet", async (t) => {
  const { url } = await serve(t, (response) => response.writeHead(200, stream).end("data: 1\n\ndata: 2\n\n"))
  const heard: string[] = []
  const controller = new AbortController()
  const event = ({ data }: Heard) => {
    heard.push(data)
    controller.abort()
  }
  await ask(poolFor(t), url, { signal: controller.signal, event })
  assert.deepEqual(heard, ["1"])
})

test("done ends an exchange whose server does not, and its socket is not kept", async (t) => {
  const closed = new EventEmitter()
  const { url } = await serve(t, (response) => {
    response.on("close", () => closed.emit("closed"))
    response.writeHead(200, stream).write("data: stop\n\ndata: more\n\n")
  })
  const gone = once(closed, "closed")
  const heard: string[] = []
  const { ended } = await ask(poolFor(t), url, {
    event: ({ data }, done) => {
      heard.push(data)
      done()
    },
  })
  assert.deepEqual(ended, { ok: true })
  assert.deepEqual(heard, ["stop"])
  await gone
})

test("done leaves the socket to the next exchange where the body ends by itself", async (t) => {
  const { url, sockets } = await serve(t, (response) => response.writeHead(200, stream).end("data: stop\n\n"))
  const pool = poolFor(t)
  for (let i = 0; i < 5; i++) {
    await ask(pool, url, { event: (_event, done) => done() })
    await new Promise(setImmediate)
  }
  assert.equal(sockets(), 1)
})

test("a kept socket that the server closes as we take it costs nothing but another send", async (t) => {
  const { url, asked, sockets } = await serve(t, (response, _asked, nth) => {
    if (nth === 1) response.socket?.destroy()
    else response.writeHead(200, stream).end("data: 1\n\n")
  })
  const pool = poolFor(t)
  assert.deepEqual((await ask(pool, url)).ended, { ok: true })
  assert.deepEqual(await ask(pool, url), { ended: { ok: true }, heard: [{ data: "1" }] })
  assert.equal(asked.length, 3)
  assert.equal(sockets(), 2)
})

test("a new socket that is reset is a failure of the network", async (t) => {
  const { url, asked } = await serve(t, (response) => response.socket?.destroy())
  const { ended } = await ask(poolFor(t), url)
  const message = `the connection to ${new URL(url).host} failed (ECONNRESET)`
  assert.deepEqual(ended, { ok: false, error: { kind: "network", message }, retry: true })
  assert.equal(asked.length, 1)
})

test("nobody listening, no such name and no trusted connection are failures of the network that say what to check", async (t) => {
  const { url, server } = await serve(t, () => {})
  const pool = poolFor(t)
  const tls = (await ask(pool, url.replace("http:", "https:"))).ended
  await new Promise((resolve) => server.close(resolve))
  const nobody = (await ask(pool, url)).ended
  const nowhere = (await ask(pool, "http://nowhere.invalid")).ended
  for (const [ended, words] of [
    [tls, /no trusted connection .*NODE_EXTRA_CA_CERTS/],
    [nobody, /nothing listens at .*ECONNREFUSED/],
    [nowhere, /cannot be resolved/],
  ] as const) {
    assert.ok(!ended.ok)
    assert.equal(ended.error.kind, "network")
    assert.equal(ended.retry, true)
    assert.match(ended.error.message, words)
  }
})

test("a request that cannot be sent is refused without its key", async (t) => {
  const pool = poolFor(t)
  const headers = { "x-api-key": "sk-\nsecret" }
  const broken = (await ask(pool, "http://127.0.0.1:1", { headers })).ended
  const message = 'the request cannot be sent: Invalid character in header content ["x-api-key"]'
  assert.deepEqual(broken, { ok: false, error: { kind: "bad_request", message }, retry: false })
  const lost = (await ask(pool, "not a url")).ended
  const error = { kind: "bad_request", message: "the request cannot be sent: Invalid URL" }
  assert.deepEqual(lost, { ok: false, error, retry: false })
})

test("a bug in whoever listens is an internal failure, and a bug in an explanation does not hide the status", async (t) => {
  const { url } = await serve(t, (response, { path }) =>
    response.writeHead(path === "/bad" ? 500 : 200, stream).end("data: 1\n\n"),
  )
  const pool = poolFor(t)
  const bug = () => assert.fail("oops")
  const heard = (await ask(pool, url, { event: bug })).ended
  const internal = { kind: "internal", message: "reading the answer failed: oops" }
  assert.deepEqual(heard, { ok: false, error: internal, retry: false })
  const explained = (await ask(pool, `${url}/bad`, { explain: bug })).ended
  assert.deepEqual(explained, { ok: false, error: failureOf(500, "data: 1"), retry: true })
})

test("a thousand exchanges leave no listener on their signal and no warning", async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on("warning", warn)
  t.after(() => process.off("warning", warn))
  const { url } = await serve(t, (response) => response.writeHead(200, stream).end("data: 1\n\n"))
  const pool = poolFor(t)
  const { signal } = new AbortController()
  for (let i = 0; i < 10; i++) {
    const all = await Promise.all(Array.from({ length: 100 }, () => ask(pool, url, { signal })))
    assert.ok(all.every(({ ended }) => ended.ok))
  }
  assert.equal(getEventListeners(signal, "abort").length, 0)
  await new Promise(setImmediate)
  assert.deepEqual(warnings, [])
})

test("a proxy of the environment is used", async (t) => {
  const { url, asked } = await serve(t, (response) => response.writeHead(200, stream).end("data: 1\n\n"))
  const { ended } = await ask(poolFor(t, { http_proxy: url }), "http://model.invalid/v1")
  assert.deepEqual(ended, { ok: true })
  assert.equal(asked[0]?.path, "http://model.invalid/v1")
})
