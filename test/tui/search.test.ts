import assert from "node:assert/strict"
import { test } from "node:test"
import { visibleWidth } from "@earendil-works/pi-tui"
import { Search } from "../../src/cli/tui/search.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"

const [esc, enter, up, down, ctrlR, backspace] = ["\u001b", "\r", "\u001b[A", "\u001b[B", "\u0012", "\u007f"]

function stage(entries: string[], colors = false) {
  const taken: string[] = []
  let left = 0
  const search = new Search({
    theme: themeOf({ colors, dark: true }),
    entries,
    take: (text) => taken.push(text),
    leave: () => left++,
  })
  const type = (...keys: string[]) => {
    for (const key of keys) search.handleInput(key)
  }
  return { search, taken, type, left: () => left }
}

const input = (typed: string, width: number) =>
  `search: ${typed}\u001b[7m \u001b[27m${" ".repeat(width - 9 - typed.length)}`

test("what was typed before is listed, the newest first, each once and on one line", () => {
  const { search } = stage(["fix it", "add a test\nand run it", "\u001b[2Jfix it", "fix it"])
  assert.deepEqual(search.render(60), [
    input("", 60),
    "→ fix it",
    "  fix it",
    "  add a test and run it",
    "  3 prompts · enter takes · ctrl+r older · esc leaves",
  ])
})

test("words that are typed narrow it down in any order and case, and enter takes the whole prompt", () => {
  const { search, type, taken } = stage(["Run the tests\nall", "run it", "test the run"])
  type(..."TEST run")
  assert.deepEqual(search.render(60), [
    input("TEST run", 60),
    "→ test the run",
    "  Run the tests all",
    "  2 prompts · enter takes · ctrl+r older · esc leaves",
  ])
  type(ctrlR, enter)
  assert.deepEqual(taken, ["Run the tests\nall"])
})

test("arrows and ctrl+r move within what was found, and a long list moves along", () => {
  const { search, type, taken } = stage(Array.from({ length: 20 }, (_, at) => `prompt ${at}`))
  type(up, ...Array.from({ length: 12 }, () => ctrlR), down, up)
  assert.deepEqual(search.render(60).slice(1), [
    "  prompt 11",
    "  prompt 10",
    "  prompt 9",
    "  prompt 8",
    "→ prompt 7",
    "  prompt 6",
    "  prompt 5",
    "  prompt 4",
    "  13 of 20 · enter takes · ctrl+r older · esc leaves",
  ])
  type(...Array.from({ length: 30 }, () => down), enter)
  type("1", backspace, enter)
  assert.deepEqual(taken, ["prompt 0", "prompt 19"])
})

test("where nothing fits it says so, enter takes nothing and escape leaves", () => {
  const { search, type, taken, left } = stage(["one"])
  type("x", enter, down, enter)
  assert.equal(search.render(60)[1], "  nothing typed before has these words")
  type(esc)
  assert.deepEqual([taken, left()], [[], 1])
  assert.equal(stage([]).search.render(60)[1], "  nothing was typed here yet")
})

test("the chosen one is marked by an arrow and by colour, and wide letters fit", () => {
  const { search } = stage(["测试".repeat(30), "👍🏽 ok"], true)
  const lines = search.render(40)
  assert.equal(lines[1], "\u001b[1m\u001b[38;5;80m→ 👍🏽 ok\u001b[39m\u001b[22m")
  assert.deepEqual(
    lines.filter((line) => visibleWidth(line) > 40),
    [],
  )
})
