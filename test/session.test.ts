import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import * as z from "zod"
import { type Options, open, tool } from "../src/index.ts"
import { memory } from "../src/store/memory.ts"
import { call, scripted } from "../src/testing.ts"

async function session(t: TestContext, options: Options) {
  const cwd = await mkdtemp(join(tmpdir(), "legwork-session-"))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  return open({ cwd, env: { HOME: cwd }, store: memory(), ...options })
}

test("agents that a program registers are told to the model from the next prompt on, and can be started", async (t) => {
  const model = scripted(({ tools }) => tools.find(({ name }) => name === "task")?.description ?? "child")
  const each = await session(t, { model })
  assert.doesNotMatch((await each.prompt("one")).text, /- critic:/)
  each.register({ critic: { description: "Finds faults.", prompt: "You find faults." } })
  assert.match((await each.prompt("two")).text, /^- critic: Finds faults\.$/m)
  assert.deepEqual((await each.task({ agent: "critic", prompt: "p" })).content, "child")
  assert.throws(() => each.register({ bad: { description: "x" } as never }), /the agent "bad" has no prompt/)
  await each.close()
  await assert.rejects(each.task({ agent: "critic", prompt: "p" }), /the session is closed/)
})

test("a program hears every event, and the stream ends with the session", async (t) => {
  const heard: string[] = []
  const each = await session(t, { model: scripted(() => "hi there"), listen: ({ type }) => heard.push(type) })
  const events = (async () => {
    const all: string[] = []
    for await (const { type } of each.events()) all.push(type)
    return all
  })()
  await each.prompt("hello")
  await each.close()
  const all = [
    "run.opened",
    "mail.sent",
    "tools.offered",
    "mail.read",
    "turn.delta",
    "turn.delta",
    "turn.ended",
    "run.settled",
  ]
  assert.deepEqual(heard, all)
  assert.deepEqual(await events, all.slice(1))
  for await (const _ of each.events()) assert.fail("nothing happens in a closed session")
})

test("questions wait for whoever attends, and are answered by run and call", async (t) => {
  const model = scripted(({ messages }) =>
    messages.length > 1 ? "done" : [call("bash", { command: "echo hi" }, "c1")],
  )
  const each = await session(t, { model, attended: true })
  each.listen((event) => {
    if (event.type !== "gate.asked") return
    assert.equal(each.answer({ run: event.run, call: "another" }, { allow: true }), false)
    assert.equal(each.answer({ run: event.run, call: event.call }, { allow: true }), true)
  })
  const { status, refused } = await each.prompt("go")
  assert.deepEqual([status, refused], ["completed", []])
  await each.close()
})

test("tools of a program work beside the built-in ones and may not take their names", async (t) => {
  const own = (name: string) =>
    tool({
      name,
      description: "Adds.",
      input: z.strictObject({ a: z.number(), b: z.number() }),
      repeatable: true,
      access: () => ({ kind: "none" }),
      run: async ({ a, b }) => ({ ok: true, text: `${a + b}` }),
    })
  const model = scripted(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "result" ? `it is ${last.text}` : [call("add", { a: 2, b: 3 })]
  })
  const each = await session(t, { model, tools: [own("add")] })
  assert.equal((await each.prompt("2 + 3?")).text, "it is 5")
  await each.close()
  await assert.rejects(session(t, { model, tools: [own("read")] }), /there is a built-in tool named read/)
})

test("whoever writes @name asks for that agent; other words with @ mean nothing", async (t) => {
  const model = scripted(({ messages }) => (messages.at(-1) as { text: string }).text)
  const each = await session(t, { model })
  assert.equal(
    (await each.prompt("@Explore: where is it? ask @plan too")).text,
    "@Explore: where is it? ask @plan too\n\n(The user asks for explore and plan by name: hand the work over with the task tool.)",
  )
  for (const text of ["mail me@explore.org", "@nobody there", "an @ alone"])
    assert.equal((await each.prompt(text)).text, text)
  await each.close()
})

