import assert from "node:assert/strict"
import test from "node:test"
import fc from "fast-check"
import { argumentPieces, pieces } from "../../src/testing/shape.ts"

test("words keep the space before them", () => {
  assert.deepEqual(pieces(" one  two\n", undefined), [" one", "  two", "\n"])
  assert.deepEqual(pieces("", undefined), [])
})

test("law: pieces are the text, and none ends within a character", () => {
  const size = fc.option(fc.constantFrom(1, 2, 7, Number.POSITIVE_INFINITY), { nil: undefined })
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), size, (text, size) => {
      for (const made of [pieces(text, size), argumentPieces(text, size)]) {
        assert.equal(made.join(""), text)
        assert.ok(made.every((piece) => piece !== "" && piece.isWellFormed()))
      }
    }),
  )
})

test("arguments come in at least two pieces and at most eight", () => {
  assert.deepEqual(argumentPieces("{}", undefined), ["{", "}"])
  assert.equal(argumentPieces("x".repeat(100_000), undefined).length, 8)
})
