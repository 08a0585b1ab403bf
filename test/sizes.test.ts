import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { sharedBytes, sizesOf, unmarked } from "../src/sizes.ts"

const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value))

/** Words that look like what is searched for. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc.constantFrom('"', "\\", '\\"', '","messages":[', "}]}", '{"role":"system",', "\ud800", "é🐘"),
)
const value = fc.oneof(fc.jsonValue(), text, fc.dictionary(text, text), fc.array(text))

test("parts are as large as they are written, whatever is in them and around them", () => {
  const other = fc.dictionary(
    text.filter((key) => !["system", "instructions", "tools", "messages", "input", "__proto__"].includes(key)),
    value,
  )
  const law = (around: object, [system, tools, messages]: [unknown, unknown, unknown]) => {
    const parts = { system: bytes(system), tools: bytes(tools), messages: bytes(messages) }
    for (const body of [
      { ...around, system, tools, messages },
      { tools, messages, ...around, system },
      { instructions: system, ...around, tools, input: messages },
    ]) {
      const all = bytes(body)
      const settings = all - parts.system - parts.tools - parts.messages
      assert.deepEqual(sizesOf(JSON.stringify(body)), { bytes: all, ...parts, settings })
    }
  }
  const list = fc.array(fc.record({ role: fc.constant("user"), content: value }))
  fc.assert(fc.property(other, fc.tuple(value, value, list), law))
})

test("a system prompt that stands first among the messages counts as such", () => {
  const system = { role: "system", content: 'be brief: [{"' }
  const body = { model: "m", messages: [system, { role: "user", content: "hi" }] }
  const all = bytes(body)
  const messages = bytes(body.messages) - bytes(system)
  assert.deepEqual(sizesOf(JSON.stringify(body)), {
    bytes: all,
    system: bytes(system),
    tools: 0,
    messages,
    settings: all - bytes(body.messages),
  })
  assert.deepEqual(sizesOf("{}"), { bytes: 2, system: 0, tools: 0, messages: 0, settings: 2 })
})

test("what two bodies share ends at the first byte that differs, even within a letter", () => {
  const share = (one: string, other: string) => sharedBytes(Buffer.from(one), Buffer.from(other))
  assert.deepEqual([share("abc", "abd"), share("aé", "aè"), share("ab", "abc"), share("", "a")], [2, 2, 2, 0])
})

test("cache marks are left out, and words that speak of them stay", () => {
  const marked = '{"a":[{"text":"x","cache_control":{"type":"ephemeral"}}]}'
  const words = JSON.stringify({ text: ',"cache_control":{"type":"ephemeral"}' })
  assert.deepEqual([unmarked(marked), unmarked(words)], ['{"a":[{"text":"x"}]}', words])
})
