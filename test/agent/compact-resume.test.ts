import assert from "node:assert/strict"
import { test } from "node:test"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { type Scripted, scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"
import { counting, factsOf, isSummary, kindsFrom, long, weightOf } from "./long.ts"
import { fold, toolsOf, type World, world } from "./world.ts"

const tools = [long, ...toolsOf([])]

/** Talks until only a summary helps. What a request weighs with its provider may be more than anybody was told. */
const talking = ({ real = 200_000, window = 200_000, turns = 12 }) =>
  scripted(
    (request) => {
      if (!isSummary(request) && weightOf(request) > real) return fail("context_overflow", "prompt is too long")
      return counting({ turns, size: 440, text: "a word ".repeat(300) })(request)
    },
    { window },
  )

const start = (model: Scripted, stored: readonly Stamped<Fact>[] = []) => {
  const each = world(model, { tools, stored: [...stored], limits: { turns: 100 } })
  return { ...each, model }
}

async function finish(model: Scripted) {
  const each = start(model)
  await each.runtime.prompt(each.open(), { text: "go" })
  return each
}

/** Stored facts up to and with the one of this kind. */
const until = (facts: readonly Stamped<Fact>[], type: Fact["type"], nth = 0) =>
  facts.slice(0, facts.indexOf(factsOf(facts, type)[nth]!) + 1)

const ending = ({ view }: World) => {
  const { rest, messages, turns, cost, notes, weight } = view.get("r0")!
  return { outcome: rest?.outcome, messages, turns, cost, notes, weight }
}

test("killed right after it was made shorter, or found too long, it asks what it would have asked", async () => {
  for (const [of, kinds] of [
    [{ window: 8_000 }, ["run.compacted"]],
    [{ real: 6_000 }, ["turn.failed", "run.compacted"]],
  ] as const) {
    const whole = await finish(talking(of))
    for (const kind of kinds) {
      const stored = until(whole.facts, kind)
      const again = start(talking(of), stored)
      await again.runtime.resume()
      assert.deepEqual(ending(again), ending(whole), kind)
      const asked = whole.model.requests.slice(whole.model.requests.length - again.model.requests.length)
      assert.deepEqual(again.model.requests, asked)
      assert.deepEqual(kindsFrom(again.facts, "run.opened"), kindsFrom(whole.facts, "run.opened"))
      assert.deepEqual(fold(again.facts), again.view)
    }
  }
})

test("killed after the second time, it ends as it would have; with another model it is asked", async () => {
  const overflow = (): Reply => fail("context_overflow", "prompt is too long")
  const model = () =>
    scripted(({ messages }) => (messages.length === 1 ? [call("long", { n: 1, size: 9_900 })] : overflow()))
  const whole = await finish(model())
  const stored = until(whole.facts, "turn.failed", 1)
  const again = start(model(), stored)
  await again.runtime.resume()
  assert.deepEqual(ending(again), ending(whole))
  assert.deepEqual(again.model.requests, [])
  const larger = start(
    scripted(() => "fine"),
    stored,
  )
  larger.log.emit("r0", { type: "model.chosen", model: "larger" })
  await larger.runtime.resume()
  assert.deepEqual(ending(larger).outcome, { status: "completed", text: "fine" })
  assert.equal(larger.model.requests.length, 1)
})

test("killed right after it was made shorter, with a smaller model it is made shorter again before it asks", async () => {
  const whole = await finish(talking({ window: 16_000, turns: 30 }))
  const stored = until(whole.facts, "run.compacted")
  const smaller = start(talking({ window: 3_000, real: 3_000, turns: 30 }), stored)
  smaller.log.emit("r0", { type: "model.chosen", model: "smaller" })
  await smaller.runtime.resume()
  const kinds = kindsFrom(smaller.facts, "model.chosen").slice(0, 4)
  assert.deepEqual(kinds, ["model.chosen", "run.compacted", "turn.ended", "call.started"])
  assert.deepEqual(ending(smaller).outcome, { status: "completed", text: "the end" })
  // With the same model it is not.
  const same = start(talking({ window: 16_000, turns: 30 }), stored)
  await same.runtime.resume()
  assert.equal(same.facts[stored.length]?.type, "turn.ended")
})

test("killed while a summary is made, it is made anew", async () => {
  const whole = await finish(talking({ window: 8_000 }))
  const [first] = factsOf(whole.facts, "run.compacted")
  const stored = whole.facts.slice(0, whole.facts.indexOf(first!))
  const again = start(talking({ window: 8_000 }), stored)
  await again.runtime.resume()
  assert.deepEqual(ending(again), ending(whole))
})

test("resumed within a turn a run keeps the tools that it was shown; the next time it sees those of then", async () => {
  const reply = ({ messages }: { messages: readonly { role: string }[] }): Reply =>
    messages.length === 1 ? [call("look")] : "done"
  const whole = await finish(scripted(reply))
  const stored = until(whole.facts, "turn.ended")
  const model = scripted(reply)
  const each = world(model, { stored, tools: toolsOf([]) })
  await each.runtime.resume()
  await each.runtime.prompt("r0", { text: "more" })
  const names = model.requests.map(({ tools }) => tools.map(({ name }) => name))
  const now = toolsOf([]).map(({ name }) => name)
  assert.deepEqual(names, [["long", ...now], now])
  assert.equal(factsOf(each.facts, "call.ended").length, 1)
})
