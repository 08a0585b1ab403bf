import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { matches } from "../../src/hooks/matches.ts"

const bash = ["bash", "Bash", "shell"]
const edit = ["edit", "Edit", "MultiEdit", "NotebookEdit"]

test("an empty matcher, a star and a list of nothing mean everything", () => {
  for (const matcher of ["", "*", " | ", ","])
    assert.deepEqual([matches(matcher, bash), matches(matcher, edit), matches(matcher, [])], [true, true, true])
})

test("a name or a list of names means exactly these, by our names or Claude's", () => {
  const rows: [string, string[], boolean][] = [
    ["Bash", bash, true],
    ["bash", bash, true],
    ["Bash", ["BashOutput"], false],
    ["BASH", bash, false],
    ["Edit|Write", edit, true],
    ["Write|Edit", ["write", "Write"], true],
    ["Edit|Write", ["Editor"], false],
    ["Edit, Write", edit, true],
    ["Edit | Write", edit, true],
    ["Write", edit, false],
    ["NotebookEdit", edit, true],
    ["Edit|", bash, false],
    ["mcp__memory", ["mcp__memory__store"], false],
    ["mcp__brave-search__web", ["mcp__brave-search__web"], true],
    ["general-purpose", ["general-purpose"], true],
    ["code-reviewer", ["senior-code-reviewer"], false],
    ["größe", ["größe"], true],
    ["größe", ["größer"], false],
  ]
  assert.deepEqual(
    rows.map(([matcher, names]) => matches(matcher, names)),
    rows.map(([, , fits]) => fits),
  )
})

test("anything else is a regular expression, and a part of a name is enough for it", () => {
  const rows: [string, string[], boolean][] = [
    ["^Notebook", ["edit", "NotebookEdit"], true],
    ["Notebook.*", ["NotebookEdit"], true],
    ["Edit.*", ["NotebookEdit"], true],
    ["^Edit$", ["NotebookEdit"], false],
    ["mcp__memory__.*", ["mcp__memory__store"], true],
    ["mcp__memory__.*", ["mcp__github__store"], false],
    ["mcp__.*__write.*", ["mcp__files__write_file"], true],
    ["mcp__.*__write.*", ["mcp__files__read_file"], false],
    ["^(?!Bash$).*", ["BashOutput"], true],
    ["^(Bash|Task)$", bash, true],
  ]
  assert.deepEqual(
    rows.map(([matcher, names]) => matches(matcher, names)),
    rows.map(([, , fits]) => fits),
  )
})

test("a regular expression that is invalid or slow means everything, and soon says so", () => {
  const name = `${"a".repeat(60)}!`
  for (const matcher of ["(", "[a", "*Bash", "(a+)+$", "(a|a)*$", "(.*)*(.*)*(.*)*x$"]) {
    const began = performance.now()
    assert.equal(matches(matcher, [name]), true, matcher)
    assert.ok(performance.now() - began < 500, matcher)
  }
})

test("no matcher throws, and none can say more than yes or no", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.array(fc.string({ unit: "binary" })), (matcher, names) => {
      assert.equal(typeof matches(matcher, names), "boolean")
    }),
  )
})
