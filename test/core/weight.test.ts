import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Message } from "../../src/core/message.ts"
import { noUsage, type Usage } from "../../src/core/usage.ts"
import {
  countBytes,
  headWithin,
  weigh,
  weighAll,
  weighed,
  weighText,
  weighTools,
  weightOf,
} from "../../src/core/weight.ts"

test("a text weighs a third of its bytes, rounded up", () => {
  const weights = ["", "a", "abc", "abcd", "éé", "漢字", "😀"].map(weighText)
  assert.deepEqual(weights, [0, 1, 1, 2, 2, 2, 2])
  const text = fc.string({ unit: "binary", maxLength: 60 }).map((each) => each.toWellFormed())
  fc.assert(fc.property(text, (each) => weighText(each) === Math.ceil(Buffer.byteLength(each) / 3)))
})

test("without Node the bytes are counted by hand, halves of letters too", () => {
  const unit = fc.constantFrom("a", "é", "漢", "😀", "\ud83d", "\ude00")
  const text = fc.array(unit, { maxLength: 12 }).map((units) => units.join(""))
  fc.assert(fc.property(text, (each) => countBytes(each) === Buffer.byteLength(each)))
})

test("the beginning of a text is as long as its weight allows, and no letter of it is halved", () => {
  for (const [text, tokens, head] of [
    ["abcdef", 2, "abcdef"],
    ["abcdefg", 2, "abcdef"],
    ["漢字漢字", 3, "漢字漢"],
    ["ab😀😀", 2, "ab😀"],
    ["ab😀😀", 3, "ab😀"],
    ["😀", 1, ""],
    ["\udc00\udc00", 0, ""],
    ["", 0, ""],
  ] as const)
    assert.equal(headWithin(text, tokens), head)
  const any = fc.string({ unit: "binary", maxLength: 60 }).map((each) => each.toWellFormed())
  fc.assert(
    fc.property(any, fc.nat(40), (text, tokens) => {
      const head = headWithin(text, tokens)
      assert.ok(text.startsWith(head) && weighText(head) <= tokens)
      const [next = ""] = text.slice(head.length)
      assert.ok(next === "" || weighText(head + next) > tokens)
    }),
  )
})

test("a message weighs its text, its images, its calls as they came, and what stands around them", () => {
  const image = (size: number) => ({ mediaType: "image/png", data: "A".repeat(size) })
  const messages: Message[] = [
    { role: "user", text: "abc" },
    { role: "user", text: "abc", images: [image(30), image(9_000)] },
    { role: "result", call: "a", name: "look", ok: true, text: "", images: [image(4_800)] },
    { role: "assistant", parts: [] },
    { role: "assistant", parts: [{ type: "text", text: "abcdef" }] },
    { role: "assistant", parts: [{ type: "reasoning", text: "abcdef", by: "p", proof: "x".repeat(99) }] },
    { role: "assistant", parts: [{ type: "call", id: "a", name: "look", input: { a: 1 } }] },
    { role: "assistant", parts: [{ type: "call", id: "a", name: "look", input: {}, broken: '{"a":12345' }] },
    { role: "assistant", parts: [{ type: "call", id: "a", name: "look", input: undefined }] },
  ]
  const weights = [13, 13 + 10 + 1_600, 12 + 1_600, 4, 4 + 8 + 2, 4 + 24 + 2, 4 + 24 + 3, 4 + 24 + 4, 4 + 24]
  assert.deepEqual(messages.map(weigh), weights)
  assert.equal(
    weighAll(messages),
    weights.reduce((sum, each) => sum + each),
  )
})

const messages: Message[] = [
  { role: "user", text: "a task" },
  { role: "assistant", parts: [{ type: "text", text: "x".repeat(300) }] },
  { role: "user", text: "more" },
]
const tools = [{ name: "look", description: "d".repeat(90), schema: {} }]
const unweighed = { tokens: 0, guess: 0, messages: 0 }
const run = { system: "s".repeat(60), tools, messages, weight: unweighed }

test("a conversation that nobody counted weighs what is guessed, with system prompt and tools", () => {
  const guess = 20 + weighTools(tools) + weighAll(messages)
  assert.equal(weighTools(tools), Math.ceil(JSON.stringify(tools).length / 3))
  assert.deepEqual(weightOf(run), { tokens: guess, guess })
})

test("of one that was counted, only what came since is guessed", () => {
  const weight = { tokens: 1_000, guess: 700, messages: 2 }
  const since = weighAll(messages.slice(2))
  assert.deepEqual(weightOf({ ...run, weight }), { tokens: 1_000 + since, guess: 700 + since })
})

test("what was counted is all of it: what was new, read from a cache or written to it, and the answer", () => {
  const { guess } = weightOf(run)
  const usage: Usage = { input: 1_000, cacheRead: 200, cacheWrite: 30, output: 4, reasoning: 2 }
  assert.deepEqual(weighed(run, usage), { tokens: 1_234, guess, messages: 3 })
})

test("a count is believed down to a quarter of the guess; below that, the one before it stands", () => {
  const since = weighAll(messages.slice(2))
  const before = { ...run, weight: { tokens: 600, guess: 400 - since, messages: 2 } }
  const counted = (input: number) => weighed(before, { ...noUsage(), input }).tokens
  assert.deepEqual([0, 10, 99, 100, 101, 399].map(counted), [600 + since, 600 + since, 600 + since, 100, 101, 399])
  assert.deepEqual(weighed(run, noUsage()), { ...weightOf(run), messages: 3 })
})
