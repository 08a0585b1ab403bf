import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { Lines } from "../../src/tools/lines.ts"

test("law: a text at once and in pieces gives the same lines", () => {
  const word = fc.constantFrom("a", "line", "\n", "\r\n", "\r", "ä", "€", "😀", "\uFEFF", "x".repeat(50))
  const bytes = fc.oneof(
    fc.array(word, { maxLength: 40 }).map((words) => Buffer.from(words.join(""))),
    fc.uint8Array({ maxLength: 60 }).map((each) => Buffer.from(each)),
  )
  const window = { offset: fc.integer({ min: 1, max: 8 }), limit: fc.integer({ min: 1, max: 8 }) }
  const wanted = fc.record({
    ...window,
    width: fc.integer({ min: 1, max: 60 }),
    room: fc.integer({ min: 1, max: 200 }),
  })
  fc.assert(
    fc.property(bytes, wanted, fc.integer({ min: 1, max: 9 }), (bytes, wanted, size) => {
      const [once, pieces] = [new Lines(wanted), new Lines(wanted)]
      once.whole(bytes)
      for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size))
      pieces.end()
      const told = ({ shown, total, lossy }: Lines) => ({ shown, total, lossy })
      assert.deepEqual(told(once), told(pieces))
    }),
    { numRuns: 500 },
  )
})
