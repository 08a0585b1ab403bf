import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { capped, headOf, tailOf } from "../../src/tools/cap.ts"

test("text within the cap stays as it is, and nothing is kept", async () => {
  const keep = () => Promise.reject(new Error("kept"))
  assert.equal(await capped("x".repeat(50_000), { keep, name: "a.txt" }), "x".repeat(50_000))
})

test("longer text loses its middle and says where all of it is", async () => {
  const kept: [string, string][] = []
  const keep = async (name: string, text: string) => {
    kept.push([name, text])
    return `/kept/${name}`
  }
  const text = `${"a".repeat(10)}${"b".repeat(10)}`
  assert.equal(
    await capped(text, { keep, name: "a.txt", cap: 10 }),
    "aaaaa\n\n[10 of 20 characters left out here; all of it is in /kept/a.txt: read that file with offset and limit, or grep it]\n\nbbbbb",
  )
  assert.deepEqual(kept, [["a.txt", text]])
})

test("law: a cut never splits a character", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "😀", "é"), maxLength: 30 })
  fc.assert(
    fc.property(text, fc.nat(40), (whole, length) => {
      for (const part of [headOf(whole, length), tailOf(whole, length)]) {
        assert.ok(part.isWellFormed())
        assert.ok(part.length <= length && part.length >= Math.min(length, whole.length) - 1)
      }
      assert.ok(whole.startsWith(headOf(whole, length)) && whole.endsWith(tailOf(whole, length)))
    }),
  )
})
