import assert from "node:assert/strict"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { type TestContext, test } from "node:test"
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib"
import fc from "fast-check"
import { isPrivate } from "../../src/tools/addresses.ts"
import { download } from "../../src/tools/download.ts"
import { markdown } from "../../src/tools/markdown.ts"
import { webFetch } from "../../src/tools/web-fetch.ts"
import { desk } from "./desk.ts"

type Options = Partial<Parameters<typeof webFetch>[1]>

async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const page =
  (type: string, body: string | Buffer, headers = {}): RequestListener =>
  (_, response) =>
    response.writeHead(200, { ...(type && { "content-type": type }), ...headers }).end(body)

async function get(t: TestContext, url: string, options: Options = {}) {
  return await (await desk(t)).call((world) => webFetch(world, { allowPrivate: true, ...options }), { url })
}

/** What comes below the heading. */
const body = (text: string): string => text.slice(text.indexOf("\n\n") + 2)

test("a page comes as Markdown, with its address, status and size", async (t) => {
  const html =
    "<!doctype html><title>Hi &amp; ho</title><script>x()</script><nav>menu</nav><h2>One</h2><p>see <a href='../b?x=1'>this</a>"
  const base = await serve(t, page("text/html; charset=utf-8", html))
  assert.deepEqual(await get(t, `${base}/a/c`), {
    ok: true,
    text: `${base}/a/c (200, text/html; charset=utf-8)\n\n# Hi & ho\n\n## One\n\nsee [this](${base}/b?x=1)`,
    details: { kind: "page", url: `${base}/a/c`, status: 200, bytes: html.length },
  })
})

test("JSON and plain text come as they are, but for control characters", async (t) => {
  const json = await serve(t, page("application/json", '{"a": "<b>"}'))
  assert.equal(body((await get(t, json)).text), '{"a": "<b>"}')
  const text = await serve(t, page("text/plain", "a\r\nb\rc\u001b[31m red\u0007"))
  assert.equal(body((await get(t, text)).text), "a\nb\nc red")
})

test("what is no text is refused with its type and size", async (t) => {
  const base = await serve(t, page("image/png", Buffer.alloc(300)))
  assert.deepEqual(await get(t, `${base}/x.png`), {
    ok: false,
    text: `${base}/x.png is image/png (300 bytes), which is no text; to have the file, download it with a command`,
  })
})

test("a type that is not given is told from the bytes", async (t) => {
  const text = await serve(t, page("", "words"))
  assert.equal((await get(t, text)).text, `${text}/ (200, no type given)\n\nwords`)
  const bytes = await serve(t, page("", Buffer.from([1, 0, 2])))
  assert.match((await get(t, bytes)).text, /is binary data \(3 bytes\)/)
})

test("a status that is no success fails the call and shows what the server said", async (t) => {
  const base = await serve(t, (_, response) =>
    response.writeHead(404, { "content-type": "text/plain" }).end("no such page"),
  )
  assert.deepEqual(await get(t, base), {
    ok: false,
    text: `${base}/ (404, text/plain)\n\nno such page`,
    details: { kind: "page", url: `${base}/`, status: 404, bytes: 12 },
  })
})

test("bodies are unpacked: gzip, brotli, deflate with and without its wrapper", async (t) => {
  const text = "words ".repeat(1_000).trim()
  for (const [encoding, packed] of [
    ["gzip", gzipSync(text)],
    ["br", brotliCompressSync(text)],
    ["deflate", deflateSync(text)],
    ["deflate", deflateRawSync(text)],
    ["gzip, br", brotliCompressSync(gzipSync(text))],
  ] as const) {
    const base = await serve(t, page("text/plain", packed, { "content-encoding": encoding }))
    assert.equal(body((await get(t, base)).text), text, encoding)
  }
})

test("a small body that unpacks to a huge one, a broken one and an unknown encoding are refused", async (t) => {
  const bomb = await serve(t, page("text/plain", gzipSync(Buffer.alloc(20_000_000)), { "content-encoding": "gzip" }))
  assert.equal((await get(t, bomb)).text, "the gzip body cannot be read: it unpacks to more than 5000000 bytes")
  const torn = await serve(t, page("text/plain", gzipSync("words").subarray(0, 12), { "content-encoding": "gzip" }))
  assert.equal((await get(t, torn)).text, "the gzip body cannot be read: it is broken or cut off")
  const odd = await serve(t, page("text/plain", "x", { "content-encoding": "compress" }))
  assert.equal((await get(t, odd)).text, "the server sent an encoding that was not asked for: compress")
})

