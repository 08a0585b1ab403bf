import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { fits, literally, mayFit, piecesOf } from "../../src/permit/wildcard.ts"
import { hole } from "../../src/permit/word.ts"

const text = fc.string({ unit: fc.constantFrom("a", "b", " ", "\\", "*"), maxLength: 8 })
const escaped = (piece: string) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")

test("a star is any text, and nothing else is special", () => {
  const pattern = fc.array(fc.constantFrom("a", "b", " ", "*"), { maxLength: 8 }).map((signs) => signs.join(""))
  fc.assert(
    fc.property(pattern, text, (one, other) => {
      const expected = new RegExp(`^${one.split("*").map(escaped).join(".*")}$`, "s").test(other)
      assert.equal(fits(piecesOf(one), other), expected)
    }),
    { numRuns: 2_000 },
  )
})

test("a text made literal fits itself and nothing else", () => {
  fc.assert(fc.property(text, text, (one, other) => assert.equal(fits(piecesOf(literally(one)), other), one === other)))
})

test("a text with holes may fit wherever a filling of them does", () => {
  const pattern = fc.array(fc.constantFrom("a", "b", " ", "*"), { maxLength: 6 }).map((signs) => signs.join(""))
  const pieces = fc.array(fc.constantFrom("a", "b", " a", "b "), { maxLength: 3 })
  fc.assert(
    fc.property(
      pattern,
      pieces,
      fc.array(fc.constantFrom("", "a", "b a", "a b"), { minLength: 3, maxLength: 3 }),
      (one, some, fillings) => {
        const filled = some.map((piece, n) => (n === 0 ? piece : fillings[n - 1] + piece)).join("")
        if (fits(piecesOf(one), filled)) assert.ok(mayFit(piecesOf(one), some.join(hole)))
      },
    ),
    { numRuns: 2_000 },
  )
  assert.ok(mayFit(piecesOf("git push"), `git push ${hole}`), "a hole may be no word at all")
  assert.ok(!mayFit(piecesOf("git push *"), `git log ${hole}`))
  assert.ok(!mayFit(piecesOf("git push"), `git ${hole} log`))
})
