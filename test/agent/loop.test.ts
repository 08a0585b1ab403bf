import assert from "node:assert/strict"
import { test } from "node:test"
import { decide } from "../../src/agent/loop.ts"
import type { Tool } from "../../src/agent/scope.ts"
import type { Fact } from "../../src/core/event.ts"
import { noUsage } from "../../src/core/usage.ts"
import type { Model, Request } from "../../src/model/model.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply, rawCall } from "../../src/testing/reply.ts"
import { agents, fold, toolsOf, world } from "./world.ts"

const turnsIn = ({ messages }: Request) => messages.filter(({ role }) => role === "assistant").length

/** Runs the main agent with these answers, one a turn; the last one is repeated. */
async function play(replies: Reply[], more: Parameters<typeof world>[1] = {}) {
  const model = scripted((request) => replies[Math.min(turnsIn(request), replies.length - 1)]!)
  const each = world(model, more)
  const run = each.open()
  const outcome = await each.runtime.prompt(run, { text: "go" })
  const view = each.view.get(run)!
  const results = view.messages.flatMap((message) => (message.role === "result" ? [message] : []))
  return { ...each, model, run, outcome, view, results }
}

test("a run without calls is one turn", async () => {
  const { outcome, model, facts } = await play(["hello"])
  assert.deepEqual(outcome, { status: "completed", text: "hello" })
  assert.deepEqual(
    model.requests.map(({ system, messages, toolChoice, tools }) => ({
      system,
      messages,
      toolChoice,
      tools: tools.map(({ name }) => name),
    })),
    [
      {
        system: "MAIN",
        messages: [{ role: "user", text: "go" }],
        toolChoice: "auto",
        tools: ["look", "change", "broken", "deaf", "task"],
      },
    ],
  )
  assert.deepEqual(
    facts.map(({ type }) => type),
    ["run.opened", "mail.sent", "tools.offered", "mail.read", "turn.ended", "run.settled"],
  )
})

test("results come back in the order of the calls, whichever ends first", async () => {
  const tools = toolsOf([]).map((each) => {
    if (each.name !== "look") return each
    const run = async ({ on }: { on: string }) => {
      if (on === "slow") for (let n = 0; n < 50; n++) await null
      return { ok: true, text: on }
    }
    return { ...each, load: async () => ({ ...(await each.load()), run }) as Tool }
  })
  const { results, facts } = await play(
    [[call("look", { on: "slow" }, "a"), call("look", { on: "fast" }, "b")], "end"],
    { tools },
  )
  assert.deepEqual(
    facts.flatMap((fact) => (fact.type === "call.ended" ? [fact.id] : [])),
    ["b", "a"],
  )
  assert.deepEqual(
    results.map(({ text }) => text),
    ["slow", "fast"],
  )
})

test("a tool that wants to be alone overlaps with nothing", async () => {
  const { facts } = await play([
    [call("look", {}, "a"), call("look", {}, "b"), call("change", {}, "c"), call("look", {}, "d")],
    "end",
  ])
  const order = facts.flatMap((fact) =>
    fact.type === "call.started" || fact.type === "call.ended" ? [`${fact.id} ${fact.type.slice(5)}`] : [],
  )
  assert.deepEqual(order, [
    "a started",
    "b started",
    "a ended",
    "b ended",
    "c started",
    "c ended",
    "d started",
    "d ended",
  ])
})

test("two hundred calls in one turn all have their result", async () => {
  const { results, outcome } = await play([Array.from({ length: 200 }, (_, n) => call("look", { on: `${n}` })), "end"])
  assert.deepEqual(
    results.map(({ text }) => text),
    Array.from({ length: 200 }, (_, n) => `look ${n}`),
  )
  assert.equal(outcome.status, "completed")
})

test("unknown tools, wrong case, empty names, bad arguments and tools that break are told to the model", async () => {
  const calls = [
    call("nothing"),
    call("Look"),
    call(""),
    call("look", { wrong: 1 }),
    rawCall("look", '{"on": "x'),
    call("broken"),
  ]
  const { results, outcome, done } = await play([calls, "coped"])
  const there = "there are look, change, broken, deaf, task"
  assert.deepEqual(
    results.map(({ ok, text }) => [ok, text]),
    [
      [false, `there is no tool named "nothing" here; ${there}`],
      [false, `there is no tool named "Look" here; ${there}`],
      [false, `there is no tool named "" here; ${there}`],
      [false, 'the arguments do not fit look:\n✖ Unrecognized key: "wrong"'],
      [false, "the arguments were not whole JSON; send the call again"],
      [false, "the tool broke"],
    ],
  )
  assert.deepEqual(outcome, { status: "completed", text: "coped" })
  assert.deepEqual(done, [])
})

