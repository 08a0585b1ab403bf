import assert from "node:assert/strict"
import { test } from "node:test"
import type { Usage } from "../../src/core/usage.ts"
import { scripted } from "../../src/testing/model.ts"
import type { Reply } from "../../src/testing/reply.ts"
import { counting, factsOf, isSummary, kindsFrom, long, textsOf, weightOf } from "./long.ts"
import { type Making, world } from "./world.ts"

/** A hundred turns with a provider that counts like this. */
async function counted(count: (guess: number) => Partial<Usage>) {
  const model = scripted(
    (request) => {
      const reply = counting({ turns: 100, size: 660 })(request)
      return typeof reply === "object" && "calls" in reply ? { ...reply, usage: count(weightOf(request)) } : reply
    },
    { window: 16_000 },
  )
  const each = world(model, { tools: [long], limits: { turns: 200 } })
  await each.runtime.prompt(each.open(), { text: "go" })
  const first = factsOf(each.facts, "run.compacted")[0]!
  const turns = factsOf(each.facts, "turn.ended").filter(({ seq }) => seq < first.seq).length
  return { model, first, turns }
}

test("when it is time depends on what the provider counts, all of it, if that can be believed", async () => {
  const turns: Record<string, number> = {}
  for (const [name, count] of Object.entries<(guess: number) => Partial<Usage>>({
    nothing: () => ({}),
    ten: () => ({ input: 10 }),
    half: (guess) => ({ input: guess / 2 }),
    input: (guess) => ({ input: guess * 2 }),
    output: (guess) => ({ output: guess * 2 }),
    cacheRead: (guess) => ({ cacheRead: guess * 2 }),
    cacheWrite: (guess) => ({ cacheWrite: guess * 2 }),
    parts: (guess) => ({ input: guess, output: guess / 2, cacheRead: guess / 4, cacheWrite: guess / 4 }),
    thoughts: (guess) => ({ output: guess * 2, reasoning: guess * 2 }),
  }))
    turns[name] = (await counted(count)).turns
  const twice = { input: 22, output: 22, cacheRead: 22, cacheWrite: 22, parts: 22, thoughts: 22 }
  assert.deepEqual(turns, { nothing: 42, ten: 42, half: 82, ...twice })
})

test("where the provider counts twice what was guessed, as much more goes, and that is told", async () => {
  const { model, first, turns } = await counted((guess) => ({ input: guess * 2 }))
  assert.deepEqual(
    model.requests.filter((request) => weightOf(request) * 2 > 16_000),
    [],
  )
  const { before, after } = first
  assert.deepEqual(
    { before, after, guess: weightOf(model.requests[turns]!) },
    { before: 11_730, after: 4_904, guess: 2_516 },
  )
})

const gone = "(Older parts of the conversation could not be summed up, and are gone.)"
const said = (text: string): Reply => ({ text, usage: { output: 10 } })

/** A run that needs a summary of two pieces before its seventh turn. */
function talking(making: Making) {
  let asked = 0
  const talk = counting({ turns: 8, size: 110, text: "a word ".repeat(400) })
  const model = scripted((request) => (isSummary(request) ? said(`notes ${++asked}`) : talk(request)), {
    window: 6_000,
    cost: ({ output }) => output,
  })
  const each = world(model, { tools: [long], ...making })
  return { ...each, model, done: each.runtime.prompt(each.open(), { text: "go" }) }
}

test("budgets are asked about before each piece of a summary, and what notes there are stay", async () => {
  for (const limit of ["tokens", "cost"] as const) {
    let spent = false
    const each = talking({ limits: () => ({ turns: 100, ...(spent && { [limit]: 0 }) }) })
    each.log.listen((event) => {
      if (event.type === "run.compacting" && event.text !== "") spent = true
    })
    const { status } = await each.done
    assert.equal(status, "budget")
    assert.equal(each.model.requests.filter(isSummary).length, 1)
    assert.equal(factsOf(each.facts, "run.compacted")[0]!.summary, `notes 1\n\n${gone}`)
    assert.deepEqual(kindsFrom(each.facts, "run.compacted"), ["run.compacted", "run.told", "turn.ended", "run.settled"])
  }
})

test("a run that was told that its money is used up pays for no summary", async () => {
  const model = scripted(
    (request) => ({
      ...(counting({ turns: 9, size: 110, text: "a word ".repeat(400) })(request) as object),
      usage: { output: 1 },
    }),
    { window: 6_000, cost: ({ output }) => output },
  )
  const each = world(model, { tools: [long], limits: { turns: 100, cost: 5 } })
  const { status } = await each.runtime.prompt(each.open(), { text: "go" })
  assert.equal(status, "budget")
  assert.deepEqual(kindsFrom(each.facts, "run.told"), ["run.told", "run.compacted", "turn.ended", "run.settled"])
  assert.deepEqual(model.requests.filter(isSummary), [])
  assert.deepEqual(textsOf(model.requests.at(-1)!), [
    `What came before in this conversation was summed up, to save room:\n\n${gone}\n\nThe task at hand follows, word for word.`,
    "go",
    "You have used all the money for this. Call no more tools: answer now with what you have, and say what is left undone.",
  ])
})
