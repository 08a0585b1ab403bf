import assert from "node:assert/strict"
import { test } from "node:test"
import { roomOf } from "../../src/agent/squeeze.ts"
import { noUsage } from "../../src/core/usage.ts"
import type { Request } from "../../src/model/model.ts"
import { type Scripted, scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"
import { counting, countOf, factsOf, isSummary, kindsFrom, long, questionOf, textsOf, weightOf } from "./long.ts"
import { toolsOf, type World, world } from "./world.ts"

const full = fail("context_overflow", "prompt is too long")
const overflow = { kind: "context_overflow", message: "prompt is too long" }

const waits = ({ facts }: World) => factsOf(facts, "turn.failed").map(({ wait }) => wait)

test("when the provider finds it too long all the same, it is made shorter once more and asked again", async () => {
  // Its window is far smaller than anybody was told.
  const model = scripted((request) => {
    if (!isSummary(request) && weightOf(request) > 12_000) return full
    return counting({ turns: 30, size: 6_600 })(request)
  })
  const each = world(model, { tools: [long], limits: { turns: 100 } })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), { status: "completed", text: "the end" })
  assert.deepEqual(kindsFrom(each.facts, "turn.failed").slice(0, 3), ["turn.failed", "run.compacted", "turn.ended"])
  assert.ok(waits(each).length > 1)
  assert.deepEqual(
    waits(each).filter((wait) => wait !== 0),
    [],
  )
})

test("with tools that weigh most of the window it is made shorter too", async () => {
  const tools = Array.from({ length: 20 }, (_, n) => ({ ...long, name: `t${n}`, description: "about ".repeat(500) }))
  const model = scripted((request) => {
    if (!isSummary(request) && weightOf(request) > 26_000) return full
    return counting({ turns: 20, size: 2_200 })(request)
  })
  const each = world(model, { tools: [long, ...tools], limits: { turns: 100 } })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), { status: "completed", text: "the end" })
  assert.ok(weightOf({ ...model.requests[0]!, messages: [] }) > 20_000)
  assert.ok(factsOf(each.facts, "run.compacted").length > 0)
})

test("the second time in a row the run ends as failed, with the reason and with what it has", async () => {
  const model = scripted(({ messages }) =>
    messages.length === 1 ? { text: "so far, so good", calls: [call("long", { n: 1, size: 44_000 })] } : full,
  )
  const each = world(model, { tools: [long] })
  const outcome = await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(outcome, { status: "failed", text: "so far, so good", error: overflow })
  const kinds = ["turn.failed", "run.compacted", "turn.failed", "run.settled"]
  assert.deepEqual(kindsFrom(each.facts, "turn.failed"), kinds)
  assert.deepEqual(waits(each), [0, null])
})

test("a task that is too long by itself fails with the provider's reason, and nothing is promised", async () => {
  const each = world(
    scripted(() => full, { window: 1_000 }),
    { tools: [long] },
  )
  const outcome = await each.runtime.prompt(each.open(), { text: "x".repeat(9_000) })
  assert.deepEqual(outcome, { status: "failed", text: "", error: overflow })
  assert.deepEqual(waits(each), [null])
})

test("no summary is paid for where it would be heavier than what it stands for", async () => {
  const model = scripted((request, n) => (isSummary(request) ? "the notes" : n === 0 ? "hello" : full))
  const each = world(model, { tools: [long] })
  const run = each.open()
  await each.runtime.prompt(run, { text: "hi" })
  assert.deepEqual(await each.runtime.prompt(run, { text: "bye" }), { status: "failed", text: "", error: overflow })
  assert.deepEqual(kindsFrom(each.facts, "turn.failed"), ["turn.failed", "run.settled"])
  assert.equal(model.requests.length, 2)
})

test("what failed so reports nothing that was said about earlier work, and the next prompt is asked", async () => {
  const model = scripted((request) => {
    const text = textsOf(request).at(-1)
    if (text === "second") return countOf(request.messages) === 1 ? full : [call("long", { n: 1, size: 44_000 })]
    return `about the ${text}`
  })
  const each = world(model, { tools: [long] })
  const run = each.open()
  const outcomes = []
  for (const text of ["first", "second", "third"]) outcomes.push(await each.runtime.prompt(run, { text }))
  assert.deepEqual(outcomes, [
    { status: "completed", text: "about the first" },
    { status: "failed", text: "", error: overflow },
    { status: "completed", text: "about the third" },
  ])
  assert.deepEqual(waits(each), [0, null])
})

