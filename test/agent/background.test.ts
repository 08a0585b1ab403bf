import assert from "node:assert/strict"
import { test } from "node:test"
import { call, fail } from "../../src/testing/reply.ts"
import { behind, firstOf, forever, front, heardIn, lastOf, opening, scene, turnsIn, unbroken } from "./scene.ts"
import { fold, toolsOf } from "./world.ts"

test("a child behind is answered for at once, and its result wakes a parent that rests", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene({
    main: ({ messages }, turn) => (turn === 0 ? [behind("find it")] : turn === 1 ? "begun" : lastOf(messages).text),
    child: async () => {
      await gate.promise
      return "found"
    },
  })
  assert.deepEqual(await each.runtime.prompt(each.run, { text: "go" }), { status: "completed", text: "begun" })
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(
    each.main().messages.map((message) => ("text" in message ? message.text : message.role)),
    [
      "go",
      "assistant",
      "launched r1",
      "assistant",
      `${opening}\n\nr1: found\n\nNo other agent is at work for you.`,
      "assistant",
    ],
  )
  assert.equal(each.main().rest?.outcome.status, "completed")
})

test("results that come while the parent works are one message, in the order of their coming, with how many are still at work", async () => {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>())
  const looking = Promise.withResolvers<void>()
  const each = scene(
    {
      main: async (_, turn) => {
        if (turn === 0) return [behind("0"), behind("1"), behind("2")]
        if (turn > 1) return "end"
        looking.resolve()
        await each.until(() => each.sent().length === 2)
        return [call("look")]
      },
      child: async ({ messages }) => {
        await gates[Number(firstOf(messages))]!.promise
        return `done ${firstOf(messages)}`
      },
    },
    { bounds: { parallel: 3 } },
  )
  const work = each.runtime.prompt(each.run, { text: "go" })
  await looking.promise
  gates[1]!.resolve()
  await each.until(() => each.sent().length === 1)
  gates[0]!.resolve()
  await work
  assert.deepEqual(heardIn(each.main().messages), [
    "go",
    `${opening}\n\nr2: done 1\n\nr1: done 0\n\n1 more is still at work; you will hear of each without asking.`,
  ])
  gates[2]!.resolve()
  await each.runtime.idle()
  assert.equal(
    lastOf(each.main().messages.slice(0, -1)).text,
    `${opening}\n\nr3: done 2\n\nNo other agent is at work for you.`,
  )
})

test("a child that is waited for can be sent behind: the call ends, and the result comes later", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("p")] : `turn ${turn}`),
    child: async () => {
      await gate.promise
      return "late"
    },
  })
  each.log.listen((event) => {
    if (event.type === "mail.read" && event.run === "r1") assert.equal(each.runtime.sendBehind("r1"), true)
  })
  assert.deepEqual(await each.runtime.prompt(each.run, { text: "go" }), { status: "completed", text: "turn 1" })
  assert.equal(each.runtime.sendBehind("r1"), false)
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(each.main().rest?.outcome, { status: "completed", text: "turn 2" })
  assert.deepEqual(fold(each.facts), each.view)
})

test("after a set time a child goes on behind by itself", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : `turn ${turn}`),
      child: async () => {
        await gate.promise
        return "late"
      },
    },
    { behindAfter: 5 },
  )
  assert.deepEqual(await each.runtime.prompt(each.run, { text: "go" }), { status: "completed", text: "turn 1" })
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(each.main().rest?.outcome, { status: "completed", text: "turn 2" })
})

test("a program that waits for a result gets it: its child is not sent behind", async () => {
  const each = scene({ main: () => "end", child: () => "found" })
  each.log.listen((event) => {
    if (event.type === "mail.read" && event.run === "r1") assert.equal(each.runtime.sendBehind("r1"), false)
  })
  const result = await each.runtime.finish(
    each.run,
    "program",
    { agent: "explore", prompt: "p", background: true },
    unbroken,
  )
  assert.deepEqual([result.status, result.content], ["completed", "found"])
})

