import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Body, bodies, textOf } from "../../src/model/body.ts"

const bytesOf = (sent: string | readonly Buffer[]): Buffer =>
  typeof sent === "string" ? Buffer.from(sent) : Buffer.concat(sent)

/** Texts of some size: together they are mostly large enough for their bytes to be kept. */
const text = fc
  .tuple(fc.constantFrom("a", "é", "€", "😀", '{"x":"\\n"}'), fc.integer({ min: 0, max: 9_000 }))
  .map(([unit, times]) => unit.repeat(times))

test("law: what is sent is the text, however a conversation grows, is cut back and goes on", () => {
  const step = fc.record({
    keep: fc.double({ min: 0, max: 1, noNaN: true }),
    more: fc.array(text, { maxLength: 6 }),
    rest: text,
  })
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), (steps) => {
      const sent = bodies()
      const memo = {}
      const earlier: { bytes: Buffer; pieces: string | readonly Buffer[] }[] = []
      let kept: string[] = []
      for (const { keep, more, rest } of steps) {
        // Most requests go on from the one before; some go back a little first.
        kept = [...(keep < 0.3 ? kept.slice(0, Math.floor(kept.length * keep * 3)) : kept), ...more]
        const body: Body = { kept, rest }
        const pieces = sent(body, memo)
        const bytes = Buffer.from(textOf(body))
        assert.ok(bytesOf(pieces).equals(bytes))
        earlier.push({ bytes, pieces })
      }
      for (const { bytes, pieces } of earlier) assert.ok(bytesOf(pieces).equals(bytes), "one that is under way changed")
    }),
    { numRuns: 60 },
  )
})

test("bytes that were made for one request are those of the next, and of nobody else's", () => {
  const sent = bodies()
  const [one, other] = [{}, {}]
  const long = "x".repeat(70_000)
  const first = sent({ kept: [long], rest: "a" }, one)
  const second = sent({ kept: [long, "more"], rest: "b" }, one)
  const apart = sent({ kept: [long], rest: "c" }, other)
  const memoryOf = (pieces: string | readonly Buffer[]) => (typeof pieces === "string" ? undefined : pieces[0]!.buffer)
  assert.equal(memoryOf(first), memoryOf(second))
  assert.notEqual(memoryOf(first), memoryOf(apart))
})

test("a short body is sent as text", () => {
  assert.equal(bodies()({ kept: ["{", "}"], rest: "!" }, {}), "{}!")
})