test("arguments with __proto__ reach no prototype", async () => {
  const { results } = await play([[rawCall("look", '{"__proto__": {"polluted": 1}, "on": "x"}')], "end"])
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  assert.equal(results.length, 1)
})

test("the same mistake three times in a row ends the run", async () => {
  const { outcome, model } = await play([[call("look", { wrong: 1 })]])
  assert.equal(model.requests.length, 3)
  assert.deepEqual(outcome, {
    status: "failed",
    text: "",
    error: {
      kind: "bad_calls",
      message: 'made the same mistake 3 times: look: the arguments do not fit look:\n✖ Unrecognized key: "wrong"',
    },
  })
})

test("other mistakes in between do not end it", async () => {
  const wrong = (key: string) => [call("look", { [key]: 1 })]
  const { outcome } = await play([wrong("a"), wrong("a"), wrong("b"), wrong("a"), [call("look")], wrong("a"), "end"])
  assert.equal(outcome.status, "completed")
})

test("a call sent twice is made once; another call with its id, or an id of an earlier turn, gets a new one", async () => {
  const twice = [call("look", { on: "1" }, "x"), call("look", { on: "1" }, "x"), call("look", { on: "2" }, "x")]
  const { results } = await play([twice, [call("look", { on: "3" }, "x")], "end"])
  assert.deepEqual(
    results.map((result) => [result.call, result.text]),
    [
      ["x", "look 1"],
      ["x_2", "look 2"],
      ["x_3", "look 3"],
    ],
  )
})

test("at the turn limit there is one last answer without tools, and the status says so", async () => {
  const replies: Reply[] = [[call("look")], [call("look")], { text: "so far", calls: [call("look")] }]
  const { outcome, model, results } = await play(replies, { limits: { turns: 2 } })
  assert.deepEqual(
    model.requests.map(({ toolChoice }) => toolChoice),
    ["auto", "auto", "none"],
  )
  assert.deepEqual(outcome, { status: "max_turns", text: "so far" })
  assert.equal(results.length, 2)
})

test("turns are counted anew for every prompt", async () => {
  const { runtime, run, outcome } = await play([[call("look")], "one", [call("look")], "two"], { limits: { turns: 2 } })
  assert.deepEqual(outcome, { status: "completed", text: "one" })
  assert.deepEqual(await runtime.prompt(run, { text: "more" }), { status: "completed", text: "two" })
})

test("an answer cut at the token limit is continued once and joined", async () => {
  const { outcome, model } = await play([{ text: "first half, ", stop: "length" }, "second half"])
  assert.deepEqual(outcome, { status: "completed", text: "first half, second half" })
  assert.deepEqual(model.requests.at(-1)?.messages.at(-1), {
    role: "user",
    text: "Your answer was cut at the token limit. Go on exactly where it broke off.",
  })
})

test("an empty answer is asked for once more, then there is no summary", async () => {
  const once = await play(["", "here it is"])
  assert.deepEqual(once.outcome, { status: "completed", text: "here it is" })
  const never = await play([""])
  assert.deepEqual(never.outcome, { status: "completed", text: "(no summary)" })
  assert.equal(never.model.requests.length, 2)
})

test("a refusal is asked about once, then the run has failed", async () => {
  const { outcome, model } = await play([{ text: "I can't", stop: "refusal" }])
  assert.deepEqual(outcome, {
    status: "failed",
    text: "I can't",
    error: { kind: "refused", message: "the model refused to answer" },
  })
  assert.equal(model.requests.length, 2)
})

test("a provider's failure ends the run with its reason, and what it cost is counted", async () => {
  const { outcome, view, facts } = await play([
    [call("look")],
    fail("authentication", "the key is not valid", { usage: { input: 7 } }),
  ])
  const error = { kind: "authentication", message: "the key is not valid" }
  assert.deepEqual(outcome, { status: "failed", text: "", error })
  const failed = facts.find(({ type }) => type === "turn.failed")
  assert.deepEqual(failed && "usage" in failed && "wait" in failed && [failed.error, failed.wait, failed.usage.input], [
    error,
    null,
    7,
  ])
  assert.ok(view.usage.input >= 7)
})

test("a model that cannot be had fails the run with what to do", async () => {
  const each = world(
    scripted(() => "unreached"),
    { model: () => Promise.reject(new Error("set SOME_API_KEY")) },
  )
  const outcome = await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(outcome, { status: "failed", text: "", error: { kind: "not_found", message: "set SOME_API_KEY" } })
})

