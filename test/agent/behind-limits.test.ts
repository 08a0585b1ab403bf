import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import type { Options } from "../../src/agent/options.ts"
import type { Reply as Answer } from "../../src/agent/permission.ts"
import type { Limits } from "../../src/core/event.ts"
import { call } from "../../src/testing/reply.ts"
import { behind, type Cast, firstOf, forever, front, lastOf, scene } from "./scene.ts"

/** Limits of the runs of one depth. */
const at =
  (depth: number, limits: Partial<Limits>): Options["limits"] =>
  (agent, task, own) => ({ turns: 20, ...(own === depth && limits), ...agent, ...task })

/** Time that passes only when it is told to. */
function timeOf(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] })
  let now = 0
  const pass = (ms: number) => {
    now += ms
    t.mock.timers.tick(ms)
  }
  return { now: () => now, pass }
}

test("a child that is sent behind has no more time than its parent had left", async (t) => {
  const { now, pass } = timeOf(t)
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : "end"),
      child: () => {
        pass(60)
        each.runtime.sendBehind("r1")
        return forever()
      },
    },
    { now, limits: at(0, { timeout: 100 }) },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  pass(39)
  const { limits, stopping } = each.view.get("r1")!
  assert.deepEqual([limits, stopping], [{ turns: 20, timeout: 40 }, undefined])
  pass(1)
  await each.runtime.idle()
  assert.deepEqual(each.statuses(), ["completed", "timeout"])
})

test("a run that only results wake has the turns that it had: it cannot start agents behind for ever", async () => {
  const each = scene(
    { main: (_, turn) => (turn < 30 ? [behind(`${turn}`)] : "enough"), child: () => "done" },
    { limits: at(0, { turns: 3 }) },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.statuses(), ["max_turns", "completed", "completed", "completed"])
})

test("a child that waits for a place still does when it is sent behind", async () => {
  const each = scene(
    { main: (_, turn) => (turn === 0 ? [front("a"), front("b")] : `turn ${turn}`), child: forever },
    { bounds: { parallel: 1 } },
  )
  void each.runtime.prompt(each.run, { text: "go" })
  await each.happened("run.queued", "r2")
  assert.equal(each.runtime.sendBehind("r2"), true)
  const { queued, behind: moved } = each.view.get("r2")!
  await each.runtime.close()
  assert.deepEqual([queued, moved], [true, true])
})

test("a budget of tool calls holds within one turn", async () => {
  const each = scene(
    { main: (_, turn) => (turn === 0 ? Array.from({ length: 50 }, () => call("look")) : "end"), child: () => "" },
    { limits: { tools: 3 } },
  )
  const outcome = await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual([each.done.length, outcome], [3, { status: "budget", text: "end" }])
})

test("a time to wait for a child that is longer than a timer can be is not a short one", async (t) => {
  const { now, pass } = timeOf(t)
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : "end"),
      child: () => {
        pass(1000)
        return "found"
      },
    },
    { now, behindAfter: 3e9 },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual([each.view.get("r1")!.behind, each.sent()], [false, []])
})

test("time spent in the queue is not idle time, also after a crash", async (t) => {
  const { now, pass } = timeOf(t)
  const main: Cast["main"] = (_, turn) => (turn === 0 ? [front("a"), front("b")] : "end")
  const limits = at(1, { idle: 100 })
  const each = scene({ main, child: (_, turn) => (turn < 2 ? [call("look")] : "done") }, { now, limits })
  await each.runtime.prompt(each.run, { text: "go" })
  const cut = each.facts.findIndex(({ type, run }) => type === "call.ended" && run === "r2") + 1
  const slow: Cast["child"] = ({ messages }, turn) => {
    pass(90)
    return turn < (firstOf(messages) === "a" ? 4 : 2) ? [call("look")] : "done"
  }
  const again = scene({ main, child: slow }, { now, limits, stored: each.facts.slice(0, cut), bounds: { parallel: 1 } })
  await again.runtime.resume()
  assert.deepEqual(again.statuses(), ["completed", "completed", "completed"])
})

test("an agent that waits for one behind it is idle when that one is", async (t) => {
  const { now, pass } = timeOf(t)
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("lead", { agent: "lead" })] : "end"),
      lead: (_, turn) => (turn === 0 ? [behind("a")] : "lead done"),
      child: forever,
    },
    { now, limits: at(1, { idle: 100 }) },
  )
  const ended = each.runtime.prompt(each.run, { text: "go" })
  await each.until(() => each.view.get("r1")?.messages.length === 4 && each.view.get("r2")?.messages.length === 1)
  pass(100)
  assert.equal(each.view.get("r1")!.stopping, undefined)
  pass(25)
  await ended
  assert.deepEqual(each.statuses(), ["completed", "timeout", "timeout"])
})

test("the time that a person takes to answer is charged neither to the asker nor to one above that works meanwhile", async (t) => {
  const { now, pass } = timeOf(t)
  const asked = Promise.withResolvers<Answer>()
  const each = scene(
    {
      main: (_, turn) => {
        if (turn === 0) return [behind("a")]
        if (turn > 1) pass(60)
        return `main ${turn}`
      },
      child: (_, turn) => {
        if (turn === 0) return [call("look")]
        pass(50)
        return "found"
      },
    },
    {
      now,
      gate: ({ access }) => ({ do: access.kind === "read" ? "ask" : "allow" }),
      answer: () => asked.promise,
      limits: (agent, task) => ({ turns: 20, timeout: 100, ...agent, ...task }),
    },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.happened("gate.asked", "r1")
  pass(250)
  await each.runtime.prompt(each.run, { text: "and?" })
  asked.resolve({ allow: true })
  await each.runtime.idle()
  assert.deepEqual([each.statuses(), each.sent()], [["completed", "completed"], ["r1: found"]])
})

test("children behind together spend no more than their parent had", async () => {
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? Array.from({ length: 8 }, (_, at) => behind(`${at}`)) : "ok"),
      child: ({ messages }) =>
        lastOf(messages).text.startsWith("You have used")
          ? "sum"
          : { calls: [call("look")], usage: { input: 100, output: 0 } },
    },
    { bounds: { parallel: 1 }, limits: at(0, { tokens: 2000 }) },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual([each.main().family.usage.input, each.statuses()], [2000, Array.from({ length: 9 }, () => "budget")])
})
