import assert from "node:assert/strict"
import { test } from "node:test"
import type { Component } from "@earendil-works/pi-tui"
import fc from "fast-check"
import { Page } from "../../src/cli/tui/page.ts"
import { Reading } from "../../src/cli/tui/reading.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"
import type { Fact, Hint } from "../../src/core/event.ts"
import { call, opened, said, session, turn } from "./talk.ts"

const lines = (...texts: string[]): Component => ({ render: () => texts, invalidate: () => {} })

function page({ rows = 4, below = [lines("input")] }: { rows?: number; below?: Component[] } = {}) {
  const { log, emit } = session()
  const theme = themeOf({ colors: false, dark: true })
  const reading = new Reading({ main: "main", view: log.view, theme })
  log.listen((event) => reading.event(event))
  const size = { rows }
  return { log, emit, reading, size, page: new Page({ reading, below, rows: () => size.rows }) }
}

const started = (id: string): Fact => ({ type: "call.started", id, name: "read" })
const ended = (id: string, text = "found"): Fact => ({ type: "call.ended", id, ok: true, ms: 1, text })
const reads = turn(call("read", { file_path: "a" }, "a"), call("read", { file_path: "b" }, "b"))

test("what has left the screen stays as it was until all is drawn anew", () => {
  const { emit, page: shown } = page()
  emit(...said("go"), reads, started("a"), started("b"))
  assert.deepEqual(shown.render(40), ["> go", "", "◐ read a", "◐ read b", "input"])
  emit(ended("b"))
  assert.deepEqual(shown.render(40), ["> go", "", "◐ read a", "● read b", "  └ found", "input"])
  emit(ended("a"))
  assert.deepEqual(shown.render(40), ["> go", "", "● read a", "  └ found", "● read b", "  └ found", "input"])
  emit({ type: "turn.delta", kind: "text", text: "It is here." })
  assert.equal(shown.render(40).length, 9)
})

test("a call above the edge that ends changes neither what is above it nor where what is below it stands", () => {
  const { emit, page: shown } = page({ rows: 3 })
  emit(...said("go"), reads, started("a"), started("b"))
  emit({ type: "turn.delta", kind: "text", text: "one\n\ntwo\n\nthree" })
  const before = shown.render(40)
  emit(ended("a"), ended("b"))
  assert.deepEqual(shown.render(40), before)
  shown.anew()
  assert.deepEqual(shown.render(40).slice(2, 6), ["● read a", "  └ found", "● read b", "  └ found"])
})

test("another width or height shows all as it is", () => {
  for (const change of ["width", "height"] as const) {
    const { emit, size, page: shown } = page({ rows: 3 })
    emit(...said("go"), reads, started("a"), { type: "turn.delta", kind: "text", text: "one\n\ntwo\n\nthree" })
    shown.render(40)
    emit(ended("a", ""))
    assert.equal(shown.render(40)[2], "◐ read a")
    if (change === "height") size.rows = 5
    assert.equal(shown.render(change === "width" ? 30 : 40)[2], "● read a")
  }
})

test("an answer that is asked for again and was longer than the screen is not left behind", () => {
  const { emit, page: shown } = page()
  const error = { kind: "overloaded" as const, message: "busy" }
  const { usage, cost } = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, cost: 0 }
  emit(...said("go"), { type: "turn.delta", kind: "text", text: "1\n\n2\n\n3\n\n4" })
  assert.equal(shown.render(60).length, 10)
  emit({ type: "turn.failed", error, wait: 1_000, usage, cost })
  assert.deepEqual(shown.render(60), ["> go", "", "↻ busy; trying again in 1.0s", "input"])
})

test("a part that is wider than the screen is cut", () => {
  assert.deepEqual(page({ below: [lines("0123456789")] }).page.render(5), ["0123…"])
})

/** A turn that says something, and whose two calls end in any order. */
const doings = fc
  .record({
    words: fc.array(fc.constantFrom("some words\n\n| a | b |\n|---|---|\n| c", " and more\n\n- item\n", "1. x\n\n\n")),
    results: fc.array(fc.constantFrom("", "one\ntwo\nthree"), { minLength: 2, maxLength: 2 }),
    backwards: fc.boolean(),
  })
  .map(({ words, results, backwards }) => (n: number): (Fact | Hint)[] => {
    const ids = [`a${n}`, `b${n}`]
    const ends = ids.map((id, at) => ended(id, results[at]))
    return [
      ...words.map((text): Hint => ({ type: "turn.delta", kind: "text", text })),
      turn({ type: "text", text: words.join("") }, ...ids.map((id) => call("read", { file_path: id }, id))),
      ...ids.map(started),
      ...(backwards ? ends.toReversed() : ends),
    ]
  })

test("no row above the edge changes, whatever happens", () => {
  fc.assert(
    fc.property(fc.array(doings, { maxLength: 5 }), fc.integer({ min: 2, max: 12 }), (all, rows) => {
      const { emit, page: shown } = page({ rows })
      emit(...said("go"))
      let before = shown.render(30)
      let fold = Math.max(0, before.length - rows)
      for (const event of all.flatMap((doing, n) => doing(n))) {
        emit(event)
        const after = shown.render(30)
        // With so few rows nothing of the conversation would be in sight: the screen is cleared.
        if (after.length - 1 <= fold) fold = 0
        assert.deepEqual(after.slice(0, fold), before.slice(0, fold))
        fold = Math.max(fold, after.length - rows)
        before = after
      }
    }),
    { numRuns: 200 },
  )
})

test("what is said while a transcript is open is said there and in the conversation", () => {
  const { log, reading } = page()
  log.emit("a1", opened(1))
  assert.equal(reading.open("none"), false)
  assert.equal(reading.open("a1"), true)
  assert.equal(reading.opened, "a1")
  reading.note("a word")
  assert.equal(reading.render(60).includes("a word"), true)
  reading.close()
  assert.equal(reading.opened, undefined)
  assert.deepEqual(reading.render(60), ["a word"])
})
