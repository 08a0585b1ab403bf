import assert from "node:assert/strict"
import { test } from "node:test"
import type { Message } from "../../src/core/message.ts"
import type { Request } from "../../src/model/model.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"
import { countOf, isSummary, long, weightOf } from "./long.ts"
import { callsAndResults, fold, toolsOf, world } from "./world.ts"

type Asking = { turns: number; size: number; summary?: Reply }

/** Calls the long tool so many times, then answers. */
const counting =
  ({ turns, size, summary = "the notes" }: Asking) =>
  (request: Request): Reply => {
    if (isSummary(request)) return summary
    const n = countOf(request.messages)
    return n < turns ? [call("long", { n: n + 1, size })] : "the end"
  }

const textsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => (message.role === "user" ? [message.text] : []))

const start = (asking: Asking, window: number) => {
  const model = scripted(counting(asking), { window })
  return { model, ...world(model, { tools: [long, ...toolsOf([])], limits: { turns: 1_000 } }) }
}

const compactions = ({ facts }: Pick<ReturnType<typeof world>, "facts">) =>
  facts.flatMap((fact) => (fact.type === "run.compacted" ? [fact] : []))

test("old results shrink to a line each before a request would pass the window", async () => {
  const each = start({ turns: 6, size: 6_600 }, 16_000)
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "the end" })
  const [first, ...more] = compactions(each)
  assert.deepEqual(more, [])
  assert.deepEqual(
    { ...first, seq: 0, at: 0, ms: 0, before: 0, after: 0 },
    {
      seq: 0,
      at: 0,
      run,
      type: "run.compacted",
      from: 9,
      usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
      cost: 0,
      before: 0,
      after: 0,
      ms: 0,
    },
  )
  const results = each.view.get(run)!.messages.filter(({ role }) => role === "result")
  const lengths = results.map((result) => (result.role === "result" ? result.text.length : 0))
  assert.deepEqual(lengths, [50, 50, 50, 50, 6_609, 6_609])
  assert.deepEqual(results[0], {
    role: "result",
    call: "call_1_1",
    name: "long",
    ok: true,
    text: "result 1 … (6609 characters, dropped to save room)",
  })
})

test("a session of 400 turns with large results ends well, and no request passes the window", async () => {
  for (const window of [8_000, 40_000]) {
    const each = start({ turns: 400, size: 22_000 }, window)
    const run = each.open()
    assert.deepEqual(await each.runtime.prompt(run, { text: "count to 400" }), { status: "completed", text: "the end" })
    assert.deepEqual(
      each.model.requests.filter((request) => weightOf(request) > window),
      [],
    )
    const { messages, turns } = each.view.get(run)!
    assert.equal(turns, 401)
    assert.deepEqual(fold(each.facts), each.view)
    // The task stays, word for word.
    assert.ok(messages.some((message) => message.role === "user" && message.text === "count to 400"))
    const { asked, got } = callsAndResults(each.view.get(run)!)
    assert.deepEqual(got, asked)
  }
})

test("a summary is asked for without tools, costs what it costs, and stands for what came before", async () => {
  const cost = () => 1
  const model = scripted(counting({ turns: 60, size: 440, summary: "THE NOTES" }), { window: 6_000, cost })
  const each = world(model, { tools: [long], limits: { turns: 1_000 } })
  const run = each.open()
  await each.runtime.prompt(run, { text: "the task" })
  const summaries = model.requests.filter((request) => request.tools.length === 0)
  const facts = compactions(each).filter(({ summary }) => summary !== undefined)
  assert.ok(facts.length > 0 && summaries.length >= facts.length)
  assert.equal(
    each.view.get(run)!.cost,
    model.requests.length,
    "each request is paid for once, those for summaries too",
  )
  const [after] = model.requests.slice(model.requests.indexOf(summaries[0]!) + 1)
  assert.deepEqual(after!.messages.slice(0, 2), [
    {
      role: "user",
      text: "What came before in this conversation was summed up, to save room:\n\nTHE NOTES\n\nThe task at hand follows, word for word.",
    },
    { role: "user", text: "the task" },
  ])
  assert.equal(after!.messages[2]!.role, "assistant")
  const [asked] = textsOf(summaries[0]!.messages)
  assert.match(asked!, /^<conversation>\nUser: the task\n\nCall: long \{"n":1,"size":440\}\n\nResult: result 1 …/)
})

test("what a user said later than the task is in what is summed up, and the task of a later prompt takes its place", async () => {
  const each = start({ turns: 40, size: 440 }, 6_000)
  const run = each.open()
  await each.runtime.prompt(run, { text: "first task" })
  each.model.requests.length = 0
  const second = world(scripted(counting({ turns: 80, size: 440 }), { window: 6_000 }), {
    stored: each.facts,
    tools: [long],
    limits: { turns: 1_000 },
  })
  await second.runtime.prompt(run, { text: "second task" })
  const { messages, task } = second.view.get(run)!
  assert.deepEqual(messages[task], { role: "user", text: "second task" })
  assert.ok(!messages.some((message) => message.role === "user" && message.text === "first task"))
})

