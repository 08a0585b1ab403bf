import assert from "node:assert/strict"
import { open, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { linesOf } from "../../src/store/lines.ts"
import type { Store } from "../../src/store/store.ts"
import { anyFacts } from "./facts.ts"
import { temporary } from "./folder.ts"
import { headerOf, opened, said } from "./samples.ts"

const header = headerOf("session-one")
const facts = [opened(1), said(2, "žluťoučký kůň 🐎"), said(3, "the end")]
const lineOf = (value: object) => `${JSON.stringify(value)}\n`
const whole = [header, ...facts].map(lineOf)

type Written = { store: Store; path: string; write(content: string | Buffer): Promise<void> }

async function written(folder: string): Promise<Written> {
  const store = jsonl({ folder })
  await (await store.create(header)).close()
  const path = join(folder, "sessions", `${header.id}.jsonl`)
  return { store, path, write: (content) => writeFile(path, content) }
}

test("a file cut at any byte keeps every line that was whole, and can be gone on with", async (t) => {
  const { store, path, write } = await written(await temporary(t))
  const bytes = Buffer.from(whole.join(""))
  for (let cut = Buffer.byteLength(whole[0]!); cut <= bytes.length; cut++) {
    await write(bytes.subarray(0, cut))
    const kept: Stamped<Fact>[] = []
    let end = Buffer.byteLength(whole[0]!)
    for (const [index, fact] of facts.entries()) {
      const next = end + Buffer.byteLength(whole[index + 1]!)
      // All of a line but its end is all of a fact.
      if (cut < next - 1) break
      kept.push(fact)
      end = next
    }
    const torn = Math.max(0, cut - end)
    const lost = torn > 0 ? [`the last line was torn (${torn} ${torn === 1 ? "byte" : "bytes"} dropped)`] : []
    const before = await readFile(path)
    const { held, stored } = await store.hold(header.id)
    assert.deepEqual(stored, { header, facts: kept, lost })
    held.append(said(9, "on"))
    await held.close()
    const again = await store.read(header.id)
    const skipped = torn > 0 ? [`1 line was not readable (line ${kept.length + 2})`] : []
    assert.deepEqual(again, { header, facts: [...kept, said(9, "on")], lost: skipped })
    assert.deepEqual((await readFile(path)).subarray(0, before.length), before)
  }
})

test("garbage anywhere is skipped and counted, and everything else is kept", async (t) => {
  const { store, write } = await written(await temporary(t))
  const garbage = fc.oneof(
    fc
      .uint8Array({ minLength: 1, maxLength: 40 })
      .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 0 : byte)))),
    fc.constantFrom("\0\0\0\0", "", "{", "[]", "null", '{"seq":1}', "7").map((text) => Buffer.from(text)),
    fc.constant(Buffer.from(lineOf({ seq: 1, at: 1, run: "r0", type: "mail.sent", text: 5 }).trim())),
    fc.constant(
      Buffer.concat([
        Buffer.from('{"seq":1,"at":1,"run":"r0","type":"mail.sent","text":"'),
        Buffer.from([0xff]),
        Buffer.from('"}'),
      ]),
    ),
  )
  const law = fc.asyncProperty(
    anyFacts(),
    fc.array(fc.tuple(fc.nat(), garbage), { maxLength: 8 }),
    async (some, bad) => {
      const short = some.filter(
        (fact) => JSON.stringify(fact).length < 10_000 && !JSON.stringify(fact).includes("$blob"),
      )
      const lines = short.map((fact) => ({ good: true, bytes: Buffer.from(JSON.stringify(fact)) }))
      for (const [at, bytes] of bad) lines.splice(at % (lines.length + 1), 0, { good: false, bytes })
      await write(
        Buffer.concat([Buffer.from(lineOf(header)), ...lines.flatMap(({ bytes }) => [bytes, Buffer.from("\n")])]),
      )
      const numbers = lines.flatMap(({ good }, index) => (good ? [] : [index + 2]))
      const lost =
        numbers.length === 0
          ? []
          : [
              `${numbers.length} ${numbers.length === 1 ? "line was" : "lines were"} not readable (${numbers.length === 1 ? "line" : "lines"} ${numbers.join(", ")})`,
            ]
      assert.deepEqual(await store.read(header.id), { header, facts: short, lost })
    },
  )
  await fc.assert(law, { numRuns: 100 })
})

test("long lists of unreadable lines are cut short", async (t) => {
  const { store, write } = await written(await temporary(t))
  await write(`${lineOf(header)}${"?\n".repeat(12)}`)
  assert.deepEqual((await store.read(header.id)).lost, [
    "12 lines were not readable (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more)",
  ])
})

