import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { tool } from "../../src/agent/scope.ts"
import type { Request } from "../../src/model/model.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"
import { agents, type Making, toolsOf, world } from "./world.ts"

const turnsIn = ({ messages }: Request) => messages.filter(({ role }) => role === "assistant").length

/** A main agent that makes these calls and then ends, and children that answer as told. */
async function delegate(calls: ReturnType<typeof call>[], child: (request: Request) => Reply, making: Making = {}) {
  const model = scripted((request) => {
    if (request.system !== "MAIN") return child(request)
    return turnsIn(request) === 0 ? calls : "end"
  })
  const each = world(model, making)
  const run = each.open()
  const outcome = await each.runtime.prompt(run, { text: "go" })
  const results = each.view.get(run)!.messages.flatMap((message) => (message.role === "result" ? [message] : []))
  return { ...each, model, run, outcome, results, texts: results.map(({ text }) => text) }
}
const task = (agent: string, prompt: string, more: object = {}) => call("task", { agent, prompt, ...more })

test("a child's history is its prompt and nothing else", async () => {
  const { model } = await delegate([task("explore", "find it", { label: "for people" })], () => "found")
  const asked = model.requests.find(({ system }) => system === "EXPLORE")
  assert.deepEqual(asked?.messages, [{ role: "user", text: "find it" }])
  assert.deepEqual(
    asked?.tools.map(({ name }) => name),
    ["look"],
  )
})

test("one failing child among eight does not disturb the others, and results keep the order of the calls", async () => {
  const calls = Array.from({ length: 8 }, (_, n) => task("explore", `number ${n}`))
  const { results, outcome } = await delegate(calls, ({ messages }) => {
    const prompt = messages[0]?.role === "user" ? messages[0].text : ""
    return prompt === "number 3" ? fail("overloaded", "overloaded", { retry: false }) : `done with ${prompt}`
  })
  assert.deepEqual(
    results.map(({ ok, text }) => [ok, text]),
    Array.from({ length: 8 }, (_, n) => (n === 3 ? [false, ""] : [true, `done with number ${n}`])),
  )
  assert.equal(outcome.status, "completed")
})

test("no more than `parallel` children work at once, and nested delegation cannot starve itself of places", async () => {
  let [now, most] = [0, 0]
  const model = scripted(async (request) => {
    if (request.system === "MAIN")
      return turnsIn(request) === 0 ? Array.from({ length: 6 }, () => task("lead", "p")) : "end"
    if (request.system === "LEAD") return turnsIn(request) === 0 ? [task("explore", "q")] : "led"
    most = Math.max(most, ++now)
    for (let n = 0; n < 10; n++) await null
    now--
    return "x"
  })
  const each = world(model, { bounds: { parallel: 1 } })
  assert.equal((await each.runtime.prompt(each.open(), { text: "go" })).status, "completed")
  assert.equal(most, 1)
})

test("bad tasks are error results that say what to do", async () => {
  const { texts, view } = await delegate(
    [task("nobody", "p"), task("lost", "p"), task("explore", "  "), task("explore", "p", { resume: "r99" })],
    () => "x",
  )
  assert.deepEqual(texts, [
    'there is no agent named "nobody"; there are main, lead, explore, reader, lost',
    "agent lost has no tools left here; it asks for nothing",
    "the prompt is empty: say what the agent is to do",
    'there is no agent with the id "r99" in this session',
  ])
  assert.equal(view.size, 1)
})

test("an agent at the greatest depth is not offered the tool, and cannot use it by calling it anyway", async () => {
  const { view, model } = await delegate(
    [task("lead", "p")],
    (request) => (turnsIn(request) === 0 ? [task("lead", "q")] : "led"),
    {
      bounds: { depth: 1 },
    },
  )
  assert.ok(!model.requests.find(({ system }) => system === "LEAD")?.tools.some(({ name }) => name === "task"))
  assert.equal(view.size, 2)
})

