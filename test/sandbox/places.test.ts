import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { arranged, lookOf, type Place } from "../../src/sandbox/places.ts"

const path = fc.array(fc.constantFrom("a", "b", "ab"), { maxLength: 4 }).map((names) => `/${names.join("/")}`)
const place = fc.record({ path, look: fc.constantFrom("hidden", "read", "write") }) satisfies fc.Arbitrary<Place>
const depth = ({ path }: Place) => path.split("/").filter(Boolean).length

test("law: arranged places look as they were wished, each after those around it, and none is needless", () => {
  fc.assert(
    fc.property(fc.array(place, { maxLength: 12 }), path, (places, somewhere) => {
      const kept = arranged(places)
      assert.equal(lookOf(somewhere, kept), lookOf(somewhere, places))
      for (const [n, each] of kept.entries()) {
        assert.notEqual(lookOf(each.path, kept.slice(0, n)), each.look)
        const above = kept.filter((other) => each.path.startsWith(`${other.path}/`))
        assert.ok(above.every((other) => depth(other) < depth(each) && kept.indexOf(other) < n))
      }
    }),
  )
})