test("mail sent at any moment is heard, in order", async () => {
  for (let delay = 0; delay < 14; delay++) {
    const each = world(scripted(() => "ok"))
    const run = each.open()
    const work = each.runtime.prompt(run, { text: "one" })
    for (let n = 0; n < delay; n++) await null
    await Promise.all([work, each.runtime.prompt(run, { text: "two" })])
    const { messages, rest } = each.view.get(run)!
    assert.deepEqual(
      messages.flatMap((message) => (message.role === "user" ? [message.text] : [])),
      ["one", "two"],
      `delay ${delay}`,
    )
    assert.equal(messages.at(-1)?.role, "assistant")
    assert.equal(rest?.outcome.status, "completed")
  }
})

test("mail with a key is heard once", async () => {
  const each = world(scripted(() => "ok"))
  const run = each.open()
  await each.runtime.prompt(run, { text: "report", key: "k" })
  await each.runtime.prompt(run, { text: "report", key: "k" })
  assert.equal(each.view.get(run)!.messages.length, 2)
})

test("only a child's final text reaches its parent", async () => {
  const model = scripted((request) => {
    if (request.system === "EXPLORE") return turnsIn(request) === 0 ? [call("look", { on: "secret" })] : "short answer"
    return turnsIn(request) === 0 ? [call("task", { agent: "explore", prompt: "find it" })] : "all done"
  })
  const each = world(model)
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "all done" })
  const parent = JSON.stringify(each.view.get(run)!.messages)
  assert.ok(parent.includes("short answer") && !parent.includes("look secret"))
  const opened = each.facts.filter(({ type }) => type === "run.opened")
  assert.equal(opened.length, 2)
  assert.deepEqual(opened[1], { ...opened[1], origin: { run, call: "call_1_1" }, depth: 1, label: "find it" })
})

test("a child can use no tool outside its role, even if it calls it", async () => {
  const model = scripted((request) => {
    if (request.system === "EXPLORE") return turnsIn(request) === 0 ? [call("change")] : "tried"
    return turnsIn(request) === 0 ? [call("task", { agent: "explore", prompt: "p" })] : "end"
  })
  const each = world(model)
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(each.done, [])
  assert.deepEqual([...each.view.values()][1]!.messages[2], {
    role: "result",
    call: "call_1_1",
    name: "change",
    ok: false,
    text: 'there is no tool named "change" here; there are look',
  })
})

test("a failing child is a failed call and the parent goes on", async () => {
  const model = scripted((request) => {
    if (request.system === "EXPLORE") return fail("overloaded", "overloaded", { retry: false })
    return turnsIn(request) === 0 ? [call("task", { agent: "explore", prompt: "p" })] : "coped"
  })
  const each = world(model)
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), {
    status: "completed",
    text: "coped",
  })
})

test("decide reads nothing but the view", () => {
  const about = { agent: "main", model: "m", depth: 0, root: "/w", system: "", limits: { turns: 1 } }
  const opened: Fact = { type: "run.opened", ...about, role: { tools: "*", denied: [] } }
  const view = fold([
    { seq: 1, at: 0, run: "r", ...opened },
    { seq: 2, at: 0, run: "r", type: "mail.sent", text: "go" },
  ]).get("r")!
  assert.deepEqual(decide(view, { turns: 5, room: 1_000 }), { do: "read" })
  assert.equal(agents[0]?.name, "main")
})

test("a prompt right after a stop is answered", async () => {
  let stuck = true
  const each = world(scripted(() => (stuck ? [call("deaf")] : "answered")))
  const run = each.open()
  const first = each.runtime.prompt(run, { text: "one" })
  await new Promise<void>((resolve) => {
    each.log.listen(({ type }) => type === "call.started" && resolve())
  })
  stuck = false
  void each.runtime.cancel(run)
  assert.deepEqual(await each.runtime.prompt(run, { text: "two" }), { status: "completed", text: "answered" })
  assert.equal((await first).status, "cancelled")
})

test("what a request had cost when it was stopped is counted", async () => {
  const asked = Promise.withResolvers<void>()
  const usage = { ...noUsage(), input: 1_000 }
  const model: Model = {
    ...scripted(() => ""),
    stream: (_, { signal }) =>
      new Promise((resolve) => {
        const error = { kind: "network", message: "the request was stopped" } as const
        signal.addEventListener("abort", () => resolve({ ok: false, error, retry: false, usage }))
        asked.resolve()
      }),
  }
  const each = world(model)
  const run = each.open()
  const outcome = each.runtime.prompt(run, { text: "go" })
  await asked.promise
  await each.runtime.cancel(run)
  assert.deepEqual([await outcome, each.view.get(run)!.usage], [{ status: "cancelled", text: "" }, usage])
})
