import assert from "node:assert/strict"
import { once } from "node:events"
import { Agent, get, request } from "node:http"
import test from "node:test"
import { call, type Reply, serve, status, steps, tries } from "../../src/testing.ts"
import { bodies, formats, paths, post } from "./client.ts"

test("every path is served with and without /v1, and with a query", async () => {
  await using server = await serve(() => "ok")
  for (const format of formats) {
    const bare = paths[format].replace("/v1", "")
    for (const path of [paths[format], bare, `${bare}?beta=true`])
      assert.equal((await post(server.url, format, { path })).status, 200)
  }
  assert.deepEqual(
    server.requests.map(({ format }) => format),
    formats.flatMap((format) => [format, format, format]),
  )
})

test("other paths and methods are not found", async () => {
  await using server = await serve(() => "ok")
  for (const options of [{ path: "/v1/models" }, { path: "/v2/v1/messages" }, { method: "PUT" }]) {
    const { status, text } = await post(server.url, "anthropic", options)
    assert.equal(status, 404)
    assert.equal(JSON.parse(text).error.type, "not_found_error")
  }
})

test("a request without a key is not authorised", async () => {
  await using server = await serve(() => "ok")
  const version = { "anthropic-version": "2023-06-01" }
  const tried = async (format: "anthropic" | "chat" | "responses", headers: Record<string, string>) =>
    (await post(server.url, format, { headers: { ...version, ...headers } })).status
  assert.equal(await tried("anthropic", {}), 401)
  assert.equal(await tried("anthropic", { "x-api-key": "k" }), 200)
  assert.equal(await tried("anthropic", { authorization: "Bearer k" }), 200)
  assert.equal(await tried("chat", { "x-api-key": "k" }), 401)
  assert.equal(await tried("chat", { authorization: "Bearer " }), 401)
  assert.equal(await tried("responses", { authorization: "Bearer k" }), 200)
})

test("the Messages API wants to know its version", async () => {
  await using server = await serve(() => "ok")
  const { status, text } = await post(server.url, "anthropic", { headers: { "x-api-key": "k" } })
  assert.equal(status, 400)
  assert.match(JSON.parse(text).error.message, /anthropic-version/)
})

test("an illegal request is refused in the provider's shape, never reaches the script, and is remembered", async () => {
  await using server = await serve(() => assert.fail("the script must not see it"))
  const anthropic = await post(server.url, "anthropic", { body: { ...bodies.anthropic, max_tokens: 0 } })
  const chat = await post(server.url, "chat", { body: "{not json" })
  assert.deepEqual(JSON.parse(anthropic.text), {
    type: "error",
    error: { type: "invalid_request_error", message: "max_tokens: a positive integer is required" },
    request_id: "req_test",
  })
  assert.deepEqual(JSON.parse(chat.text), {
    error: { message: "the body is not a JSON object", type: "invalid_request_error", param: null, code: null },
  })
  assert.deepEqual([anthropic.status, chat.status, server.requests.length], [400, 400, 0])
  assert.deepEqual(server.refused[1], {
    path: "/v1/chat/completions",
    status: 400,
    message: "the body is not a JSON object",
    raw: "{not json",
  })
})

test("the script sees the request as it was, and the text of its last message", async () => {
  await using server = await serve(() => "ok")
  const raw = ` ${JSON.stringify(bodies.chat)}\n`
  await post(server.url, "chat", { body: raw })
  const { signal, headers, ...asked } = server.requests[0]!
  assert.deepEqual(asked, {
    format: "chat",
    model: "m",
    system: "",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    last: "hello",
    body: bodies.chat,
    raw,
  })
  assert.equal(headers.authorization, "Bearer k")
})

test("the same request gets the same bytes, whenever it comes", async () => {
  await using server = await serve(() => ({ reasoning: "hm", text: "hi", calls: [call("ls")] }))
  for (const format of formats) {
    const [one, other] = [await post(server.url, format), await post(server.url, format)]
    assert.equal(one.text, other.text)
  }
})

test("a script that throws is told to the client, once, and remembered", async () => {
  await using server = await serve(({ tools }) => assert.deepEqual(tools, ["read"], "it must offer read") as never)
  const { status, text } = await post(server.url, "chat")
  assert.equal(status, 400)
  assert.match(JSON.parse(text).error.message, /^the script threw: it must offer read\n/)
  assert.equal(server.refused.length, 1)
})

test("the signal tells that the client went away", async () => {
  let arrived: (signal: AbortSignal) => void = () => {}
  const signal = new Promise<AbortSignal>((resolve) => (arrived = resolve))
  await using server = await serve(async (asked) => {
    arrived(asked.signal)
    await once(asked.signal, "abort")
    return "too late"
  })
  const control = new AbortController()
  const lost = assert.rejects(post(server.url, "chat", { signal: control.signal }), { code: "ABORT_ERR" })
  const heard = await signal
  assert.deepEqual([heard.aborted, server.pending], [false, 1])
  const gone = once(heard, "abort")
  control.abort()
  await Promise.all([gone, lost])
  assert.equal(server.pending, 0)
})

test("closing breaks what is open, and frees the port", async () => {
  let arrived = () => {}
  const here = new Promise<void>((resolve) => (arrived = resolve))
  const server = await serve(() => {
    arrived()
    return new Promise<Reply>(() => {})
  })
  const lost = assert.rejects(post(server.url, "chat"), { code: "ECONNRESET" })
  await here
  await server.close()
  await lost
  await assert.rejects(post(server.url, "chat"), { code: "ECONNREFUSED" })
  const again = await serve(() => "ok", { port: Number(new URL(server.url).port) })
  assert.equal(again.url, server.url)
  await again.close()
})