/** A parent that starts a child, then makes these calls; what they gave back. */
async function goingOn(...calls: ReturnType<typeof call>[]) {
  const model = scripted((request) => {
    if (request.system === "EXPLORE") return `heard ${request.messages.length}`
    const steps: Reply[] = [[task("explore", "first")], calls, "end"]
    return steps[turnsIn(request)]!
  })
  const each = world(model)
  const run = each.open()
  await each.runtime.prompt(run, { text: "go" })
  const texts = each.view.get(run)!.messages.flatMap((message) => (message.role === "result" ? [message.text] : []))
  return { ...each, texts }
}

test("a settled child goes on where it was, if its id, its type and its parent are right", async () => {
  const { texts, view } = await goingOn(
    task("explore", "second", { resume: "r1" }),
    task("lead", "third", { resume: "r1" }),
  )
  assert.deepEqual(texts, ["heard 1", "heard 3", "agent r1 is of type explore, not lead"])
  assert.equal(view.size, 2)
})

test("a child that says what it will do, and stops, is asked for its report once", async () => {
  const replies = ["Let me look at the files:", "The answer is 42."]
  const { texts } = await delegate([task("explore", "p")], (request) => replies[turnsIn(request)]!)
  assert.deepEqual(texts, ["The answer is 42."])
  const stubborn = await delegate([task("explore", "p")], () => "I'll do it now.")
  assert.deepEqual(stubborn.texts, ["I'll do it now."])
})

const never = new AbortController().signal
const spending = { usage: { input: 60, output: 40 } }

test("a token budget covers the family: at its end there is one last answer, and the status says budget", async () => {
  const child = (request: Request): Reply =>
    request.toolChoice === "none" ? { text: "so far", ...spending } : { calls: [call("look")], ...spending }
  const each = world(
    scripted((request) => {
      if (request.system !== "MAIN") return child(request)
      return turnsIn(request) === 0 ? { calls: [task("explore", "p")], ...spending } : { text: "end", ...spending }
    }),
    { limits: { tokens: 450 } },
  )
  const run = each.open()
  const outcome = await each.runtime.prompt(run, { text: "go" })
  const [main, kid] = [...each.view.values()]
  assert.deepEqual(kid?.rest?.outcome, { status: "budget", text: "so far" })
  assert.deepEqual(outcome, { status: "budget", text: "end" })
  assert.equal(kid!.family.usage.input + kid!.family.usage.output, 500)
  assert.ok(main!.told.has("tokens"))
})

test("a cost limit ends a run, and a price that nobody knows counts as spent", async () => {
  for (const price of [() => 0.5, () => null]) {
    const model = scripted(({ toolChoice }) => (toolChoice === "none" ? "so far" : [call("look")]), { cost: price })
    const each = world(model, { limits: { cost: 0.9 } })
    const { status } = await each.runtime.prompt(each.open(), { text: "go" })
    assert.equal(status, "budget")
    assert.ok(model.requests.length <= 3)
  }
})

test("when a child's time is up it ends with what it started, and its parent goes on", async () => {
  const { results, view } = await delegate([task("lead", "p")], () => [call("deaf")], {
    limits: (agent, own, depth) => ({ turns: 20, ...agent, ...own, ...(depth > 0 && { timeout: 20 }) }),
  })
  assert.deepEqual(
    results.map(({ ok, text }) => [ok, text]),
    [[false, ""]],
  )
  assert.equal(view.get("r1")?.rest?.outcome.status, "timeout")
})

test("a run around which nothing happens is ended; one that is busy is not", async () => {
  const { view } = await delegate([task("lead", "p")], () => [call("deaf")], {
    limits: (agent, own, depth) => ({ turns: 20, ...agent, ...own, ...(depth > 0 && { idle: 40 }) }),
  })
  assert.equal(view.get("r1")?.rest?.outcome.status, "timeout")
})

