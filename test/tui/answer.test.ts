import assert from "node:assert/strict"
import { afterEach, test } from "node:test"
import { resetCapabilitiesCache, setCapabilities } from "@earendil-works/pi-tui"
import fc from "fast-check"
import { Answer, cutsIn } from "../../src/cli/tui/answer.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"

const theme = themeOf({ colors: false, dark: true })
const shown = (text: string, width = 40) => new Answer(theme, text).end().render(width)
const capable = (hyperlinks: boolean) => setCapabilities({ images: null, trueColor: false, hyperlinks })

afterEach(resetCapabilitiesCache)

test("tables have borders, and columns of wide letters are even", () => {
  assert.deepEqual(shown("| 名 | n |\n|---|---|\n| 你好 | 1 |"), [
    "┌──────┬───┐",
    "│ 名   │ n │",
    "├──────┼───┤",
    "│ 你好 │ 1 │",
    "└──────┴───┘",
  ])
})

test("links have their address behind them, or below them where the terminal can do so", () => {
  capable(false)
  assert.deepEqual(shown("see [the docs](http://a.b)"), ["see the docs (http://a.b)"])
  assert.deepEqual(shown("see [the docs][d]\n\nmore\n\n[d]: http://a.b\n"), ["see the docs (http://a.b)", "", "more"])
  capable(true)
  assert.deepEqual(shown("see [it](http://a.b)"), ["see \u001b]8;;http://a.b\u001b\\it\u001b]8;;\u001b\\"])
})

test("code blocks are highlighted", () => {
  const colored = new Answer(themeOf({ colors: true, dark: true }), "```ts\nreturn 1\n```").end()
  assert.equal(colored.render(40)[1], "  \u001b[38;5;80mreturn\u001b[39m \u001b[38;5;221m1\u001b[39m")
})

test("what looks like a formula to others is left as it is", () => {
  assert.deepEqual(shown("set $x^2$ for $5"), ["set $x^2$ for $5"])
})

test("a text is cut at blank lines, but not in code, in lists, or before a line that is not there to its end", () => {
  const text = "a\n\n```\nx\n\ny\n```\n\n- b\n\n- c\n\n  d\n\ne\n\nf"
  const cuts = cutsIn(text)
  assert.deepEqual(
    [0, ...cuts].map((from, at) => text.slice(from, cuts[at])),
    ["a\n\n", "```\nx\n\ny\n```\n\n- b\n\n- c\n\n  d\n\n", "e\n\nf"],
  )
})

test("a finished answer of several pieces can be shown at another width", () => {
  const answer = new Answer(theme, "one two\n\nthree four\n\nfive\n").end()
  assert.deepEqual(answer.render(40), ["one two", "", "three four", "", "five"])
  assert.deepEqual(answer.render(6), ["one", "two", "", "three", "four", "", "five"])
})

test("however an answer comes, it looks in the end as if it had come at once", () => {
  const piece = fc.constantFrom(
    "# Title\n\n",
    "Some *words*.\n\n",
    "Some words\nover lines\n",
    "- a\n- b\n",
    "\n- c\n\n",
    "1. one\n\n",
    "2. two\n",
    "  further in\n\n",
    "```ts\nconst a = 1\n\nconst b = 2\n```\n\n",
    "~~~\n```\n~~~\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "> quote\n\n",
    "---\n",
    "\n",
  )
  const text = fc.array(piece, { minLength: 1, maxLength: 8 }).map((pieces) => pieces.join(""))
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 30 }), (whole, step) => {
      const answer = new Answer(theme)
      for (let at = 0; at < whole.length; at += step) {
        answer.add(whole.slice(at, at + step))
        answer.render(40)
      }
      assert.deepEqual(answer.end().render(40), shown(whole))
    }),
    { numRuns: 200 },
  )
})
