import assert from "node:assert/strict"
import { test } from "node:test"
import { Log, nowhere } from "../../../src/core/log.ts"
import { type Cost, noUsage, type Usage } from "../../../src/core/usage.ts"
import { groundOn } from "./grounds.ts"

const log = () => new Log(nowhere, () => 0, assert.ifError)

function open(to: Log, run: string, agent: string, model: string): void {
  const depth = agent === "main" ? 0 : 1
  const role = { tools: "*" as const, denied: [] }
  to.emit(run, { type: "run.opened", agent, model, depth, root: "/w", system: "", role, limits: { turns: 9 } })
}

const turn = (to: Log, run: string, usage: Partial<Usage>, cost: Cost) =>
  to.emit(run, { type: "turn.ended", parts: [], stop: "end", usage: { ...noUsage(), ...usage }, cost, ms: 1 })

test("what was spent is told by agent and by model, the dearest first, and in all", async () => {
  const each = log()
  open(each, "m", "main", "big/one")
  open(each, "a", "explore", "small/one")
  open(each, "b", "explore", "small/one")
  turn(each, "m", { input: 1_200, output: 300, cacheRead: 40_000, cacheWrite: 2_000 }, 0.25)
  turn(each, "a", { input: 100, output: 10 }, 0.001)
  turn(each, "b", { input: 50, output: 5 }, 0.002)
  assert.deepEqual(await groundOn(each.view).say("/cost"), [
    "by agent",
    "main       1 run · 1 request · 1.2k in, 300 out · cache 40.0k read, 2.0k written · $0.25",
    "explore    2 runs · 2 requests · 150 in, 15 out · $0.0030",
    "",
    "by model",
    "big/one    1 run · 1 request · 1.2k in, 300 out · cache 40.0k read, 2.0k written · $0.25",
    "small/one  2 runs · 2 requests · 150 in, 15 out · $0.0030",
    "",
    "total      3 runs · 3 requests · 1.4k in, 315 out · cache 40.0k read, 2.0k written · $0.25",
  ])
})

test("what has no known price stands first, and leaves the sum unknown", async () => {
  const each = log()
  open(each, "m", "main", "big/one")
  open(each, "a", "审查\u001b[31m", "own/model")
  turn(each, "m", { input: 7, output: 1 }, 0.5)
  turn(each, "a", { input: 1, output: 1 }, null)
  assert.deepEqual(await groundOn(each.view).say("/cost"), [
    "by agent",
    "审查       1 run · 1 request · 1 in, 1 out · cost unknown",
    "main       1 run · 1 request · 7 in, 1 out · $0.50",
    "",
    "by model",
    "own/model  1 run · 1 request · 1 in, 1 out · cost unknown",
    "big/one    1 run · 1 request · 7 in, 1 out · $0.50",
    "",
    "total      2 runs · 2 requests · 8 in, 2 out · cost unknown",
  ])
})

test("each model of a run is told of with what it took, also for requests that failed and for notes", async () => {
  const each = log()
  open(each, "m", "main", "big/one")
  turn(each, "m", { input: 10, output: 1 }, 0.1)
  const error = { kind: "overloaded", message: "busy" } as const
  each.emit("m", { type: "turn.failed", error, wait: 1, usage: noUsage(), cost: 0 })
  each.emit("m", { type: "model.chosen", model: "small/one" })
  const squeezed = { type: "run.compacted", from: 0, before: 9, after: 3, ms: 1 } as const
  each.emit("m", { ...squeezed, usage: noUsage(), cost: 0 })
  each.emit("m", { ...squeezed, summary: "notes", usage: { ...noUsage(), input: 5, output: 2 }, cost: 0.2 })
  assert.deepEqual(await groundOn(each.view).say("/cost"), [
    "by agent",
    "main       1 run · 3 requests · 15 in, 3 out · $0.30",
    "",
    "by model",
    "small/one  1 run · 1 request · 5 in, 2 out · $0.20",
    "big/one    1 run · 2 requests · 10 in, 1 out · $0.10",
    "",
    "total      1 run · 3 requests · 15 in, 3 out · $0.30",
  ])
})

test("before anything was asked nothing was spent", async () => {
  const each = log()
  open(each, "m", "main", "big/one")
  assert.deepEqual(await groundOn(each.view).say("/cost"), ["nothing was spent yet"])
})
