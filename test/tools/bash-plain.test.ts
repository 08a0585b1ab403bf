import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { Collapsed, plain, Unescaped } from "../../src/tools/plain.ts"

/** Both filters, fed piece by piece. */
function filtered(chunks: string[]): string {
  const unescaped = new Unescaped()
  const collapsed = new Collapsed()
  const text = chunks.map((chunk) => collapsed.push(unescaped.push(chunk))).join("")
  return text + collapsed.push(unescaped.end()) + collapsed.end()
}

const pieces = [
  "a",
  "é",
  "😀",
  "\n",
  "\r",
  "\r\n",
  "\t",
  "\u001b[31m",
  "\u001b]0;t\u0007",
  "\u001b]8;;u\u001b\\",
  "\u001bM",
  "\u009b2K",
  "\0",
  "\b",
]
const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(""))

test("where output is cut into chunks makes no difference", () => {
  fc.assert(
    fc.property(texts, fc.array(fc.nat(100)), (text, cuts) => {
      const ends = [...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b)
      const chunks = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
      assert.equal(filtered(chunks), filtered([text]))
    }),
    { numRuns: 1_000 },
  )
})

test("no control character but newline and tab comes through, whatever went in", () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: "binary" })), (text) => {
      assert.doesNotMatch(filtered([text]), /[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
      assert.doesNotMatch(plain(text), /[\x00-\x08\x0b-\x1f\x7f-\x9f]/)
    }),
  )
})

test("text without control characters is left as it is", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      assert.equal(filtered([text]), text)
    }),
  )
})

test("neither a line nor an escape without an end is held for ever", () => {
  const [unescaped, collapsed] = [new Unescaped(), new Collapsed()]
  const passed = (chunk: string) => collapsed.push(unescaped.push(chunk)).length
  let out = 0
  for (let i = 0; i < 100; i++) out += passed("x".repeat(1_000))
  assert.ok(out > 80_000, `${out}`)
  out = passed("\n\u001b]0;")
  for (let i = 0; i < 100; i++) out += passed("x".repeat(1_000))
  assert.ok(out > 60_000, `${out}`)
})
