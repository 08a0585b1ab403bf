import assert from "node:assert/strict"
import { test } from "node:test"
import { noUsage } from "../../src/core/usage.ts"
import { createEncoder } from "../../src/model/anthropic-encode.ts"
import { chatEncoder } from "../../src/model/openai-chat-encode.ts"
import { responsesEncoder } from "../../src/model/openai-responses-encode.ts"
import { illegal } from "../../src/testing/illegal.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, type Reply } from "../../src/testing/reply.ts"
import { type Counting, counting, factsOf, isSummary, kindsFrom, long, questionOf, weightOf } from "./long.ts"
import { callsAndResults, fold, toolsOf, world } from "./world.ts"

const start = (asking: Counting, window: number, turns = 1_000) => {
  const model = scripted(counting(asking), { window })
  return { model, ...world(model, { tools: [long, ...toolsOf([])], limits: { turns } }) }
}

test("old results shrink to a line each before a request would pass the window", async () => {
  const each = start({ turns: 6, size: 6_600 }, 16_000)
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "the end" })
  const [first, ...more] = factsOf(each.facts, "run.compacted")
  assert.deepEqual(more, [])
  const { seq, at, ms, before, ...rest } = first!
  const asked = each.model.requests[factsOf(each.facts, "turn.ended").findIndex((turn) => turn.seq > seq)]!
  const after = weightOf(asked)
  assert.deepEqual(rest, { run, type: "run.compacted", from: 9, after, usage: noUsage(), cost: 0 })
  const results = each.view.get(run)!.messages.flatMap((message) => (message.role === "result" ? [message] : []))
  const lengths = results.map(({ text }) => text.length)
  assert.deepEqual(lengths, [50, 50, 50, 50, 6_609, 6_609])
  // Four results weighed 2,203 tokens more each, less a line of 18.
  assert.equal(before - after, 4 * (2_203 - 18))
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
  const summaries = model.requests.filter(isSummary)
  const facts = factsOf(each.facts, "run.compacted").filter(({ summary }) => summary !== undefined)
  assert.ok(facts.length > 0 && summaries.length >= facts.length)
  assert.ok(summaries.every(({ toolChoice, tools }) => toolChoice === "none" && tools.length === 0))
  const { requests } = model
  assert.equal(each.view.get(run)!.cost, requests.length, "each is paid for once, those for summaries too")
  const after = requests.slice(requests.indexOf(summaries[0]!)).find((request) => !isSummary(request))!
  assert.deepEqual(after.messages.slice(0, 2), [
    {
      role: "user",
      text: "What came before in this conversation was summed up, to save room:\n\nTHE NOTES\n\nThe task at hand follows, word for word.",
    },
    { role: "user", text: "the task" },
  ])
  assert.equal(after.messages[2]!.role, "assistant")
})

test("a summary is made of what was said, called and found, each up to a length, and not of thoughts", async () => {
  const [said, input, found] = ["s".repeat(6_001), "i".repeat(500), "some words ".repeat(200)]
  const replies: Reply[] = [
    { reasoning: "a thought", text: said, calls: [call("long", { n: 1, size: 2_200 }), call("long", { n: input })] },
    "done",
    "the end",
  ]
  const first = world(
    scripted((_, n) => replies[n]!),
    { tools: [long] },
  )
  const run = first.open()
  await first.runtime.prompt(run, { text: `${said}s` })
  await first.runtime.prompt(run, { text: "thanks" })
  const model = scripted((request) => (isSummary(request) ? "the notes" : "fine"), { window: 6_000 })
  const each = world(model, { tools: [long], stored: first.facts })
  await each.runtime.prompt(run, { text: "next" })
  const questions = model.requests.filter(isSummary).map(questionOf)
  const broken = `Call: long ${JSON.stringify({ n: input }).slice(0, 400)} … (508 characters in all)`
  const all = [
    `User: ${said.slice(1)} … (6002 characters in all)`,
    `Agent: ${said.slice(1)} … (6001 characters in all)\nCall: long {"n":1,"size":2200}\n${broken}`,
    `Result: ${`result 1\n${found}`.slice(0, 1_500)} … (2209 characters in all)`,
    `Failed: ${factsOf(first.facts, "call.ended")[1]!.text}`,
  ].join("\n\n")
  assert.equal(questions.map(({ piece }) => piece).join(""), all)
  const [one = 0, two = 0] = questions.map(({ piece }) => piece.length)
  const more = {
    notes: "the notes",
    ask: "Write the notes, with the earlier ones taken up into them, in at most 258 words.",
  }
  assert.deepEqual(questions, [
    { piece: all.slice(0, one), ask: "Write the notes, in at most 258 words." },
    { piece: all.slice(one, one + two), ...more },
    { piece: all.slice(one + two), ...more },
  ])
})

test("of images a summary is told how many there were", async () => {
  const image = { mediaType: "image/png", data: "A".repeat(300) }
  const first = world(scripted(counting({ turns: 3, size: 11, text: "a word ".repeat(900) })), { tools: [long] })
  const run = first.open()
  await first.runtime.prompt(run, { text: "like this", images: [image, image] })
  const model = scripted((request) => (isSummary(request) ? "the notes" : "fine"), { window: 4_000 })
  const each = world(model, { tools: [long], stored: first.facts })
  await each.runtime.prompt(run, { text: "next" })
  const { piece } = questionOf(model.requests.find(isSummary)!)
  assert.equal(piece.split("\n")[0], "User: like this (with 2 images)")
})

test("what a user said later than the task is in what is summed up, and the task of a later prompt takes its place", async () => {
  const each = start({ turns: 40, size: 440 }, 6_000)
  const run = each.open()
  await each.runtime.prompt(run, { text: "first task" })
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
  assert.ok(factsOf(each.facts, "run.compacted").every(({ run }) => run === child.id))
  assert.deepEqual(child.messages[child.task], { role: "user", text: "the child's task" })
})

const options = { provider: "p", name: "m", baseURL: "http://127.0.0.1" } as Parameters<typeof chatEncoder>[0]
const encoders = {
  anthropic: createEncoder({ name: "m", maxTokens: 1_000 }),
  chat: chatEncoder(options),
  responses: responsesEncoder(options),
}

test("the last answer at a turn limit may need it too, and what is asked then is legal in every format", async () => {
  const each = start({ turns: 99, size: 4_400, text: "so ".repeat(900) }, 9_000, 3)
  const outcome = await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(outcome, { status: "max_turns", text: "so ".repeat(900) })
  assert.deepEqual(kindsFrom(each.facts, "run.told"), ["run.told", "run.compacted", "turn.ended", "run.settled"])
  const last = each.model.requests.at(-1)!
  assert.equal(last.toolChoice, "none")
  assert.deepEqual(
    last.messages.map(({ role }) => role),
    ["user", "user", "assistant", "result", "user"],
  )
  for (const [format, encode] of Object.entries(encoders))
    assert.equal(illegal(format as "chat", JSON.parse(encode({ ...last, memo: {} }))), undefined)
})
