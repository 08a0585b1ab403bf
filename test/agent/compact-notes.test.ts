import assert from "node:assert/strict"
import { test } from "node:test"
import type { Agent } from "../../src/agent/scope.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { counting, countOf, factsOf, isSummary, long, questionOf, textsOf } from "./long.ts"
import { agents, toolsOf, world } from "./world.ts"

const tools = [long, ...toolsOf([])]
const limits = { turns: 1_000 }
const sum = (notes: string) =>
  `What came before in this conversation was summed up, to save room:\n\n${notes}\n\nThe task at hand follows, word for word.`

/** Notes of so many letters. */
const notesOf = (n: number, size: number): string => `notes ${n} `.padEnd(size, "x")

test("all of an earlier summary goes into the next one, however long it is, and not as part of the conversation", async () => {
  for (const size of [40, 12_000]) {
    let asked = 0
    const talk = counting({ turns: 60, size: 110, text: "a word ".repeat(400) })
    const model = scripted((request) => (isSummary(request) ? notesOf(++asked, size) : talk(request)), {
      window: 48_000,
    })
    const each = world(model, { tools, limits })
    await each.runtime.prompt(each.open(), { text: "the task" })
    const summaries = factsOf(each.facts, "run.compacted").map(({ summary }) => summary)
    assert.ok(summaries.length > 1)
    const questions = model.requests.filter(isSummary).map(questionOf)
    for (const [n, { notes, piece }] of questions.entries()) {
      assert.equal(notes, n === 0 ? undefined : notesOf(n, size))
      assert.ok(!piece.includes("notes") && !piece.includes("What came before"))
    }
    assert.deepEqual(
      summaries.filter((summary) => summary?.length !== size),
      [],
    )
    const second = questions[Number(/\d+/.exec(summaries[0]!)?.[0])]!
    assert.match(second.piece, /^User: the task\n\nAgent: a word /)
  }
})

test("a summary is cut where it is longer than was asked for, by what it weighs and not by its letters", async () => {
  const talk = counting({ turns: 12, size: 110, text: "a word ".repeat(400) })
  for (const [said, kept] of [
    ["x".repeat(9_000), "x".repeat(3_126)],
    ["漢".repeat(9_000), "漢".repeat(1_042)],
    [`x${"😀".repeat(2_000)}`, `x${"😀".repeat(781)}`],
  ]) {
    const model = scripted((request) => (isSummary(request) ? said! : talk(request)), { window: 12_000 })
    const each = world(model, { tools: [long], limits })
    await each.runtime.prompt(each.open(), { text: "the task" })
    assert.equal(factsOf(each.facts, "run.compacted")[0]?.summary, kept)
  }
})

test("a child with a filtered history sums up all of the summary that it inherits with what it did itself", async () => {
  const notes = "notes ".repeat(1_800).trim()
  const model = scripted(
    (request) => {
      if (isSummary(request)) return notes
      const talk = (turns: number) => counting({ turns, size: 110, text: "a word ".repeat(400) })(request)
      if (textsOf(request).includes("side work")) return talk(80)
      if (request.messages.some(isTask)) return "the end"
      return countOf(request.messages) < 36 ? talk(36) : [call("task", { prompt: "side work", context: "filtered" })]
    },
    { window: 48_000 },
  )
  const each = world(model, { tools, limits })
  await each.runtime.prompt(each.open(), { text: "go" })
  const first = model.requests.findIndex((request) => textsOf(request).includes("side work"))
  assert.equal(textsOf(model.requests[first]!)[0], sum(notes))
  const question = questionOf(model.requests.slice(first).find(isSummary)!)
  assert.equal(question.notes, notes)
  assert.ok(!question.piece.includes("What came before"))
})

