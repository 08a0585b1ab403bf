import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { tool } from "../../src/agent/scope.ts"
import { call } from "../../src/testing/reply.ts"
import { taskStop } from "../../src/tools/task-stop.ts"
import { behind, never, scene } from "./scene.ts"

/** Writes two files, and runs a command, as far as the record is concerned. */
const change = tool({
  name: "change",
  description: "",
  input: z.strictObject({}),
  repeatable: true,
  access: () => ({ kind: "none" }),
  run: async () => ({
    ok: true,
    text: "",
    touched: ["/w/src/a.ts", "/w/b.ts"].map((path) => ({ did: "wrote", path, hash: "h", before: null }) as const),
    details: { kind: "command", command: "ls", exit: 0, signal: null, timedOut: false },
  }),
})

test("one is stopped with all below it, and what they had done by then is told", async () => {
  const each = scene(
    {
      main: async (turn) => {
        if (turn === 0) return [behind("lead", { agent: "lead" })]
        if (turn > 1) return "end"
        await each.happened((event) => event.type === "mail.read" && event.run === "r2")
        return [call("TaskStop", { task_id: "r1" })]
      },
      lead: (turn) => (turn === 0 ? [call("change"), behind("deep")] : never()),
      explore: never,
    },
    [change, taskStop()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.equal(
    each.results()[1]?.replace(/\d\.\ds/, "?s"),
    "Stopped r1 (lead: lead) and 1 below it.\nWhat it did: 2 tools · 1 command · ?s · changed 2 files:\nsrc/a.ts\nb.ts",
  )
  const outcomes = ["r1", "r2"].map((run) => each.view.get(run)?.rest?.outcome)
  assert.deepEqual(outcomes, Array(2).fill({ status: "cancelled", text: "" }))
  assert.equal(each.runtime.running(), 0)
})

test("one that has finished stays as it is, and stopping twice is no mistake", async () => {
  const each = scene(
    {
      main: (turn) => {
        if (turn === 0) return [call("task", { agent: "explore", prompt: "p", label: "find it" })]
        return turn < 3 ? [call("task_stop", { id: "r1" })] : "end"
      },
    },
    [taskStop()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  const text = "r1 (explore: find it) was not at work: done.\nWhat it did: 0 tools · 0.0s · changed no files"
  assert.deepEqual(each.results().slice(1), [text, text])
  assert.deepEqual(each.view.get("r1")?.rest?.outcome, { status: "completed", text: "found" })
})

test("nobody can stop one that is not below", async () => {
  const each = scene(
    {
      main: (turn) => (turn === 0 ? [behind("other"), call("task", { agent: "lead", prompt: "p" })] : "end"),
      lead: (turn) => (turn === 0 ? ["r0", "r1", "r2"].map((id) => call("task_stop", { id })) : "led"),
      explore: () => "found",
    },
    [taskStop()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  const lead = [...each.view.values()].find(({ agent }) => agent === "lead")!
  assert.deepEqual(
    each.results(lead.id),
    ["r0", "r1", "r2"].map((id) => `there is no agent with the id "${id}" below you; you have started none`),
  )
  assert.deepEqual(
    [...each.view.values()].map(({ rest }) => rest?.outcome.status),
    ["completed", "completed", "completed"],
  )
})
