import assert from "node:assert/strict"
import { test } from "node:test"
import { suspend } from "../../src/cli/tui/suspend.ts"

test("the terminal is given away before the process stops, and taken back once it goes on", (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const done: string[] = []
  const terminal = { stop: () => void done.push("stop"), start: () => void done.push("start") }
  suspend(terminal, () => void done.push("signal"))
  assert.deepEqual(done, ["stop", "signal"])
  t.mock.timers.tick(1_000)
  assert.deepEqual(done, ["stop", "signal", "start"])
})
