import assert from "node:assert/strict"
import { test } from "node:test"
import { visibleWidth } from "@earendil-works/pi-tui"
import { hintOf } from "../../src/cli/tui/hint.ts"
import type { Fact } from "../../src/core/event.ts"
import { opened, said, session } from "./talk.ts"

const settled: Fact = { type: "run.settled", outcome: { status: "completed", text: "It is here." }, ms: 1 }
const nothing = { warned: false, asking: false, opened: undefined, chosen: undefined, now: 0 }

test("what keys do is said for where one is, in a line of 80 columns", () => {
  const { log, emit, child } = session()
  const shown = { session: { view: log.view, main: "main" }, ...nothing }
  const hints = [hintOf(shown)]
  emit(...said("go"))
  hints.push(hintOf(shown))
  child(opened(1), ...said("look"))
  hints.push(hintOf({ ...shown, chosen: "a1" }))
  child(settled)
  hints.push(hintOf({ ...shown, chosen: "a1" }), hintOf({ ...shown, chosen: "a1", opened: "a1" }))
  hints.push(hintOf({ ...shown, asking: true }), hintOf({ ...shown, asking: true, warned: true }))
  emit(settled)
  hints.push(hintOf(shown))
  assert.deepEqual(hints, [
    "say what is to be done · /: commands · @: files and agents · ?: help",
    "esc: stop · up, down: choose an agent · ctrl+o: its transcript · ?: help",
    "chosen: explore (thinking) · enter: open · esc: stop it · ctrl+b: send behind",
    "chosen: explore (done) · enter: open · esc: let it be",
    "enter: steer it · esc: back · ctrl+b: send behind",
    "answer with a key that the question names · esc: no · ctrl+c: stop",
    "ctrl+c again: leave",
    "/: commands · @: files and agents · ctrl+r: earlier lines · ?: help",
  ])
  assert.deepEqual(
    hints.filter((hint) => visibleWidth(hint) > 79),
    [],
  )
})
