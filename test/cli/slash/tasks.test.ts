import assert from "node:assert/strict"
import { test } from "node:test"
import { Log, nowhere } from "../../../src/core/log.ts"
import type { View } from "../../../src/core/view.ts"
import { scripted } from "../../../src/testing/model.ts"
import { call } from "../../../src/testing/reply.ts"
import { world } from "../../agent/world.ts"
import { groundOn } from "./grounds.ts"

/** A main run that waits for two agents, `a` and `b`, which never answer, and has had one, `c`. */
async function talking(picks?: (string | undefined)[]) {
  const model = scripted(({ system, messages }) => {
    if (system !== "MAIN")
      return messages[0]!.role === "user" && messages[0]!.text === "c" ? "done" : new Promise(() => {})
    const labels = messages.length === 1 ? ["c"] : ["a", "b"]
    return labels.map((label) => call("task", { agent: "explore", prompt: label, label }))
  })
  const each = world(model, {})
  const main = each.open()
  const both = Promise.withResolvers<void>()
  let begun = 0
  each.log.listen(({ type }) => type === "mail.read" && ++begun === 4 && both.resolve())
  void each.runtime.prompt(main, { text: "go" })
  await both.promise
  const { view } = each.log
  const session = { sendBehind: (run: string) => each.runtime.sendBehind(run) }
  const now = () => view.get(main)!.openedAt
  const face = groundOn(view, { session, now, ...(picks && { picks }) })
  return { ...face, idOf: (label: string) => idOf(view, label), view, close: () => each.runtime.close() }
}

const idOf = (view: View, label: string) => [...view.values()].find((run) => run.label === label)!.id

const timeless = (line: string) => line.replace(/\d+\.\ds$/, "N")

test("tasks lists those at work and those that ended", async () => {
  const { say, idOf, close } = await talking()
  assert.deepEqual((await say("/tasks"))!.map(timeless), [
    `${idOf("c")}  [explore] c · done · 0 tools, N`,
    `${idOf("a")}  [explore] a · thinking · 0 tools, N`,
    `${idOf("b")}  [explore] b · thinking · 0 tools, N`,
  ])
  await close()
})

test("tasks says that there are none", async () => {
  const each = world(
    scripted(() => ""),
    {},
  )
  each.open()
  assert.deepEqual(await groundOn(each.log.view).say("/tasks"), ["no agent was started yet"])
})

test("one at work can be chosen to be opened, stopped or sent behind", async () => {
  const picks: (string | undefined)[] = []
  const { say, picked, idOf, view, close } = await talking(picks)
  const [a, b] = [idOf("a"), idOf("b")]
  const done: unknown[] = []
  for (const way of ["open", "stop", "behind", undefined]) {
    picks.push(a, way)
    done.push(await say("/tasks"))
  }
  assert.deepEqual(done, [[`open ${a}`], [`cancel ${a}`, `stopping ${a}`], [], []])
  assert.equal(view.get(a)!.behind, true)
  assert.deepEqual(
    picked[0]!.items.map(({ value, label, description }) => [value, label, timeless(description!)]),
    [
      [idOf("c"), "[explore] c", "done · 0 tools, N"],
      [a, "[explore] a", "thinking · 0 tools, N"],
      [b, "[explore] b", "thinking · 0 tools, N"],
    ],
  )
  const ways = picked.filter(({ title }) => title === "[explore] a").map(({ items }) => items.map(({ value }) => value))
  assert.deepEqual(ways, [
    ["open", "stop", "behind"],
    ["open", "stop", "behind"],
    ["open", "stop", "behind"],
    ["open", "stop"],
  ])
  await close()
})

test("one that has ended can only be opened, and so is at once", async () => {
  const picks: string[] = []
  const { say, picked, idOf, close } = await talking(picks)
  picks.push(idOf("c"))
  assert.deepEqual([await say("/tasks"), picked.length], [[`open ${idOf("c")}`], 1])
  await close()
})

test("stop stops one agent that is at work, and says which there are if it is not clear", async () => {
  const { say, idOf, close } = await talking()
  const which = [`say which, as in /stop ${idOf("a")}; there are ${idOf("a")} (explore), ${idOf("b")} (explore)`]
  assert.deepEqual(await say("/stop"), which)
  assert.deepEqual(await say("/stop nobody"), which)
  assert.deepEqual(await say(`/stop ${idOf("c")}`), which)
  assert.deepEqual(await say(`/stop ${idOf("b")}`), [`cancel ${idOf("b")}`, `stopping ${idOf("b")}`])
  await close()
})

test("stop without an id offers those at work where they can be chosen", async () => {
  const picks: string[] = []
  const { say, picked, idOf, close } = await talking(picks)
  picks.push(idOf("b"))
  assert.deepEqual(await say("/stop"), [`cancel ${idOf("b")}`, `stopping ${idOf("b")}`])
  assert.deepEqual(
    picked.map(({ title, items }) => [title, items.map(({ value }) => value)]),
    [["stop which agent?", [idOf("a"), idOf("b")]]],
  )
  const which = `say which, as in /stop ${idOf("a")}; there are ${idOf("a")} (explore), ${idOf("b")} (explore)`
  assert.deepEqual([await say("/stop nobody"), picked.length], [[which], 1])
  await close()
})

test("behind sends one agent behind, or all that the main run waits for", async () => {
  const { say, idOf, view, close } = await talking()
  const behind = () => ["a", "b", "c"].map((label) => view.get(idOf(label))!.behind)
  assert.deepEqual([await say(`/behind ${idOf("b")}`), behind()], [[], [false, true, false]])
  assert.deepEqual([await say("/behind"), behind()], [[], [true, true, false]])
  assert.deepEqual(await say("/behind"), ["there is no agent that is waited for"])
  await close()
})

test("of many that have ended only the last are said, and how many came before", async () => {
  const log = new Log(nowhere, () => 0, assert.ifError)
  const more = { model: "m", root: "/w", system: "", role: { tools: "*" as const, denied: [] }, limits: { turns: 9 } }
  log.emit("main", { type: "run.opened", agent: "main", depth: 0, ...more })
  const ids = Array.from({ length: 12 }, (_, at) => `run-${at}`)
  for (const id of ids) {
    const origin = { run: "main", call: id }
    log.emit(id, { type: "run.opened", agent: "explore", label: id, depth: 1, origin, ...more })
  }
  // The first two to be started are the last to end.
  for (const id of [...ids.slice(2), ...ids.slice(0, 2)])
    log.emit(id, { type: "run.settled", outcome: { status: "completed", text: "" }, ms: 1_000 })
  const kept = [...ids.slice(0, 2), ...ids.slice(4)]
  assert.deepEqual(await groundOn(log.view).say("/tasks"), [
    ...kept.map((id) => `${id}  [explore] ${id} · done · 0 tools, 1.0s`),
    "and 2 that ended before these",
  ])
})
