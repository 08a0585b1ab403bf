import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { isExactly, pathFits, pathPattern } from "../../src/permit/path.ts"
import { place } from "./desk.ts"

/** A pattern, a path, whether a rule that allows means it, and whether one that denies does. */
const table: [string, string, boolean, boolean][] = [
  ["*", "/anything", true, true],
  ["src/**", "/w/src/a/b.ts", true, true],
  ["./src/**", "/w/src/a", true, true],
  ["src/**", "/w/src/.hidden/.x", true, true],
  ["src/**", "/w/lib/src/a", false, false],
  ["src/**", "/w/SRC/a", false, true],
  ["src/**", "/src/a", false, false],
  ["src", "/w/src/a/b", true, true],
  ["src/", "/w/src/a/b", true, true],
  ["src", "/w/srcs", false, false],
  ["src", "/w/lib/src/x", false, true],
  ["src/*", "/w/src/a", true, true],
  ["src/*", "/w/src/a/b", false, true],
  ["*.md", "/w/a.md", true, true],
  ["*.md", "/w/docs/a.md", false, true],
  ["**/*.md", "/w/docs/a.md", true, true],
  ["**/*.md", "/elsewhere/a.md", false, true],
  ["**", "/w/a/b", true, true],
  ["**", "/etc/a", false, true],
  [".env", "/w/.env", true, true],
  [".env", "/w/sub/.ENV", false, true],
  [".env*", "/w/.env.local", true, true],
  [".env*", "/w/a/.env.local", false, true],
  ["{a,b}/x", "/w/b/x", true, true],
  ["[ab]/x", "/w/a/x", true, true],
  ["a?c", "/w/abc", true, true],
  ["!a", "/w/b", false, false],
  ["!a", "/w/!a", true, true],
  ["app/(group)/**", "/w/app/(group)/page.tsx", true, true],
  ["a+(b)", "/w/abb", false, false],
  ["a|b", "/w/a", false, false],
  ["\\*", "/w/*", true, true],
  ["\\*", "/w/a", false, false],
  ["/etc/**", "/w/etc/a", true, true],
  ["/etc/**", "/etc/a", false, true],
  ["/etc", "/etc/a", false, true],
  ["//etc/**", "/etc/a", true, true],
  ["//etc/**", "/w/etc/a", false, false],
  ["//etc/hosts", "/etc/hosts", true, true],
  ["~/notes/**", "/home/me/notes/a", true, true],
  ["~/notes/**", "/w/~/notes/a", false, false],
  ["~", "/home/me/a", true, true],
  ["$HOME/notes/**", "/home/me/notes/a", true, true],
  ["$HOMES/a", "/home/me/a", false, false],
  ["../lib/**", "/lib/a", true, true],
  ["./.", "/w/a", true, true],
  ["a/..*", "/w/a/..b", true, true],
  ["..*", "/w/..b", true, true],
  ["src/**", "/w/src/a\nb", true, true],
  ["src/a*", "/w/src/a\nb", true, true],
  ["caf\u00e9", "/w/cafe\u0301", false, true],
  ["*a*a*a*a*b", "/w/aaaa", false, true],
]

for (const [pattern, path, narrow, wide] of table) {
  test(`${pattern} and ${JSON.stringify(path)}`, async () => {
    assert.deepEqual(
      [await pathFits(pattern, path, place, "narrow"), await pathFits(pattern, path, place, "wide")],
      [narrow, wide],
    )
  })
}

test("patterns made to be slow are compared in time", async () => {
  const path = `/w/${"a".repeat(2_000)}${"/a".repeat(1_000)}`
  const start = performance.now()
  for (const pattern of ["**/a*/**/b*/c", "**/*a*/*b*", "*a*a/*a*a/b", `${"{a,a}".repeat(25)}b`])
    assert.equal(await pathFits(pattern, path, place, "wide"), false, pattern)
  assert.ok(performance.now() - start < 1_000)
})

test("a pattern that means one path names it exactly, and no other does", () => {
  for (const pattern of ["a/b", "./a/b", "/a/b", "//w/a/b", "a/b/"])
    assert.ok(isExactly(pattern, "/w/a/b", place), pattern)
  for (const pattern of ["*", "a", "a/**", "a/?", "//a/b", "~/a/b", "a/B"])
    assert.ok(!isExactly(pattern, "/w/a/b", place), pattern)
})

const name = fc
  .string({ unit: fc.constantFrom(..."ab.~*?[]{}()!\\ -é"), minLength: 1, maxLength: 6 })
  .filter((text) => !/^\.{1,2}$/.test(text))
const path = fc
  .tuple(fc.constantFrom("/w", "/home/me", "/etc", ""), fc.array(name, { minLength: 1, maxLength: 4 }))
  .map(([base, names]) => `${base}/${names.join("/")}`)

test("the pattern made for a path fits that path, and no other one", async () => {
  await fc.assert(
    fc.asyncProperty(path, path, async (one, other) => {
      const pattern = pathPattern(one, place)
      assert.ok(isExactly(pattern, one, place))
      assert.ok(await pathFits(pattern, one, place, "narrow"))
      const isBelow = other === one || other.startsWith(`${one}/`)
      assert.equal(await pathFits(pattern, other, place, "narrow"), isBelow)
    }),
  )
})

test("what a rule that allows means, the same rule means when it denies", async () => {
  const pattern = fc.string({ unit: fc.constantFrom(..."ab/.~*?[]{},\\w"), minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(pattern, path, async (text, one) => {
      if (await pathFits(text, one, place, "narrow")) assert.ok(await pathFits(text, one, place, "wide"))
    }),
    { numRuns: 500 },
  )
})