test("too large a body is refused, announced or not, without reading on", async (t) => {
  const announced = await serve(t, page("text/plain", Buffer.alloc(2_000, "x")))
  const refusal = (url: string) =>
    `${url}/ is larger than 1000 bytes, too large to fetch; download it with a command, or fetch a part`
  assert.equal((await get(t, announced, { limit: 1_000 })).text, refusal(announced))
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const endless = await serve(t, (_, response) => {
    const more = () => response.write("x".repeat(500)) && setImmediate(more)
    response.writeHead(200, { "content-type": "text/plain" }).on("drain", more).on("close", resolve)
    more()
  })
  assert.equal((await get(t, endless, { limit: 1_000 })).text, refusal(endless))
  await closed
})

test("a server that is silent, stops midway or breaks off ends the call in time", async (t) => {
  const silent = await serve(t, () => {})
  assert.equal((await get(t, silent, { timeout: 200 })).text, `${silent} did not answer in full within 0.2 s`)
  const stuck = await serve(t, (_, response) =>
    response.writeHead(200, { "content-type": "text/plain" }).write("so far"),
  )
  assert.equal((await get(t, stuck, { timeout: 200 })).text, `${stuck} did not answer in full within 0.2 s`)
  const torn = await serve(t, (_, response) => {
    response
      .writeHead(200, { "content-type": "text/plain", "content-length": "100" })
      .write("so far", () => response.destroy())
  })
  assert.match((await get(t, torn)).text, /^http:\/\/127\.0\.0\.1:\d+ broke off its answer: aborted$/)
  assert.match(
    (await get(t, "http://127.0.0.1:1")).text,
    /^http:\/\/127\.0\.0\.1:1 could not be reached: .*ECONNREFUSED/,
  )
})

test("an abort ends a fetch at once", async (t) => {
  const abort = new AbortController()
  const base = await serve(t, () => abort.abort())
  const at = await desk(t)
  const output = await at.call(
    (world) => webFetch(world, { allowPrivate: true }),
    { url: base },
    { signal: abort.signal },
  )
  assert.match(output.text, /abort/)
})

test("the character set comes from the header, else the page, else it is UTF-8", async (t) => {
  const latin = Buffer.from("<meta charset='iso-8859-1'><p>caf\xe9", "latin1")
  for (const [type, bytes] of [
    ["text/html", latin],
    ["text/html; charset=ISO-8859-1", Buffer.from("<p>caf\xe9", "latin1")],
    ["text/html", Buffer.from("<p>café")],
    ["text/html; charset=nonsense", Buffer.from("<p>café")],
    ["text/plain", Buffer.from("\ufeffcafé", "utf16le")],
  ] as const) {
    const base = await serve(t, page(type, bytes))
    assert.equal(body((await get(t, base)).text), "café", type)
  }
})

test("a long page is cut, and the file that is named has all of it", async (t) => {
  const all = "0123456789".repeat(10_000)
  const base = await serve(t, page("text/plain", all))
  const { text } = await get(t, base)
  const path = /all of it is in (\S+):/.exec(text)?.[1] ?? ""
  assert.ok(text.length < 51_000)
  assert.equal(await readFile(path, "utf8"), `${base}/ (200, text/plain)\n\n${all}`)
})

test("redirects are followed, five at most, and the last address is told", async (t) => {
  const base = await serve(t, (request, response) => {
    const left = Number(request.url?.slice(1))
    if (left === 0) response.setHeader("content-type", "text/plain").end("arrived")
    else response.writeHead(302, { location: `/${left - 1}` }).end()
  })
  assert.equal((await get(t, `${base}/5`)).text, `${base}/0 (200, text/plain)\n\narrived`)
  assert.equal((await get(t, `${base}/6`)).text, `${base}/6 redirected more than 5 times; the last was to /0`)
})

test("only http and https without credentials are fetched, also after a redirect", async (t) => {
  for (const [url, why] of [
    ["ftp://example.com/", "only http and https can be fetched, not ftp:"],
    ["file:///etc/passwd", "only http and https can be fetched, not file:"],
    ["http://me:word@example.com/", "a URL with a user name or a password in it is not fetched; leave them out"],
    ["example.com", '"example.com" is not a URL; give one that begins with https:// or http://'],
  ] as const) {
    assert.deepEqual(await get(t, url), { ok: false, text: why })
    const base = await serve(t, (_, response) => response.writeHead(302, { location: url }).end())
    if (url.includes(":")) assert.deepEqual(await get(t, base), { ok: false, text: why })
  }
})

test("private addresses are refused however they are written", async (t) => {
  const hosts = [
    "127.0.0.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "0",
    "localhost",
    "10.1.2.3",
    "172.31.0.1",
    "192.168.1.1",
  ]
  const more = [
    "169.254.169.254",
    "100.64.0.1",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::a00:1]",
    "[fd00::1]",
    "[fe80::1]",
    "[ff02::1]",
    "224.0.0.1",
  ]
  for (const host of [...hosts, ...more]) {
    const { ok, text } = await get(t, `http://${host}:1/`, { allowPrivate: false })
    assert.equal(ok, false)
    assert.match(text, /is a private address, which is not fetched unless the user's settings allow it$/, host)
  }
})

