import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { highlighted } from "../../src/cli/tui/code.ts"

const mark = (name: string) => (text: string) => `<${name} ${text}>`
const marks = {
  accent: mark("k"),
  good: mark("s"),
  warning: mark("n"),
  dim: mark("c"),
  added: mark("+"),
  removed: mark("-"),
}
const plain = (text: string) => text

test("comments, strings, numbers and keywords have colours of their own", () => {
  assert.deepEqual(highlighted('const a = "if \\" 1" + 0x1f // return 2', "ts", marks), [
    '<k const> a = <s "if \\" 1"> + <n 0x1f> <c // return 2>',
  ])
})

test("what goes over several lines is coloured line by line", () => {
  assert.deepEqual(highlighted("/* a\n b */ let x = `1\n$y`", "typescript", marks), [
    "<c /* a>",
    "<c  b */> <k let> x = <s `1>",
    "<s $y`>",
  ])
})

test("each language has its own words and signs", () => {
  const seen = [
    ["python", "def f(): # x"],
    ["bash", "echo $# 'a' # x"],
    ["go", "func f() // x"],
    ["rust", "fn f<'a>(x: &'a str) -> 'c'"],
    ["sql", "SELECT 'it''s' -- x"],
    ["json", '{"a": true, "b": 1.5e3}'],
    ["yaml", "a: it's true # x"],
    ["java", "class A1 { }"],
  ].map(([language, code]) => highlighted(code!, language, marks)[0])
  assert.deepEqual(seen, [
    "<k def> f(): <c # x>",
    "<k echo> $# <s 'a'> <c # x>",
    "<k func> f() <c // x>",
    "<k fn> f<'a>(x: &'a str) -> <s 'c'>",
    "<k SELECT> <s 'it''s'> <c -- x>",
    '{<s "a">: <k true>, <s "b">: <n 1.5e3>}',
    "a: it's <k true> <c # x>",
    "<k class> A1 { }",
  ])
})

test("a diff is coloured by the signs of its lines, and an unknown language not at all", () => {
  assert.deepEqual(highlighted("@@ 1 @@\n-a\n+b\n c", "diff", marks), ["<c @@ 1 @@>", "<- -a>", "<+ +b>", " c"])
  assert.deepEqual(highlighted("if 1", "klingon", marks), ["if 1"])
  assert.deepEqual(highlighted("if 1", undefined, marks), ["if 1"])
})

test("colours never change what the code says", () => {
  const none = { accent: plain, good: plain, warning: plain, dim: plain, added: plain, removed: plain }
  const language = fc.constantFrom(
    "ts",
    "py",
    "sh",
    "go",
    "rs",
    "c++",
    "rb",
    "sql",
    "lua",
    "json",
    "yaml",
    "css",
    "diff",
  )
  const code = fc.array(fc.constantFrom('"', "'", "`", "#", "//", "/*", "*/", "--", "\\", "\n", "1", "if", " ", "é"))
  fc.assert(
    fc.property(language, code, (name, signs) => {
      assert.equal(highlighted(signs.join(""), name, none).join("\n"), signs.join(""))
    }),
  )
})
