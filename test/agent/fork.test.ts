import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { type Agent, tool } from "../../src/agent/scope.ts"
import { weighAll, weighText, weighTools, weightOf } from "../../src/core/weight.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { agents, toolsOf, world } from "./world.ts"

const isFork = (messages: readonly { role: string }[]): boolean =>
  messages.some((message) => message.role === "user" && (message as { text?: string }).text === "side work")

test("a fork of a run that was never asked anything sees its parent's tools", async () => {
  const model = scripted(() => "done")
  const each = world(model)
  const run = each.open()
  const signal = new AbortController().signal
  await each.runtime.task(run, "program-1", { prompt: "side work", context: "fork" }, signal)
  assert.deepEqual(
    model.requests[0]?.tools.map(({ name }) => name),
    toolsOf([]).map(({ name }) => name),
  )
})

/** Touches a file, so that whoever calls it knows the file by its hash. */
const touch = offer(
  tool({
    name: "touch",
    description: "",
    input: z.strictObject({ hash: z.string() }),
    repeatable: true,
    access: () => ({ kind: "none" }),
    run: async ({ hash }) => ({ ok: true, text: "", touched: [{ did: "read", path: "/w/a", hash }] }),
  }),
)

test("a fork knows files as they were when the turn began that started it, and a filtered child those it saw", async () => {
  for (const [context, tools, known] of [
    ["fork", "*", [["/w/a", "one"]]],
    ["filtered", ["touch"], [["/w/a", "one"]]],
    ["filtered", ["look"], []],
    ["fresh", "*", []],
  ] as const) {
    const model = scripted(({ messages }) => {
      if (isFork(messages)) return "done"
      if (messages.length === 1) return [call("touch", { hash: "one" })]
      if (messages.length === 3) {
        const other = call("touch", { hash: "two" })
        return [other, call("task", { agent: "side", prompt: "side work", context })]
      }
      return "end"
    })
    const side: Agent = { ...agents[1]!, name: "side", role: { tools: tools === "*" ? "*" : [...tools], denied: [] } }
    const each = world(model, {
      tools: [touch, ...toolsOf([])],
      agent: async () => side,
    })
    await each.runtime.prompt(each.open(), { text: "go" })
    const child = [...each.view.values()].find(({ depth }) => depth === 1)!
    assert.deepEqual([...child.files], known, `${context} ${tools}`)
    assert.deepEqual([...each.view.get("r0")!.files], [["/w/a", "two"]])
  }
})

test("an agent that is named like a fork is not one: who may be started still counts", async () => {
  const model = scripted(({ messages }) =>
    messages.length === 1 ? [call("task", { agent: "fork", prompt: "side work" })] : "end",
  )
  const named: Agent = { ...agents[1]!, name: "fork" }
  const lead: Agent = { ...agents[0]!, role: { tools: "*", denied: [], mayStart: ["explore"] } }
  const each = world(model, { agent: async () => named })
  const run = each.runtime.open(lead, "m")
  await each.runtime.prompt(run, { text: "go" })
  const result = each.view.get(run)!.messages.find(({ role }) => role === "result")
  assert.equal(result && "text" in result && result.text, "this agent may start only explore, not fork")
})

test("a fork that calls a tool that is not its own, by any of its names, is refused as by a rule", async () => {
  const aliased = toolsOf([]).map((each) => (each.name === "task" ? { ...each, aliases: ["Task"] } : each))
  for (const name of ["task", "Task"]) {
    const model = scripted(({ messages }) => {
      if (messages.at(-1)?.role === "result" && messages.length > 3) return "end"
      if (isFork(messages)) return [call(name, { prompt: "more" })]
      return messages.length === 1 ? [call("task", { prompt: "side work", context: "fork" })] : "end"
    })
    const each = world(model, { tools: aliased, bounds: { depth: 1 } })
    await each.runtime.prompt(each.open(), { text: "go" })
    const child = [...each.view.values()].find(({ depth }) => depth === 1)!
    const result = child.messages.findLast(({ role }) => role === "result")
    assert.deepEqual(
      result && "text" in result && result.text,
      `not permitted: ${name} is not among the tools of this agent, fork; go on without it`,
    )
    assert.equal(child.deeds.refused, 1)
  }
})

test("a fork that a program starts while its parent wakes sees its parent's tools", async () => {
  const model = scripted(() => "done")
  const each = world(model)
  const run = each.open()
  const forks: Promise<unknown>[] = []
  each.log.listen((event) => {
    if (event.type !== "mail.sent" || event.run !== run) return
    const task = { prompt: "side work", context: "fork" } as const
    forks.push(each.runtime.task(run, "program-1", task, new AbortController().signal))
  })
  await each.runtime.prompt(run, { text: "go" })
  await Promise.all(forks)
  const tools = toolsOf([]).map(({ name }) => name)
  const seen = model.requests.map(({ messages, tools }) => [isFork(messages), tools.map(({ name }) => name)])
  assert.deepEqual(seen.toSorted(), [
    [false, tools],
    [true, tools],
  ])
})

test("a fork weighs what its parent's provider counted, and its own words as they are guessed", async () => {
  const model = scripted(({ messages }) => {
    if (isFork(messages)) return "done"
    const usage = { input: 5_000, cacheRead: 300, cacheWrite: 20, output: 1 }
    return messages.length === 1 ? { calls: [call("task", { prompt: "side work", context: "fork" })], usage } : "end"
  })
  const each = world(model)
  const weights: object[] = []
  each.log.listen((event, view) => {
    const [parent, fork] = [view.get("r0"), view.get("r1")]
    if (event.type === "mail.read" && event.run === "r1") weights.push(parent!.weight, fork!.weight, weightOf(fork!))
  })
  await each.runtime.prompt(each.open(), { text: "go" })
  const { messages, system, tools } = model.requests[1]!
  const guess = weighText(system) + weighTools(tools) + weighAll(messages.slice(0, 2))
  const own = weighAll(messages.slice(2))
  const counted = { tokens: 5_321, guess, messages: 2 }
  assert.deepEqual(weights, [counted, counted, { tokens: 5_321 + own, guess: guess + own }])
})
