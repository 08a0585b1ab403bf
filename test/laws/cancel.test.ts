import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { callsAndResults, fold, world } from "../agent/world.ts"
import { answer, tree } from "./generate.ts"

test("stopped at any event, the whole family is at rest, every call has its result, and it can be prompted again", async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.nat(60), async (turns, at) => {
      const each = world(scripted(({ messages }) => (messages.some(again) ? "still here" : answer(turns, messages))))
      const run = each.open()
      let stopped: Promise<void> | undefined
      const unlisten = each.log.listen(({ seq }) => {
        if (seq === at) stopped = each.runtime.cancel(run)
      })
      const outcome = await each.runtime.prompt(run, { text: "go" })
      await stopped
      unlisten()
      if (stopped) assert.ok(["cancelled", "completed", "failed"].includes(outcome.status))
      for (const view of each.view.values()) {
        if (view.messages.length > 0) assert.ok(view.rest, `${view.id} is at rest`)
        assert.equal(view.calls.size, 0)
        const { asked, got } = callsAndResults(view)
        assert.deepEqual(got, asked)
      }
      assert.deepEqual(fold(each.facts), each.view)
      assert.deepEqual(await each.runtime.prompt(run, { text: "again" }), { status: "completed", text: "still here" })
    }),
    { numRuns: 150 },
  )
})

const again = (message: { role: string; text?: string }) => message.role === "user" && message.text === "again"

test("a tool that hears nothing does not hold a stopped run", { timeout: 5_000 }, async () => {
  const each = world(scripted(() => [call("deaf", {}, "a"), call("deaf", {}, "b"), call("change", {}, "c")]))
  const run = each.open()
  each.log.listen((event) => {
    if (event.type === "call.started" && event.id === "b") void each.runtime.cancel(run)
  })
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "cancelled", text: "" })
  const halfDone = "stopped before it ended; what it had done by then stays done"
  assert.deepEqual(
    each.view
      .get(run)!
      .messages.flatMap((message) => (message.role === "result" ? [[message.call, message.text]] : [])),
    [
      ["a", halfDone],
      ["b", halfDone],
      ["c", "stopped before it began"],
    ],
  )
  assert.deepEqual(each.done, [])
})

test("a thousand stops leave no listener behind", async () => {
  const warnings: Error[] = []
  const hear = (warning: Error) => warnings.push(warning)
  process.on("warning", hear)
  const each = world(
    scripted(({ messages }) => (messages.length > 1 ? "done" : Array.from({ length: 20 }, () => call("look")))),
  )
  for (let n = 0; n < 1_000; n++) {
    const run = each.open()
    const done = each.runtime.prompt(run, { text: "go" })
    if (n % 2) await each.runtime.cancel(run)
    await done
  }
  process.off("warning", hear)
  assert.deepEqual(warnings, [])
})