test("a fork that failed so reports nothing that its parent said", async () => {
  const model = scripted((request) => {
    if (textsOf(request).includes("side work")) return full
    if (request.messages.length > 3) return "the end"
    const calls = [call("long", { n: 1, size: 44_000 })]
    return request.messages.length === 1
      ? { text: "the parent's words", calls }
      : { text: "more of them", calls: [call("task", { prompt: "side work", context: "fork" })] }
  })
  const each = world(model, { tools: [long, ...toolsOf([])] })
  await each.runtime.prompt(each.open(), { text: "go" })
  const { rest, overflows } = each.view.get("r1")!
  assert.deepEqual(rest?.outcome, { status: "failed", text: "", error: overflow })
  assert.equal(overflows, 2)
})

/** Talks a lot, so that only a summary can make it shorter; `summary` is told how many were asked for before. */
const talking = (summary: (n: number, request: Request) => Reply) => {
  let asked = 0
  return scripted(
    (request) =>
      isSummary(request)
        ? summary(asked++, request)
        : counting({ turns: 8, size: 110, text: `turn ${countOf(request.messages)} `.repeat(400) })(request),
    { window: 6_000, cost: ({ output }) => output },
  )
}
const start = (model: Scripted) => {
  const each = world(model, { tools: [long] })
  const run = each.open()
  return { ...each, model, prompt: (text: string) => each.runtime.prompt(run, { text }) }
}
const gone = "(Older parts of the conversation could not be summed up, and are gone.)"
const sum = (notes: string) => `What came before in this conversation was summed up, to save room:\n\n${notes}`
const end = "\n\nThe task at hand follows, word for word."

test("a model that gives no summary is asked once more, and then the run goes on without one", async () => {
  const refused = fail("refused", "I will not")
  for (const silence of ["", "  \n", { reasoning: "hm" }, [call("long", { n: 9, size: 1 })], refused]) {
    const each = start(talking(() => silence))
    assert.deepEqual(await each.prompt("go"), { status: "completed", text: "the end" }, JSON.stringify(silence))
    const [first, ...more] = factsOf(each.facts, "run.compacted")
    assert.equal(first?.summary, gone)
    const summaries = each.model.requests.filter(isSummary)
    assert.equal(summaries.length, 2 * (1 + more.length))
    assert.deepEqual(summaries[1], summaries[0])
    const after = each.model.requests[each.model.requests.indexOf(summaries[1]!) + 1]!
    assert.deepEqual(textsOf(after), [`${sum(gone)}${end}`, "go"])
    assert.deepEqual(await each.prompt("more"), { status: "completed", text: "the end" })
  }
})

test("what notes there are stay when a later piece gives none, and one silence is forgiven", async () => {
  for (const [replies, summary] of [
    [["first", "", ""], `first\n\n${gone}`],
    [["", "first", "", "second"], "second"],
  ] as const) {
    const each = start(talking((n) => replies[n] ?? "third"))
    assert.deepEqual(await each.prompt("go"), { status: "completed", text: "the end" })
    const [first] = factsOf(each.facts, "run.compacted")
    assert.equal(first?.summary, summary)
    const questions = each.model.requests.filter(isSummary).map(questionOf)
    const notes = replies.map((_, n) => replies.slice(0, n).findLast((said) => said !== ""))
    assert.deepEqual(
      questions.slice(0, replies.length).map(({ notes }) => notes),
      notes,
    )
  }
})

test("where a later summary cannot be had, the notes say once that something is gone, until there is one again", async () => {
  let asked = 0
  const replies = ["first", "second", "", "", "", "", "third"]
  const talk = counting({ turns: 24, size: 110, text: "a word ".repeat(400) })
  const model = scripted((request) => (isSummary(request) ? (replies[asked++] ?? "last") : talk(request)), {
    window: 6_000,
  })
  const each = world(model, { tools: [long], limits: { turns: 100 } })
  await each.runtime.prompt(each.open(), { text: "go" })
  const missing = `second\n\n${gone}`
  const summaries = factsOf(each.facts, "run.compacted").map(({ summary }) => summary)
  assert.deepEqual(summaries.slice(0, 4), ["second", missing, missing, "last"])
  const questions = model.requests.filter(isSummary).map((request) => questionOf(request).notes)
  const notes = [undefined, "first", "second", "second", missing, missing, missing, "third"]
  assert.deepEqual(questions.slice(0, notes.length), notes)
})