test("a port that is taken is an error, not a silence", async () => {
  await using server = await serve(() => "ok")
  await assert.rejects(
    serve(() => "ok", { port: Number(new URL(server.url).port) }),
    { code: "EADDRINUSE" },
  )
})

test("connections are counted, and kept open for the next request", async () => {
  await using server = await serve(() => "ok")
  const agent = new Agent({ keepAlive: true })
  for (let n = 0; n < 3; n++) {
    const sent = request(`${server.url}/v1/chat/completions`, {
      agent,
      method: "POST",
      headers: { authorization: "Bearer k" },
    })
    sent.end(JSON.stringify(bodies.chat))
    const [response] = await once(sent, "response")
    response.resume()
    await once(response, "end")
  }
  agent.destroy()
  assert.equal(server.connections, 1)
  assert.equal(server.requests.length, 3)
})

test("a client that leaves before it has said all does no harm", async () => {
  await using server = await serve(() => "ok")
  const sent = request(`${server.url}/v1/chat/completions`, { method: "POST", headers: { "content-length": "100" } })
  sent.on("error", () => {})
  sent.flushHeaders()
  sent.write("half")
  await once(sent, "socket")
  sent.destroy()
  assert.equal((await post(server.url, "chat")).status, 200)
  await new Promise((resolve) => get(server.url, (response) => response.resume().on("end", resolve)))
  assert.deepEqual(server.requests.length, 1)
})

test("only the latest requests are kept when so asked, and counting goes on", async () => {
  await using server = await serve((_, n) => `answer ${n}`, { keep: 2 })
  for (let n = 0; n < 3; n++) await post(server.url, "chat", { body: { ...bodies.chat, model: `m${n}` } })
  assert.deepEqual(
    server.requests.map(({ model }) => model),
    ["m1", "m2"],
  )
})

test("the environment leads every provider's client here", async () => {
  await using server = await serve(() => "ok")
  assert.deepEqual(server.env, {
    ANTHROPIC_API_KEY: "test",
    ANTHROPIC_BASE_URL: server.url,
    OPENAI_API_KEY: "test",
    OPENAI_BASE_URL: `${server.url}/v1`,
  })
})

test("steps serve conversations that run side by side, each at its own place", async () => {
  await using server = await serve(steps("first", (asked) => `second to ${asked.last}`))
  const turn = { role: "assistant", content: "first" }
  const user = (content: string) => ({ role: "user", content })
  const said = async (...messages: object[]) => {
    const { status, text } = await post(server.url, "chat", { body: { model: "m", messages } })
    return status === 200 ? JSON.parse(text).choices[0].message.content : JSON.parse(text).error.message
  }
  assert.deepEqual(
    await Promise.all([
      said(user("a")),
      said(user("b"), turn, user("c")),
      said(user("d")),
      said(user("e"), turn, user("f")),
    ]),
    ["first", "second to c", "first", "second to f"],
  )
  assert.equal(
    await said(user("a"), turn, user("b"), { role: "assistant", content: "second" }, user("c")),
    "the script has 2 steps and this is request 3: add a step",
  )
})

test("tries count for each request by itself, also within steps", async () => {
  await using server = await serve(steps(tries(status(429), status(500), "at last")))
  const tried = async (content: string) =>
    (await post(server.url, "chat", { body: { model: "m", messages: [{ role: "user", content }] } })).status
  assert.deepEqual(
    [await tried("a"), await tried("b"), await tried("a"), await tried("a"), await tried("a")],
    [429, 429, 500, 200, 200],
  )
})

test("tokens are estimated when nobody says how many", async () => {
  await using server = await serve(() => "four words are here")
  const { text } = await post(server.url, "chat", { body: { ...bodies.chat, stream: false } })
  const { usage } = JSON.parse(text)
  assert.equal(usage.prompt_tokens, Math.ceil(JSON.stringify({ ...bodies.chat, stream: false }).length / 4))
  assert.ok(usage.completion_tokens > 0)
})

test("what an assistant said in several items is one message, so that steps count right", async () => {
  await using server = await serve(() => "ok")
  const said = (text: string) => ({ role: "assistant", content: [{ type: "output_text", text }] })
  const made = { type: "function_call", call_id: "a", name: "ls", arguments: "{not json" }
  const result = { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "done" }] }
  const thought = { type: "reasoning", id: "rs", summary: [] }
  const input = [{ role: "user", content: "go" }, thought, said("one "), said("two"), made, result]
  await post(server.url, "responses", { body: { model: "m", input } })
  assert.deepEqual(server.refused, [])
  assert.deepEqual(server.requests[0]?.messages, [
    { role: "user", text: "go" },
    { role: "assistant", text: "one two", calls: [{ id: "a", name: "ls", input: "{not json" }] },
    { role: "result", text: "done", call: "a" },
  ])
})

test("a response begins in progress and empty, and ends whole", async () => {
  await using server = await serve(() => "hi")
  const { text } = await post(server.url, "responses")
  const events = text
    .trim()
    .split("\n\n")
    .map((event) => JSON.parse(event.slice(event.indexOf("{"))))
  const seen = events.flatMap(({ type, response }) =>
    response ? [[type, response.status, response.output.length]] : [],
  )
  assert.deepEqual(seen, [
    ["response.created", "in_progress", 0],
    ["response.in_progress", "in_progress", 0],
    ["response.completed", "completed", 1],
  ])
  assert.deepEqual(
    events.map(({ sequence_number }) => sequence_number),
    [...events.keys()],
  )
})
