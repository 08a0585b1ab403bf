import assert from "node:assert/strict"
import { test } from "node:test"
import type { Fact, Stamped } from "../src/core/event.ts"
import { noUsage } from "../src/core/usage.ts"
import type { Request } from "../src/model/model.ts"
import { requestsOf, type Sent } from "../src/requests.ts"

type Opened = Extract<Fact, { type: "run.opened" }>

const stamped = (...facts: [run: string, fact: Fact][]): Stamped<Fact>[] =>
  facts.map(([run, fact], i) => ({ seq: i + 1, at: 0, run, ...fact }))
const opened = (more: Partial<Opened> = {}): Fact => ({
  type: "run.opened",
  agent: "a",
  model: "p/one",
  depth: 0,
  root: "/w",
  system: "S",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
  ...more,
})
const prompt = (text: string): Fact => ({ type: "mail.sent", text })
const read: Fact = { type: "mail.read" }
const answer = (text: string): Fact => ({
  type: "turn.ended",
  parts: [{ type: "text", text }],
  stop: "end",
  usage: noUsage(),
  cost: 0,
  ms: 1,
})

/** Notes what is asked for, and writes the model, the words of the messages and how the rest was set. */
function noting() {
  const asked: { model: string; memo: object }[] = []
  const encoding = async (model: string) => (request: Request) => {
    const { memo, messages, toolChoice, temperature, effort } = request
    asked.push({ model, memo })
    return JSON.stringify({ model, messages: messages.map(({ role }) => role), toolChoice, temperature, effort })
  }
  return { asked, encoding }
}

const numbers = (sent: Sent[] | undefined) => sent?.map((each) => (each.type === "request" ? each.number : each.type))

test("facts that make no sense are passed over", async () => {
  const facts = stamped(
    ["x", answer("of nobody")],
    ["m", opened()],
    ["m", prompt("hi")],
    ["m", { type: "call.started", id: "none", name: "read" }],
    ["m", read],
    ["m", { type: "tools.offered", tools: "nobody" }],
    ["m", answer("yes")],
    ["m", opened({ system: "again" })],
    ["m", answer("and yes")],
  )
  const sent = await requestsOf(facts, { ...noting(), tuning: {} })
  assert.deepEqual([[...sent.keys()], numbers(sent.get("m"))], [["m"], [1, 2]])
})

test("a run that changes its model is written in the format of each, with its own tuning before that of the settings", async () => {
  const { asked, encoding } = noting()
  const facts = stamped(
    ["m", opened({ tuning: { temperature: 0.5 } })],
    ["m", prompt("hi")],
    ["m", read],
    ["m", answer("yes")],
    ["m", { type: "model.chosen", model: "p/two" }],
    ["m", prompt("more")],
    ["m", read],
    ["m", { type: "run.told", reason: "cost", text: "no more" }],
    ["m", answer("well")],
  )
  const tuning = { temperature: 0, effort: "low" as const }
  const sent = (await requestsOf(facts, { encoding, tuning })).get("m")
  const written = (model: string, roles: string[], toolChoice: string) =>
    JSON.stringify({ model, messages: roles, toolChoice, temperature: 0.5, effort: "low" }).length
  assert.deepEqual(
    sent?.map((each) => each.type === "request" && [each.model, each.bytes]),
    [
      ["p/one", written("p/one", ["user"], "auto")],
      ["p/two", written("p/two", ["user", "assistant", "user", "user"], "none")],
    ],
  )
  assert.deepEqual(
    asked.map(({ model }) => model),
    ["p/one", "p/two"],
  )
  assert.equal(asked[0]?.memo, asked[1]?.memo)
})

test("for one run nothing is written but its own requests and those of its parent before it opened", async () => {
  const child = (call: string) => opened({ depth: 1, model: "p/child", origin: { run: "m", call } })
  const facts = stamped(
    ["m", opened()],
    ["m", prompt("hi")],
    ["m", read],
    ["m", answer("yes")],
    ["one", child("1")],
    ["two", child("2")],
    ["one", prompt("do")],
    ["one", read],
    ["one", answer("done")],
    ["two", prompt("do")],
    ["two", read],
    ["m", answer("and")],
    ["two", answer("done")],
    ["m", answer("so on")],
  )
  const all = noting()
  const sent = await requestsOf(facts, { ...all, tuning: {} })
  assert.deepEqual(
    [...sent].map(([run, each]) => [run, numbers(each)]),
    [
      ["m", [1, 2, 3]],
      ["one", [1]],
      ["two", [1]],
    ],
  )
  const few = noting()
  const only = await requestsOf(facts, { ...few, tuning: {}, run: "two" })
  assert.deepEqual([...only], [["two", sent.get("two")]])
  const [first] = sent.get("two")!
  assert.ok(first?.type === "request")
  assert.deepEqual([first.parent?.bytes, first.before], ['{"model":"p/'.length, null])
  assert.deepEqual(
    few.asked.map(({ model }) => model),
    ["p/one", "p/child"],
  )
})