test("whoever wants to know how far a run is hears it whenever something happens to it or below it", async (t) => {
  const model = scripted(({ system, messages }) => {
    if (!system.includes("You are a subagent")) return "main"
    return messages.length === 1 ? [call("ls", {})] : "done"
  })
  const each = await session(t, { model })
  const states = new Set<string>()
  const seen: (string | undefined)[] = []
  const end = each.onProgress(each.main, ({ state }) => states.add(state))
  each.listen((event) => {
    if (event.type === "call.started") seen.push(each.progress(event.run).tool)
  })
  const { agentId } = await each.task({ agent: "general", prompt: "look" })
  end()
  assert.deepEqual(seen, ["ls"])
  assert.deepEqual([...states], ["ready"])
  const { state, tools, family } = each.progress(agentId)
  assert.deepEqual([state, tools, family.tools], ["done", 1, 1])
  assert.throws(() => each.progress("nobody"), /there is no run nobody in this session/)
  await each.close()
})

test("the same question to a read-only agent is answered from before while nothing in the folder has changed", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "legwork-cached-"))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  let asked = 0
  const model = scripted(() => `answer ${++asked}`)
  const state = await mkdtemp(join(tmpdir(), "legwork-state-"))
  t.after(() => rm(state, { recursive: true, force: true }))
  const each = await open({ cwd, env: { HOME: cwd, XDG_STATE_HOME: state }, store: memory(), model })
  const task = { agent: "explore", prompt: "where?", cache: true }
  const [first, second] = [await each.task(task), await each.task(task)]
  assert.deepEqual(
    [first.content, first.cached, second.content, second.cached],
    ["answer 1", undefined, "answer 1", true],
  )
  await writeFile(join(cwd, "new.txt"), "new")
  assert.equal((await each.task(task)).content, "answer 2")
  await assert.rejects(
    each.task({ ...task, agent: "code" }),
    /agent code is not read-only, so its answers are not kept/,
  )
  await each.close()
})

test("a conversation is made shorter on request, and goes on from there", async (t) => {
  const model = scripted(({ system, messages }) =>
    system.startsWith("You shorten") ? "notes of it all" : `${"word ".repeat(400)}${messages.length}`,
  )
  const each = await session(t, { model })
  assert.equal(await each.compact(), false)
  for (const text of ["one", "two", "three", "four"]) await each.prompt(text)
  const before = each.view.get(each.main)!.messages.length
  assert.equal(await each.compact(), true)
  const { messages, notes } = each.view.get(each.main)!
  assert.deepEqual([messages.length < before, notes], [true, "notes of it all"])
  assert.equal((await each.prompt("five")).status, "completed")
  await each.close()
})

test("what is said while a conversation is made shorter is heard after that", async (t) => {
  const summing = Promise.withResolvers<void>()
  const go = Promise.withResolvers<void>()
  const model = scripted(async ({ system, messages }) => {
    if (!system.startsWith("You shorten")) return `${"word ".repeat(400)}${messages.length}`
    summing.resolve()
    await go.promise
    return "notes"
  })
  const each = await session(t, { model })
  for (const text of ["one", "two", "three", "four"]) await each.prompt(text)
  const shorter = each.compact()
  await summing.promise
  await assert.rejects(each.compact(), /it is at work/)
  each.listen(({ type }) => {
    if (type === "mail.sent") go.resolve()
  })
  const answer = each.prompt("five")
  assert.equal(await shorter, true)
  assert.equal((await answer).status, "completed")
  assert.deepEqual(each.view.get(each.main)!.messages.at(-2), { role: "user", text: "five" })
  await each.close()
})

test("another model answers from the next prompt on, and one that cannot be had leaves all as it was", async (t) => {
  const each = await session(t, { model: scripted(() => "scripted") })
  await each.prompt("one")
  await assert.rejects(each.useModel("anthropic/any"), /ANTHROPIC_API_KEY/)
  assert.equal(each.model, "scripted/model")
  assert.equal(await each.useModel("offline"), "offline/legwork")
  assert.deepEqual([each.model, each.view.get(each.main)!.model], ["offline/legwork", "offline/legwork"])
  assert.match((await each.prompt("budget")).text, /This was the offline model/)
  assert.ok(each.models().includes("offline/legwork") && !each.models().some((id) => id.startsWith("anthropic/")))
  await each.close()
})