test("a child ends only when all that works behind it has been heard", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("lead", { agent: "lead" })] : "end"),
    lead: ({ messages }, turn) =>
      turn === 0 ? [behind("a"), behind("b")] : turn === 1 ? "wait" : lastOf(messages).text,
    child: ({ messages }) => `done ${firstOf(messages)}`,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  const lead = each.view.get("r1")!
  assert.match(lead.rest?.outcome.text ?? "", /r[23]: done [ab]/)
  const heard = heardIn(lead.messages).join("\n")
  assert.deepEqual([heard.includes("r2: done a"), heard.includes("r3: done b")], [true, true])
  assert.equal(each.main().messages.filter(({ role }) => role === "user").length, 1)
})

test("a child that fails stops those behind it, which nobody would hear any more", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("lead", { agent: "lead" })] : "end"),
    lead: (_, turn) => (turn === 0 ? [behind("a")] : fail("authentication", "no key", { retry: false })),
    child: forever,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual(
    ["r1", "r2"].map((run) => each.view.get(run)?.rest?.outcome.status),
    ["failed", "cancelled"],
  )
  assert.equal(each.runtime.running(), 0)
})

test("stopping a run with its family wakes nobody; what became of the children is heard with the next prompt", async () => {
  const each = scene({
    main: ({ messages }, turn) => (turn === 0 ? [behind("a")] : turn === 1 ? "begun" : lastOf(messages).text),
    child: forever,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.cancel(each.run)
  await each.runtime.idle()
  assert.equal(each.view.get("r1")?.rest?.outcome.status, "cancelled")
  assert.equal(turnsIn(each.main().messages), 2)
  await each.runtime.prompt(each.run, { text: "and now?" })
  assert.deepEqual(
    each
      .main()
      .messages.slice(-3)
      .map((message) => ("text" in message ? message.text : message.role)),
    [`${opening}\n\nr1: \n\nNo other agent is at work for you.`, "and now?", "assistant"],
  )
})

test("a stop that reaches the run alone leaves those behind it at work, and stops those that it waits for", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene(
    {
      main: ({ messages }, turn) => (turn === 0 ? [behind("behind"), front("front")] : lastOf(messages).text),
      child: async ({ messages }) => {
        if (firstOf(messages) === "front") return forever()
        await gate.promise
        return "survived"
      },
    },
    { bounds: { parallel: 2 } },
  )
  each.log.listen((event) => {
    if (event.type === "mail.read" && event.run === "r2") void each.runtime.cancel(each.run, undefined, "run")
  })
  assert.equal((await each.runtime.prompt(each.run, { text: "go" })).status, "cancelled")
  assert.deepEqual([each.view.get("r1")?.rest, each.view.get("r2")?.rest?.outcome.status], [undefined, "cancelled"])
  gate.resolve()
  await each.runtime.idle()
  assert.match(each.main().rest?.outcome.text ?? "", /r1: survived/)
})

test("a stop of the turn goes on with what was said meanwhile", async () => {
  const each = scene({
    main: ({ messages }) => (lastOf(messages).text === "go" ? [call("deaf")] : "heard"),
    child: () => "",
  })
  each.log.listen((event) => {
    if (event.type !== "call.started") return
    void each.runtime.prompt(each.run, { text: "no, this" })
    void each.runtime.cancel(each.run, undefined, "turn")
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.main().rest?.outcome, { status: "completed", text: "heard" })
})

test("a stop that a crash cut short is gone on with: nothing more is called", async () => {
  const each = scene({ main: () => [call("deaf")], child: () => "" })
  each.log.listen((event) => {
    if (event.type === "call.started") void each.runtime.cancel(each.run)
  })
  await each.runtime.prompt(each.run, { text: "go" })
  const cut = each.facts.findIndex(({ type }) => type === "run.stopped") + 1
  const again = scene(
    { main: () => assert.fail("nothing is asked"), child: () => "" },
    { stored: each.facts.slice(0, cut) },
  )
  await again.runtime.resume()
  assert.deepEqual(again.view.get(each.run)?.rest?.outcome, { status: "cancelled", text: "" })
})

test("a child whose provider failed for good is asked once more and goes on from where it was", async () => {
  let asked = 0
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : "end"),
      child: (_, turn) => {
        if (turn === 0) return [call("look")]
        return ++asked === 1 ? fail("overloaded", "too busy", { retry: false }) : "done all the same"
      },
    },
    { retry: { times: 1, wait: () => 3 } },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  const child = each.view.get("r1")!
  assert.deepEqual(child.rest?.outcome, { status: "completed", text: "done all the same" })
  assert.deepEqual(
    each.facts.flatMap((fact) => (fact.type === "run.retried" ? [[fact.run, fact.error, fact.wait]] : [])),
    [["r1", { kind: "overloaded", message: "too busy" }, 3]],
  )
  assert.equal(each.done.length, 1)
})

