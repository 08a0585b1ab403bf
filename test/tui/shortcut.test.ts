import assert from "node:assert/strict"
import { test } from "node:test"
import { shortcutOf } from "../../src/cli/tui/shortcut.ts"

const input = { front: false, typed: false }
const all = (data: readonly string[], place = input) => data.map((each) => shortcutOf(each, place))

test("with nothing typed, these keys mean something wherever one is", () => {
  const keys = ["\x03", "\x1a", "\x0f", "\x02", "\x12", "\x07", "?", "\x04", "\x1b", "\x1b[A", "\x1b[B"]
  assert.deepEqual(all(keys), [
    "interrupt",
    "suspend",
    "toggle",
    "behind",
    "search",
    "outside",
    "help",
    "exit",
    "escape",
    "up",
    "down",
  ])
  assert.deepEqual(all(["a", "/", "\r", "\t"]), [undefined, undefined, undefined, undefined])
})

test("within a text, what belongs to writing goes to the input", () => {
  const place = { front: false, typed: true }
  assert.deepEqual(all(["?", "\x04", "\x1b", "\x1b[A", "\x1b[B"], place), Array(5).fill(undefined))
  assert.deepEqual(all(["\x03", "\x0f", "\x12"], place), ["interrupt", "toggle", "search"])
})

test("a question or a list has all keys but ctrl+c and ctrl+z", () => {
  const place = { front: true, typed: false }
  assert.deepEqual(all(["?", "\x0f", "\x1b", "\x1b[A", "y"], place), Array(5).fill(undefined))
  assert.deepEqual(all(["\x03", "\x1a"], place), ["interrupt", "suspend"])
})

test("a key that is pressed once counts once, also where a terminal tells that it was let go or held", () => {
  const [pressed, held, released] = ["\x1b[99;5u", "\x1b[99;5:2u", "\x1b[99;5:3u"]
  assert.deepEqual(all([pressed, held, released]), ["interrupt", "ignore", "ignore"])
  assert.deepEqual(all(["\x1b[111;5u", "\x1b[111;5:3u"]), ["toggle", "ignore"])
})