/** A parent that talks until it was summed up, and then starts a fork, which talks as much. */
function forking(turns: number) {
  let asked = 0
  return scripted(
    (request) => {
      if (isSummary(request)) return `notes ${++asked}`
      const forked = textsOf(request).includes("side work")
      const n = countOf(request.messages)
      if (!forked && n >= turns)
        return request.messages.at(-1)?.role === "result" && request.messages.some(isTask)
          ? "the end"
          : [call("task", { prompt: "side work", context: "fork" })]
      return counting({ turns: turns * 2, size: 110, text: "a word ".repeat(200) })(request)
    },
    { window: 6_000 },
  )
}
const isTask = (message: { role: string; name?: string }) => message.role === "result" && message.name === "task"

test("a fork goes on from the summary that it inherits, and sums it up with what it did itself", async () => {
  const model = forking(12)
  const each = world(model, { tools, limits })
  await each.runtime.prompt(each.open(), { text: "go" })
  const facts = factsOf(each.facts, "run.compacted")
  const parents = facts.filter(({ run }) => run === "r0").map(({ summary }) => summary)
  const own = facts.filter(({ run }) => run === "r1").map(({ summary }) => summary)
  assert.ok(parents.length > 0 && own.length > 0)
  const first = model.requests.findIndex((request) => textsOf(request).includes("side work"))
  const question = questionOf(model.requests.slice(first).find(isSummary)!)
  assert.equal(question.notes, parents.at(-1))
  assert.ok(!question.piece.includes("What came before"))
})

test("a fork after a compaction shares its parent's last request, until it is made shorter itself", async () => {
  const model = forking(12)
  const each = world(model, { tools, limits })
  await each.runtime.prompt(each.open(), { text: "go" })
  const isFork = (request: (typeof model.requests)[number]) => textsOf(request).includes("side work")
  const at = model.requests.findIndex(isFork)
  const [parent, fork] = [model.requests[at - 1]!, model.requests[at]!]
  assert.match(textsOf(parent)[0]!, /^What came before in this conversation was summed up/)
  assert.deepEqual(fork.messages.slice(0, parent.messages.length), parent.messages)
  assert.deepEqual([fork.system, fork.tools], [parent.system, parent.tools])
  assert.equal(fork.inherited, parent.messages.length + 1)
  const later = model.requests.slice(at).findIndex(isSummary)
  const inherited = model.requests.slice(at).flatMap((request) => (isFork(request) ? [request.inherited] : []))
  assert.deepEqual(
    inherited,
    inherited.map((_, n) => (n < later ? fork.inherited : undefined)),
  )
})

test("what a fork was told that it is stays word for word, however often it is made shorter or given more to do", async () => {
  const side: Agent = { ...agents[1]!, name: "side", prompt: "You look at the side. ".repeat(20) }
  const words = `You are a fork of the above. ${side.prompt}`
  const model = scripted(
    (request) => {
      if (isSummary(request)) return "the notes"
      const texts = textsOf(request)
      const talk = (turns: number) => counting({ turns, size: 440, text: "a word ".repeat(200) })(request)
      if (texts.includes("more side work")) return talk(60)
      if (texts.includes("side work")) return talk(30)
      const steps = [
        [call("task", { agent: "side", prompt: "side work", context: "fork" })],
        [call("task", { resume: "r1", prompt: "more side work" })],
        "all done",
      ]
      return steps[request.messages.filter(({ role }) => role === "assistant").length]!
    },
    { window: 8_000 },
  )
  const each = world(model, {
    tools,
    limits,
    agent: async () => side,
    system: ({ prompt }, { context }) => (context === "fork" ? `You are a fork of the above. ${prompt}` : prompt),
  })
  const outcome = await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(outcome, { status: "completed", text: "all done" })
  assert.ok(factsOf(each.facts, "run.compacted").length > 4)
  const forks = model.requests.map(textsOf).filter((texts) => texts.some((text) => text.endsWith("side work")))
  const seen = new Map(forks.map((texts) => [JSON.stringify(texts), texts]))
  assert.deepEqual(
    [...seen.values()],
    [
      ["go", words, "side work"],
      [sum("the notes"), words, "side work"],
      [sum("the notes"), words, "side work", "more side work"],
      [sum("the notes"), words, "more side work"],
    ],
  )
})
