import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { truncate } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { hashOf } from "../../src/tools/files.ts"
import { Lines } from "../../src/tools/lines.ts"
import { read } from "../../src/tools/read.ts"
import { desk } from "./desk.ts"

const numbered = (lines: string[], first = 1) =>
  lines.map((line, index) => `${String(first + index).padStart(6)}\t${line}`).join("\n")

const upTo = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`)

test("a file is read with line numbers, and its hash is told", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "one\n\n  three" })
  const hash = createHash("sha256").update("one\n\n  three").digest("hex").slice(0, 32)
  assert.equal(hashOf(Buffer.from("one\n\n  three")), hash)
  assert.deepEqual(await call(read, { file_path: "a.txt" }), {
    ok: true,
    text: "     1\tone\n     2\t\n     3\t  three",
    touched: [{ did: "read", path: join(root, "a.txt"), hash }],
  })
})

test("2,000 lines are shown, and how to get the others", async (t) => {
  const { put, call } = await desk(t)
  await put({ "long.txt": `${upTo(2_500).join("\n")}\n` })
  const { text } = await call(read, { path: "long.txt" })
  assert.equal(text, `${numbered(upTo(2_000))}\n\n(lines 1-2000 of 2500; go on with offset 2001)`)
})

test("offset and limit choose a window of the file, and the whole file still counts as read", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": `${upTo(10).join("\n")}\n` })
  const output = await call(read, { path: "a.txt", offset: 9, limit: 5 })
  assert.equal(output.text, `${numbered(["line 9", "line 10"], 9)}\n\n(lines 9-10 of 10)`)
  const hash = hashOf(Buffer.from(`${upTo(10).join("\n")}\n`))
  assert.deepEqual(output.touched, [{ did: "read", path: join(root, "a.txt"), hash }])
  const past = await call(read, { path: "a.txt", offset: 11 })
  assert.deepEqual(past, { ok: false, text: "a.txt has only 10 lines: there is no line 11" })
})

test("long lines are cut, never within a character, and much text ends with a whole line", async (t) => {
  const { put, call } = await desk(t)
  await put({ "a.txt": `${"😀".repeat(2_000)}\nshort\n`, "b.txt": `${"x".repeat(1_000)}\n`.repeat(100) })
  const { text } = await call(read, { path: "a.txt" })
  assert.equal(text, `     1\t${"😀".repeat(1_000)}… [cut: this line has 8000 bytes]\n     2\tshort`)
  const much = await call(read, { path: "b.txt" })
  assert.ok(much.text.length <= 50_000)
  assert.match(much.text, /x\n\n\(lines 1-48 of 100; go on with offset 49\)$/)
})

test("an empty file, a folder, a binary file and a missing file are each said to be so", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "empty.txt": "", "data.bin": Buffer.from([1, 2, 0, 3]), "src/config.ts": "x", "lib/deep/config.ts": "x" })
  assert.equal((await call(read, { path: "empty.txt" })).text, "(empty.txt is empty)")
  assert.deepEqual(await call(read, { path: "src" }), {
    ok: false,
    text: `${join(root, "src")} is a folder: use ls to see what is in it`,
  })
  assert.deepEqual(await call(read, { path: "data.bin" }), {
    ok: false,
    text: "data.bin is a binary file (4 bytes): look at it with bash, for instance file or xxd",
  })
  assert.deepEqual(await call(read, { path: "src/confg.ts" }), {
    ok: false,
    text: "there is nothing at src/confg.ts; did you mean src/config.ts?",
  })
  assert.deepEqual(await call(read, { path: "config.ts" }), {
    ok: false,
    text: "there is nothing at config.ts; did you mean lib/deep/config.ts, src/config.ts?",
  })
  assert.deepEqual(await call(read, { path: "zzzzzz" }), {
    ok: false,
    text: "there is nothing at zzzzzz: use glob or ls to find it",
  })
})

test("images are shown to models that can look, by what they are and not by their name", async (t) => {
  const { root, put, call } = await desk(t)
  const images = {
    "image/png": Buffer.from("89504e470d0a1a0a00000000", "hex"),
    "image/jpeg": Buffer.from("ffd8ffe000104a4649460001", "hex"),
    "image/gif": Buffer.from("GIF89a\0\0\0\0\0\0", "latin1"),
    "image/webp": Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"),
  }
  for (const [mediaType, bytes] of Object.entries(images)) {
    await put({ picture: bytes })
    assert.deepEqual(await call(read, { path: "picture" }, { images: true }), {
      ok: true,
      text: `picture: image (${mediaType}, ${bytes.length} bytes)`,
      images: [{ mediaType, data: bytes.toString("base64") }],
      touched: [{ did: "read", path: join(root, "picture"), hash: hashOf(bytes) }],
    })
    assert.deepEqual(await call(read, { path: "picture" }), {
      ok: false,
      text: "picture is an image, and this model cannot look at images",
    })
  }
  await truncate(join(root, "picture"), 6 * 1024 * 1024)
  assert.match((await call(read, { path: "picture" }, { images: true })).text, /make it smaller/)
})

test("UTF-16 is read by its mark, a UTF-8 mark is left out, and bytes that are no text are marked", async (t) => {
  const { put, call } = await desk(t)
  const wide = Buffer.from("\uFEFFgrüße\nzwei\n", "utf16le")
  await put({
    le: wide,
    be: Buffer.from(wide).swap16(),
    bom: "\uFEFFeins\r\nzwei\r\n",
    latin: Buffer.from("gr\xfc\xdfe\n", "latin1"),
  })
  assert.equal((await call(read, { path: "le" })).text, numbered(["grüße", "zwei"]))
  assert.equal((await call(read, { path: "be" })).text, numbered(["grüße", "zwei"]))
  assert.equal((await call(read, { path: "bom" })).text, numbered(["eins", "zwei"]))
  assert.equal(
    (await call(read, { path: "latin" })).text,
    `${numbered(["gr\uFFFD\uFFFDe"])}\n\n(some bytes are not UTF-8 and are shown as \uFFFD)`,
  )
})

test("a huge file is read only by window, without being loaded, and does not count as read", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "text.txt": `${"y".repeat(1023)}\n`.repeat(52 * 1024) })
  assert.deepEqual(await call(read, { path: "text.txt" }), {
    ok: false,
    text: "text.txt has 54525952 bytes: read a part of it with offset and limit, or grep it",
  })
  // Mostly a hole, and far more than could be read in time.
  await truncate(join(root, "text.txt"), 1024 ** 4)
  const part = await call(read, { path: "text.txt", offset: 3, limit: 1 })
  assert.deepEqual(part, {
    ok: true,
    text: `     3\t${"y".repeat(1023)}\n\n(lines 3-3; the file is too large to edit; go on with offset 4)`,
  })
})

test("a read that is stopped ends", async (t) => {
  const { put, call } = await desk(t)
  await put({ "a.txt": "a" })
  const output = await call(read, { path: "a.txt" }, { signal: AbortSignal.abort(new Error("stopped")) })
  assert.deepEqual(output, { ok: false, text: "stopped" })
})

test("arguments that do not belong are told, not ignored", async (t) => {
  const { call } = await desk(t)
  const refused = await Promise.all([
    call(read, { path: "a", encoding: "latin1" }),
    call(read, {}),
    call(read, { path: 7 }),
    call(read, { path: "a", limit: 0 }),
    call(read, { path: "a", offset: 1.5 }),
    call(read, JSON.parse('{"path":"a","__proto__":{"x":1}}')),
    call(read, "a.txt"),
  ])
  assert.deepEqual(
    refused.map(({ ok }) => ok),
    refused.map(() => false),
  )
})

test("law: lines are the same however the bytes arrive", () => {
  const text = fc.array(fc.constantFrom("a", "\n", "\r\n", "é", "😀", "  ")).map((parts) => parts.join(""))
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), fc.integer({ min: 1, max: 5 }), (whole, cuts, offset) => {
      const bytes = Buffer.from(whole)
      const lines = new Lines({ offset, limit: 3, width: 2_000, room: 50_000 })
      let from = 0
      for (const to of [...new Set(cuts)].filter((cut) => cut < bytes.length).sort((a, b) => a - b)) {
        lines.push(bytes.subarray(from, to))
        from = to
      }
      lines.push(bytes.subarray(from))
      lines.end()
      const all = whole.split("\n")
      if (all.at(-1) === "") all.pop()
      const shown = all.slice(offset - 1, offset + 2).map((line) => line.replace(/\r$/, ""))
      assert.equal(lines.shown.join("\n"), shown.length > 0 ? numbered(shown, offset) : "")
      assert.equal(lines.total, all.length)
      assert.equal(lines.lossy, false)
    }),
  )
})