test("lines that stand twice count once", async (t) => {
  const { store, write } = await written(await temporary(t))
  await write([...whole, whole[2], whole[1], lineOf(said(4, "new"))].join(""))
  assert.deepEqual(await store.read(header.id), {
    header,
    facts: [...facts, said(4, "new")],
    lost: ["2 lines were there twice and dropped (lines 5, 6)"],
  })
})

test("facts of an unknown kind are counted and left in the file", async (t) => {
  const { store, path, write } = await written(await temporary(t))
  const stranger = lineOf({ seq: 4, at: 4, run: "r0", type: "run.teleported", to: "mars" })
  await write([...whole, stranger].join(""))
  const { held, stored } = await store.hold(header.id)
  assert.deepEqual(stored, { header, facts, lost: ["1 fact of a kind this version does not know"] })
  await held.close()
  assert.equal(await readFile(path, "utf8"), [...whole, stranger].join(""))
})

test("every field that the engine relies on is checked", async (t) => {
  const { store, write } = await written(await temporary(t))
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const turn = { seq: 1, at: 1, run: "r0", type: "turn.ended", parts: [], stop: "end", usage, cost: null, ms: 1 }
  const call = { seq: 1, at: 1, run: "r0", type: "call.ended", id: "c", ok: true, text: "", ms: 1 }
  const broken = [
    { ...turn, seq: "1" },
    { ...turn, seq: 1.5 },
    { ...turn, run: null },
    { ...turn, parts: {} },
    { ...turn, parts: [{ type: "call", id: 1, name: "x", input: {} }] },
    { ...turn, parts: [{ type: "constructor" }] },
    { ...turn, stop: "whenever" },
    { ...turn, usage: { ...usage, reasoning: undefined } },
    { ...turn, cost: "1" },
    { ...call, details: { kind: "todo", items: 5 } },
    { ...call, touched: [{ did: "wrote", path: "/a", hash: "b" }] },
    { ...call, images: [{}] },
    { ...opened(1), origin: { run: "r0" } },
    { seq: 1, at: 1, run: "r0", type: "run.settled", ms: 1, outcome: { status: "failed", text: "" } },
    { seq: 1, at: 1, run: "r0", type: "gate.asked", call: "c", access: { kind: "read", path: "/a" } },
  ]
  for (const fact of broken) {
    await write(lineOf(header) + lineOf(fact))
    assert.deepEqual(await store.read(header.id), { header, facts: [], lost: ["1 line was not readable (line 2)"] })
  }
  await write(lineOf(header) + lineOf(turn) + lineOf({ ...call, seq: 2 }))
  assert.deepEqual(await store.read(header.id), { header, facts: [turn, { ...call, seq: 2 }], lost: [] })
})

test("a session of a newer version is refused, not altered, and not left locked", async (t) => {
  const { store, path, write } = await written(await temporary(t))
  const newer = lineOf({ ...header, legwork: 2, version: "9.1.0" }) + whole.slice(1).join("")
  await write(newer)
  const refusal = {
    name: "StoreError",
    code: "newer_version",
    message: /session-one was written by Legwork 9\.1\.0 in format 2, .*; update Legwork/,
  }
  await assert.rejects(store.read(header.id), refusal)
  await assert.rejects(store.hold(header.id), refusal)
  await assert.rejects(store.hold(header.id), refusal)
  assert.equal(await readFile(path, "utf8"), newer)
})

test("a file without a header is refused with its path", async (t) => {
  const { store, path, write } = await written(await temporary(t))
  for (const content of ["", "\n", whole[0]!.slice(0, 20), `\0${whole.join("")}`, whole.slice(1).join("")]) {
    await write(content)
    const refusal = {
      name: "StoreError",
      code: "bad_session",
      message: new RegExp(`session-one cannot be read.*${path}`),
    }
    await assert.rejects(store.read(header.id), refusal)
    await assert.rejects(store.hold(header.id), refusal)
  }
})

test("lines come whole however they fall on the chunks, and one too long to hold is passed over", async (t) => {
  const path = join(await temporary(t), "lines")
  const lines = [10, 262_143, 262_144, 262_145, 600_000, 0, 1_000_000, 5].map((size, i) => String(i).repeat(size))
  await writeFile(path, lines.join("\n"))
  const file = await open(path)
  t.after(() => file.close())
  const read: unknown[] = []
  for await (const lines of linesOf(file, 600_000))
    for (const { bytes, size, ended } of lines) read.push({ text: bytes?.toString(), size, ended })
  assert.deepEqual(
    read,
    lines.map((text, i) => ({ text: i === 6 ? undefined : text, size: text.length, ended: i < 7 })),
  )
})