test("where the results of one turn are too much by themselves, they are cut", async () => {
  const model = scripted(
    (request) => {
      if (isSummary(request)) return "notes"
      if (request.messages.length > 1) return "the end"
      return [1, 2, 3, 4].map((n) => call("long", { n, size: n === 1 ? 110 : 44_000 }))
    },
    { window: 8_000 },
  )
  const each = world(model, { tools: [long] })
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "the end" })
  assert.ok(weightOf(model.requests.at(-1)!) < 8_000)
  const texts = each.view.get(run)!.messages.flatMap((each) => (each.role === "result" ? [each.text] : []))
  assert.equal(texts[0]!.length, 119)
  for (const text of texts.slice(1)) assert.match(text, /… \(cut at \d+ of 44009 characters to save room: /)
})

test("when the provider finds it too long all the same, it is made shorter once more and asked again", async () => {
  const sizes: number[] = []
  const model = scripted((request) => {
    if (isSummary(request)) return "notes"
    sizes.push(weightOf(request))
    // Its window is far smaller than anybody was told.
    if (weightOf(request) > 12_000) return fail("context_overflow", "prompt is too long")
    return counting({ turns: 8, size: 6_600 })(request)
  })
  const each = world(model, { tools: [long], limits: { turns: 100 } })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), { status: "completed", text: "the end" })
  const kinds = each.facts.map(({ type }) => type)
  const at = kinds.indexOf("turn.failed")
  assert.deepEqual(kinds.slice(at, at + 3), ["turn.failed", "run.compacted", "turn.ended"])
})

test("the second time in a row the run ends as failed, with the reason and with what it has", async () => {
  const model = scripted((request) => {
    if (isSummary(request)) return "notes"
    return request.messages.length === 1
      ? { text: "so far, so good", calls: [call("long", { n: 1, size: 44_000 })] }
      : fail("context_overflow", "prompt is too long")
  })
  const each = world(model, { tools: [long] })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), {
    status: "failed",
    text: "so far, so good",
    error: { kind: "context_overflow", message: "prompt is too long" },
  })
  assert.equal(each.facts.filter(({ type }) => type === "turn.failed").length, 2)
  assert.equal(compactions(each).length, 1)
})

test("a task that is too long by itself fails with the provider's reason", async () => {
  const model = scripted(() => fail("context_overflow", "prompt is too long"), { window: 1_000 })
  const each = world(model)
  const run = each.open()
  const outcome = await each.runtime.prompt(run, { text: "x".repeat(9_000) })
  assert.deepEqual(outcome, {
    status: "failed",
    text: "",
    error: { kind: "context_overflow", message: "prompt is too long" },
  })
})

test("a model that gives no summary, or fails at it, ends the run with the reason", async () => {
  for (const [summary, error] of [
    [
      "",
      { kind: "context_overflow", message: "the conversation is too long for the model, and it gave no summary of it" },
    ],
    [fail("authentication", "no such key"), { kind: "authentication", message: "no such key" }],
  ] as const) {
    const each = start({ turns: 60, size: 440, summary }, 6_000)
    assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), { status: "failed", text: "", error })
  }
})

test("more to sum up than fits is summed up piece by piece", async () => {
  const seen: string[] = []
  const model = scripted(
    (request) => {
      if (!isSummary(request)) return counting({ turns: 3, size: 440 })(request)
      seen.push((request.messages[0] as { text: string }).text)
      return `notes ${seen.length}`
    },
    { window: 4_000 },
  )
  const each = world(model, { tools: [long] })
  const run = each.open()
  const said = Array.from({ length: 900 }, (_, n) => `line ${n}`).join("\n")
  for (const text of [said, said, "and now"]) await each.runtime.prompt(run, { text })
  assert.match(seen[1]!, /^Notes on what came earlier:\n\nnotes 1\n\n<conversation>/)
})

test("a child's conversation is made shorter as its parent's is, and its task stays", async () => {
  const model = scripted(
    (request) => {
      if (isSummary(request)) return "notes"
      const child = request.system === "LEAD"
      if (child) return counting({ turns: 100, size: 4_400 })(request)
      return request.messages.length === 1 ? [call("task", { agent: "lead", prompt: "the child's task" })] : "all done"
    },
    { window: 9_000 },
  )
  const each = world(model, { tools: [long, ...toolsOf([])], limits: { turns: 1_000 } })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), { status: "completed", text: "all done" })
  const child = [...each.view.values()].find(({ depth }) => depth === 1)!
  assert.ok(compactions(each).every(({ run }) => run === child.id))
  assert.deepEqual(child.messages[child.task], { role: "user", text: "the child's task" })
})

test("a fork after a compaction shares its parent's last request", async () => {
  const model = scripted(
    (request) => {
      if (isSummary(request)) return "notes"
      const { messages } = request
      if (messages.some((message) => message.role === "user" && message.text === "the fork's task")) return "forked"
      if (messages.some((message) => message.role === "result" && message.name === "task")) return "the end"
      const n = countOf(messages)
      if (n < 60) return [call("long", { n: n + 1, size: 440 })]
      return [call("task", { prompt: "the fork's task", context: "fork" })]
    },
    { window: 6_000 },
  )
  const tools = [long, ...toolsOf([])]
  const each = world(model, { tools, limits: { turns: 1_000 } })
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.ok(compactions(each).length > 0)
  const child = model.requests.findIndex(({ messages }) => textsOf(messages).includes("the fork's task"))
  const [parent, fork] = [model.requests[child - 1]!, model.requests[child]!]
  assert.match(textsOf(parent.messages)[0]!, /^What came before in this conversation was summed up/)
  assert.deepEqual(fork.messages.slice(0, parent.messages.length), parent.messages)
  assert.deepEqual([fork.system, fork.tools], [parent.system, parent.tools])
})