test("the main run is not asked again by itself, and a child no more often than is set", async () => {
  const failing = () => fail("network", "gone", { retry: false })
  const each = scene({ main: failing, child: failing }, { retry: { times: 2, wait: () => 0 } })
  assert.equal((await each.runtime.prompt(each.run, { text: "go" })).status, "failed")
  const result = await each.runtime.finish(each.run, "c", { agent: "explore", prompt: "p" }, unbroken)
  assert.deepEqual([result.status, each.model.requests.length], ["failed", 1 + 3])
})

test("steering reaches a child at work between two turns, and one at rest goes on with it behind", async () => {
  const each = scene({
    main: ({ messages }, turn) => (turn === 0 ? [behind("p")] : turn === 1 ? "begun" : lastOf(messages).text),
    child: ({ messages }, turn) => (turn === 0 ? [call("look")] : lastOf(messages).text),
  })
  each.log.listen((event) => {
    if (event.type === "call.started" && event.run === "r1")
      assert.equal(each.runtime.tell("r1", { text: "also b" }), "heard")
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.match(each.main().rest?.outcome.text ?? "", /r1: also b/)
  assert.equal(each.runtime.tell("r1", { text: "and c" }), "resumed")
  await each.runtime.idle()
  assert.match(each.main().rest?.outcome.text ?? "", /r1: and c/)
})

test("a finished child that is gone on with in front gives its result to the call and not by mail", async () => {
  const each = scene({
    main: ({ messages }, turn) => {
      if (turn === 0) return [behind("p")]
      if (turn === 1) return "begun"
      return turn === 2 ? [call("task", { prompt: "more", resume: "r1" })] : lastOf(messages).text
    },
    child: ({ messages }) => `heard ${lastOf(messages).text}`,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.main().rest?.outcome, { status: "completed", text: "heard more" })
  assert.equal(each.sent().length, 1)
})

test("calls of tools are a budget of the whole family", async () => {
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : "end"),
      child: ({ messages }) =>
        lastOf(messages).text.startsWith("You have used all your tool calls") ? "sum" : [call("look")],
    },
    { limits: (agent, task, depth) => ({ turns: 20, ...(depth === 0 && { tools: 3 }), ...agent, ...task }) },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual(each.view.get("r1")?.rest?.outcome, { status: "budget", text: "sum" })
})

test("a child's own budget is never more than what its parent has left; one behind is held to all of it", async () => {
  const each = scene(
    { main: () => "end", child: () => "x" },
    {
      limits: (agent, task, depth) => ({
        turns: 20,
        ...(depth === 0 && { tokens: 1000, tools: 7 }),
        ...agent,
        ...task,
      }),
    },
  )
  const task = { agent: "explore", prompt: "p", limits: { tokens: 5000 } }
  await each.runtime.finish(each.run, "a", task, unbroken)
  await each.runtime.task(each.run, "b", { ...task, background: true }, unbroken)
  const [front, back] = ["r1", "r2"].map((run) => each.view.get(run)!.limits)
  assert.deepEqual(front, { turns: 20, tokens: 1000 })
  assert.equal(back!.tools, 7)
  assert.ok(back!.tokens! <= 1000 && back!.tokens! > 0)
})

test("those that share have a board, and nobody else has", async () => {
  const seen: unknown[] = []
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [behind("a", { share: true }), behind("b")] : "end"),
      child: ({ tools }) => {
        seen.push(tools.map(({ name }) => name))
        return "x"
      },
    },
    { tools: boarded() },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(seen.sort(), [["look"], ["look", "board"]])
})

function boarded() {
  const [look] = toolsOf([])
  return [...toolsOf([]), { ...look!, name: "board", shares: true as const }]
}