test("time spent waiting for a person is not charged", async () => {
  const asked = Promise.withResolvers<void>()
  const { view } = await delegate(
    [task("lead", "p")],
    (request) => (turnsIn(request) === 0 ? [call("change")] : "done"),
    {
      gate: ({ access }) => (access.kind === "write" ? { do: "ask" } : { do: "allow" }),
      answer: async () => {
        setTimeout(asked.resolve, 150)
        await asked.promise
        return { allow: true }
      },
      limits: (agent, own, depth) => ({ turns: 20, ...agent, ...own, ...(depth > 0 && { timeout: 100, idle: 40 }) }),
    },
  )
  assert.deepEqual(view.get("r1")?.rest?.outcome, { status: "completed", text: "done" })
})

test("what a program gets: numbers of this task alone, and a receipt from the record", async () => {
  const writes = offer(
    tool({
      name: "writes",
      description: "",
      input: z.strictObject({ after: z.string() }),
      repeatable: false,
      access: () => ({ kind: "none" }),
      run: async ({ after }) => ({
        ok: true,
        text: "ok",
        touched: [
          { did: "read", path: "/w/read", hash: "h" },
          { did: "wrote", path: "/w/file", before: after === "2" ? "1" : null, hash: after },
        ],
        details: { kind: "command", command: `make ${after}`, exit: 0, signal: null, timedOut: false },
      }),
    }),
  )
  const model = scripted((request) => {
    if (turnsIn(request) === 0)
      return {
        calls: [call("writes", { after: "1" }), call("writes", { after: "2" })],
        usage: { input: 10, output: 5 },
      }
    return { text: `I changed nothing at all`, usage: { input: 20, output: 5 } }
  })
  const each = world(model, { tools: [...toolsOf([]), writes] })
  const main = each.open()
  const first = await each.runtime.finish(main, "one", { agent: "lead", prompt: "do it" }, never)
  assert.deepEqual(
    { ...first, durationMs: 0 },
    {
      status: "completed",
      agentId: "r1",
      agentType: "lead",
      content: "I changed nothing at all",
      toolCalls: 2,
      durationMs: 0,
      usage: { input: 30, output: 10, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      cost: 0,
      model: "m",
      receipt: {
        filesRead: ["/w/read"],
        filesChanged: [{ path: "/w/file", before: null, after: "2" }],
        commands: [
          { command: "make 1", exit: 0 },
          { command: "make 2", exit: 0 },
        ],
        refused: 0,
        ended: "it finished",
      },
    },
  )
  const second = await each.runtime.finish(main, "two", { prompt: "anything else?", resume: "r1" }, never)
  assert.deepEqual([second.toolCalls, second.usage.input, second.receipt.filesChanged], [0, 20, []])
  assert.deepEqual(
    await each.runtime.finish(main, "one", { agent: "lead", prompt: "do it" }, never).then(({ agentId }) => agentId),
    "r1",
  )
  assert.equal(each.view.size, 2)
})

test("stopped while a child is being opened, nothing is begun any more", async () => {
  const looking = Promise.withResolvers<void>()
  const found = Promise.withResolvers<void>()
  const model = scripted((request) => (turnsIn(request) === 0 ? [task("lead", "p")] : "end"))
  const each = world(model, {
    agent: async (name) => {
      looking.resolve()
      await found.promise
      return agents.find((agent) => agent.name === name)!
    },
  })
  const run = each.open()
  const outcome = each.runtime.prompt(run, { text: "go" })
  await looking.promise
  await each.runtime.cancel(run)
  found.resolve()
  assert.equal((await outcome).status, "cancelled")
  await null
  assert.deepEqual([each.view.size, model.requests.length], [1, 1])
})

test("of two requests in one turn to go on with a child, one is refused", async () => {
  const { texts } = await goingOn(
    task("explore", "second", { resume: "r1" }),
    task("explore", "third", { resume: "r1" }),
  )
  assert.deepEqual(texts, [
    "heard 1",
    "heard 3",
    "agent r1 is still at work: wait for its result, or steer it with task_message",
  ])
})

test("an agent that may start only some others can start none but those", async () => {
  const lead = agents.find(({ name }) => name === "lead")!
  const picky = { ...lead, name: "picky", prompt: "PICKY", role: { ...lead.role, mayStart: ["explore"] } }
  const all = [...agents, picky]
  const model = scripted((request) => {
    if (turnsIn(request) > 0) return "end"
    if (request.system === "MAIN") return [task("picky", "p")]
    return request.system === "PICKY" ? [task("lead", "q"), task("explore", "q")] : "explored"
  })
  const each = world(model, { agent: async (name) => all.find((agent) => agent.name === name)! })
  await each.runtime.prompt(each.open(), { text: "go" })
  const texts = each.view.get("r1")!.messages.flatMap((message) => (message.role === "result" ? [message.text] : []))
  assert.deepEqual(texts, ["this agent may start only explore, not lead", "explored"])
})

test("the receipt of a child has what its own children did, in the order in which it was done", async () => {
  const wrote = (name: string, before: string | null, after: string) =>
    offer(
      tool({
        name,
        description: "",
        input: z.strictObject({}),
        repeatable: true,
        access: () => ({ kind: "none" }),
        run: async () => ({ ok: true, text: "", touched: [{ did: "wrote", path: "/w/f", before, hash: after }] }),
      }),
    )
  const model = scripted((request) => {
    const steps: Record<string, Reply[]> = {
      MAIN: [[task("lead", "p")], "end"],
      LEAD: [[task("reader", "q")], [call("second")], "led", "nothing more"],
      READER: [[call("first")], "done"],
    }
    return steps[request.system]![turnsIn(request)]!
  })
  const each = world(model, { tools: [...toolsOf([]), wrote("first", null, "h1"), wrote("second", "h1", "h2")] })
  const main = each.open()
  const first = await each.runtime.finish(main, "one", { agent: "lead", prompt: "p" }, never)
  assert.deepEqual(first.receipt.filesChanged, [{ path: "/w/f", before: null, after: "h2" }])
  const again = await each.runtime.finish(main, "two", { prompt: "more?", resume: first.agentId }, never)
  assert.deepEqual([again.content, again.receipt.filesChanged], ["nothing more", []])
})

test("waiting for a place is not idleness, and a month is not over at once", async () => {
  const [slow, full] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let taken = 0
  const model = scripted(async (request) => {
    if (request.system === "MAIN") return turnsIn(request) === 0 ? [task("reader", "p"), task("lead", "p")] : "end"
    if (request.system === "READER")
      return turnsIn(request) === 0 ? [task("explore", "slow"), task("explore", "slow")] : "read"
    if (request.system === "LEAD") {
      await full.promise
      return turnsIn(request) === 0 ? [task("explore", "q")] : "led"
    }
    if (!JSON.stringify(request.messages).includes("slow")) return "quick"
    if (++taken === 2) full.resolve()
    await slow.promise
    return "slow"
  })
  const month = 30 * 24 * 3_600_000
  const impatient = agents.map((agent) => (agent.name === "lead" ? { ...agent, limits: { idle: 30 } } : agent))
  const each = world(model, {
    bounds: { parallel: 2, depth: 2 },
    agent: async (name) => impatient.find((agent) => agent.name === name)!,
    limits: (agent, own) => ({ turns: 20, timeout: month, ...agent, ...own }),
  })
  // The lead waits for its child, and that one for a place at its depth: both are taken until now.
  setTimeout(slow.resolve, 150)
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(
    [...each.view.values()].map(({ rest }) => rest?.outcome.status),
    Array.from({ length: 6 }, () => "completed"),
  )
})

test("an agent that goes on keeps its model and its limits", async () => {
  const each = world(scripted(() => "ok"))
  const main = each.open()
  const { agentId } = await each.runtime.finish(main, "one", { agent: "lead", prompt: "p" }, never)
  await assert.rejects(
    each.runtime.finish(main, "two", { prompt: "q", resume: agentId, model: "other" }, never),
    /goes on with the model, limits and context that it has/,
  )
})