test("a name that leads to a private address is refused, also if only one of several does", async (t) => {
  const lookup = async () => [
    { address: "93.184.216.34", family: 4 },
    { address: "10.0.0.7", family: 4 },
  ]
  assert.equal(
    (await get(t, "http://inside.example/", { allowPrivate: false, lookup })).text,
    "inside.example (10.0.0.7) is a private address, which is not fetched unless the user's settings allow it",
  )
})

test("a name is looked up once, and the address that was checked is the one connected to", async (t) => {
  const base = await serve(t, page("text/plain", "reached"))
  const answers = ["127.0.0.1", "127.0.0.2"]
  const lookup = async () => [{ address: answers.shift() ?? "127.0.0.3", family: 4 }]
  const url = base.replace("127.0.0.1", "rebinding.example")
  const refuses = (address: string) => address !== "127.0.0.1"
  const { body } = await download(url, { signal: new AbortController().signal, refuses, lookup })
  assert.equal(body.toString(), "reached")
  assert.deepEqual(answers, ["127.0.0.2"])
})

test("a redirect to a private address is refused", async (t) => {
  const base = await serve(t, (_, response) => response.writeHead(301, { location: "http://127.0.0.2:1/" }).end())
  const refuses = (address: string) => address !== "127.0.0.1"
  await assert.rejects(download(base, { signal: new AbortController().signal, refuses }), {
    message: "127.0.0.2 is a private address, which is not fetched unless the user's settings allow it",
  })
})

test("a host that is not found is told as such", async (t) => {
  const lookup = () => Promise.reject(new Error("ENOTFOUND"))
  assert.equal(
    (await get(t, "http://nowhere.example/", { lookup })).text,
    "the host nowhere.example was not found; check its spelling and the network",
  )
})

test("public addresses are not private, nor is anything beside the closed networks", () => {
  for (const address of [
    "93.184.216.34",
    "8.8.8.8",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "64:ff9b::808:808",
  ]) {
    assert.equal(isPrivate(address), false, address)
  }
  for (const address of ["not an address", "", "fe80::1%eth0", "::ffff:10.0.0.1", "255.255.255.255"]) {
    assert.equal(isPrivate(address), true, address)
  }
})

test("an IPv4 address is as private in any IPv6 clothing as bare", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom("::ffff:", "64:ff9b::"), (address, carrier) => {
      assert.equal(isPrivate(`${carrier}${address}`), isPrivate(address))
    }),
  )
})

test("Markdown keeps headings, lists, code, tables, quotes, emphasis and images", () => {
  const html = `<h1>Top</h1><p>one <b>two</b> <i>three</i> <code>a &lt; b</code><br>next</p>
    <ul><li>a<ul><li>a1</li></ul></li><li>b</li></ul><ol><li>x<li>y</ol>
    <pre><code class="x">if (a) {
  b()
}</code></pre><blockquote><p>said</p></blockquote>
    <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td><a title="1 > 0" href="/t">2</a></td></tr></table>
    <img src="i.png" alt="pic"><img src="data:image/png;base64,xx" alt="no"><a href="javascript:x()">js</a><hr><footer>foot</footer>`
  assert.equal(
    markdown(html, "https://e.org/d/"),
    [
      "# Top\n\none **two** _three_ `a < b`\nnext",
      "- a\n  - a1\n- b",
      "1. x\n2. y",
      "```\nif (a) {\n  b()\n}\n```",
      "> said",
      "| k | v |\n| --- | --- |\n| 1 | [2](https://e.org/t) |",
      "![pic](https://e.org/d/i.png)js\n\n---",
    ].join("\n\n"),
  )
})

test("hostile pages cost linear time and never throw", () => {
  const pieces = [
    "<div>",
    "<b a=1>",
    "<a><p>",
    "<table>x",
    "<ul><li>x",
    '<a b="',
    "<!--",
    "<script>",
    "</",
    "&#x",
    "<nav>",
    "<pre>",
  ]
  for (const piece of pieces) {
    const began = performance.now()
    markdown(piece.repeat(500_000 / piece.length), "https://e.org/")
    assert.ok(performance.now() - began < 2_000, piece)
  }
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces, "</a>", "</b>", "</pre>", ">", '"', "text", " ", "</nav>")),
      (parts) => {
        assert.equal(typeof markdown(parts.join(""), "https://e.org/"), "string")
      },
    ),
  )
})

test("what it wants to touch is the address, as it will be asked for", async (t) => {
  const at = await desk(t)
  const access = await at.access((world) => webFetch(world, { allowPrivate: false }), { url: "HTTP://Example.COM" })
  assert.deepEqual(access, { kind: "fetch", url: "http://example.com/" })
})
