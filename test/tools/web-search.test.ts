import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type IncomingMessage, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { type TestContext, test } from "node:test"
import { webSearch } from "../../src/tools/web-search.ts"
import { desk } from "./desk.ts"

const key = "BSA-very-secret"

async function search(t: TestContext, listener: RequestListener, input: object, timeout = 5_000) {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return await (await desk(t)).call((world) => webSearch(world, { key, baseURL, timeout }), input)
}

const answering =
  (status: number, body: unknown, headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

/** A hit with more fields than we read, as Brave sends them. */
const hit = (title: string, url: string, description?: string) => ({
  type: "search_result",
  title,
  url,
  description,
  language: "en",
})

test("hits come as a numbered list without markup", async (t) => {
  const seen: IncomingMessage[] = []
  const results = [
    hit("Node <strong>docs</strong> &amp; more", "https://nodejs.org/", "About\n <strong>fs</strong>."),
    hit("Bare", "https://e.org/x"),
  ]
  const listener: RequestListener = (request, response) => {
    seen.push(request)
    answering(200, { type: "search", query: {}, web: { type: "search", results } })(request, response)
  }
  assert.deepEqual(await search(t, listener, { query: "node fs & more", count: 5 }), {
    ok: true,
    text: "1. Node docs & more — https://nodejs.org/\n   About fs.\n\n2. Bare — https://e.org/x",
    details: { kind: "found", shown: 2, total: 2 },
  })
  assert.equal(seen[0]?.url, "/res/v1/web/search?q=node+fs+%26+more&count=5")
  assert.equal(seen[0]?.headers["x-subscription-token"], key)
})

test("more hits than were asked for are not shown", async (t) => {
  const results = ["a", "b", "c"].map((name) => hit(name, `https://${name}.org/`))
  const { text } = await search(t, answering(200, { web: { results } }), { query: "q", count: 2 })
  assert.equal(text, "1. a — https://a.org/\n\n2. b — https://b.org/")
})

test("no hits are said to be none", async (t) => {
  assert.deepEqual(await search(t, answering(200, { type: "search" }), { query: "q" }), {
    ok: true,
    text: 'nothing was found for "q"',
    details: { kind: "found", shown: 0, total: 0 },
  })
})

for (const [what, listener, text] of [
  [
    "a refused key",
    answering(401, { error: key }),
    "the search server refused the key (status 401); the user must set a valid BRAVE_API_KEY",
  ],
  [
    "an invalid request",
    answering(422, {}),
    "the search server refused the request (status 422): the key or the query is not valid",
  ],
  [
    "a rate limit",
    answering(429, {}, { "retry-after": "7" }),
    "the search server allows no more requests for now (status 429); try again in 7 s, or go on without",
  ],
  [
    "a rate limit with no time",
    answering(429, {}),
    "the search server allows no more requests for now (status 429); try again later, or go on without",
  ],
  [
    "a server error",
    answering(503, {}),
    "the search server answered with status 503; try again later, or go on without",
  ],
  [
    "another form",
    answering(200, { web: { results: [1] } }),
    "the search server's answer was not of the form that Brave's API has; the user should check its base URL",
  ],
] as [string, RequestListener, string][]) {
  test(`${what} is told with what to do`, async (t) => {
    assert.deepEqual(await search(t, listener, { query: "q" }), { ok: false, text })
  })
}

test("an answer that is not JSON is no crash", async (t) => {
  const { ok, text } = await search(t, (_, response) => response.end("<html>"), { query: "q" })
  assert.deepEqual([ok, text.includes("not of the form")], [false, true])
})

test("a silent server ends the call in time", async (t) => {
  assert.match((await search(t, () => {}, { query: "q" }, 200)).text, /did not answer in full within 0\.2 s$/)
})

test("the key reaches no other server and no message, whatever the server does", async (t) => {
  const moved = await search(
    t,
    (_, response) => response.writeHead(302, { location: `http://127.0.0.1:1/${key}` }).end(),
    { query: "q" },
  )
  assert.match(moved.text, /answered with a redirect, which is not followed here, to http:\/\/127\.0\.0\.1:1\/…$/)
  const echoed = await search(t, answering(200, { web: { results: [hit(key, `https://e.org/${key}`, key)] } }), {
    query: key,
  })
  assert.equal(echoed.text, "1. … — https://e.org/…\n   …")
})

test("empty queries and counts out of range are refused", async (t) => {
  for (const input of [{ query: " " }, { query: "q", count: 0 }, { query: "q", count: 21 }, { query: "q", page: 2 }]) {
    assert.equal((await search(t, answering(200, {}), input)).ok, false)
  }
})

test("what it wants to touch is the search server, and by default that is Brave's", async (t) => {
  const at = await desk(t)
  assert.deepEqual(await at.access((world) => webSearch(world, { key }), { query: "q" }), {
    kind: "fetch",
    url: "https://api.search.brave.com",
  })
})