/** A session of a larger model, perhaps with a summary by it, that goes on with this one. */
async function smaller(model: Scripted, talk: (request: Request) => Reply, summary?: string) {
  const first = start(scripted(talk))
  await first.prompt("go")
  const shorter = { type: "run.compacted", from: 3, before: 1, after: 1, ms: 0, cost: 0, usage: noUsage() } as const
  if (summary !== undefined) first.log.emit("r0", { ...shorter, summary })
  const each = world(model, { tools: [long], stored: first.facts })
  await each.runtime.prompt("r0", { text: "more" })
  return factsOf(each.facts, "run.compacted").at(-1)?.summary
}

test("the beginning of notes that are too long stays where nothing can be made of them", async () => {
  const model = scripted((request) => (isSummary(request) ? "" : "fine"), { window: 16_000 })
  const summary = await smaller(model, counting({ turns: 9, size: 110 }), "N".repeat(63_000))
  assert.equal(summary, `${"N".repeat(4_176)}\n\n${gone}`)
})

test("no piece of a summary is too heavy, also where a part of the conversation is in another script", async () => {
  const model = scripted((request) => (isSummary(request) ? "the notes" : "fine"), { window: 12_000 })
  const summary = await smaller(model, (request) => {
    const n = countOf(request.messages)
    const text = (n > 8 && n < 12 ? "漢" : "a").repeat(6_000)
    return counting({ turns: 18, size: 110, text })(request)
  })
  assert.equal(summary, "the notes")
  const weights = model.requests.filter(isSummary).map(weightOf)
  assert.ok(weights.length > 9)
  assert.deepEqual(
    weights.filter((weight) => weight > roomOf(model)),
    [],
  )
})

test("a summary that cannot be had for another reason ends the run with it, and a later prompt goes on", async () => {
  for (const kind of ["authentication", "network"] as const) {
    const failure = fail(kind, "no such luck", { retry: false, usage: { output: 5 } })
    let works = false
    const each = start(talking(() => (works ? "the notes" : failure)))
    const error = { kind, message: "no such luck" }
    assert.deepEqual(await each.prompt("go"), { status: "failed", text: "", error })
    const { seq, at, run, ...fact } = factsOf(each.facts, "turn.failed")[0]!
    const usage = { input: 0, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
    assert.deepEqual(fact, { type: "turn.failed", error, wait: null, usage, cost: 5 })
    const { compacting, failing } = each.view.get(run)!
    assert.deepEqual({ compacting, failing }, { compacting: undefined, failing: undefined })
    works = true
    assert.deepEqual(await each.prompt("more"), { status: "completed", text: "the end" })
    assert.equal(factsOf(each.facts, "run.compacted")[0]!.summary, "the notes")
  }
})

test("pieces that a summary failed after are paid for", async () => {
  const said = { text: "notes", usage: { output: 10 } }
  const each = start(talking((n) => (n < 1 ? said : fail("authentication", "expired", { usage: { output: 1 } }))))
  assert.equal((await each.prompt("go")).status, "failed")
  assert.equal(each.model.requests.filter(isSummary).length, 2)
  const [{ cost, usage } = assert.fail()] = factsOf(each.facts, "turn.failed")
  assert.deepEqual([cost, usage.output, each.view.get("r0")!.cost], [11, 11, 11])
})

test("pieces that a summary was stopped after are paid for", async () => {
  const said = { text: "notes", usage: { output: 10 } }
  const each = start(
    talking((n) => {
      if (n > 0) void each.runtime.cancel("r0")
      return said
    }),
  )
  assert.deepEqual(await each.prompt("go"), { status: "cancelled", text: "" })
  assert.equal(each.view.get("r0")!.cost, 10)
})

test("a piece that is too long is halved until it fits, and none of it is left out", async () => {
  const most = 1_500
  const pieces: string[] = []
  const halving = talking((_, request) => {
    const { piece } = questionOf(request)
    if (piece.length > most) return full
    pieces.push(piece)
    return "the notes"
  })
  const each = start(halving)
  assert.deepEqual(await each.prompt("go"), { status: "completed", text: "the end" })
  const whole = start(talking(() => "the notes"))
  await whole.prompt("go")
  const all = whole.model.requests.filter(isSummary).map((request) => questionOf(request).piece)
  assert.equal(pieces.join(""), all.join(""))
  assert.ok(Math.max(...all.map(({ length }) => length)) > most * 2)
})

test("a model that cannot take even a small piece ends the run", async () => {
  const each = start(talking(() => full))
  assert.deepEqual(await each.prompt("go"), { status: "failed", text: "", error: overflow })
  const sizes = each.model.requests.filter(isSummary).map((request) => questionOf(request).piece.length)
  assert.deepEqual(sizes, [6_300, 3_150, 1_575, 787])
})
