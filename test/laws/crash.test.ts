import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { scripted } from "../../src/testing/model.ts"
import { callsAndResults, fold, type World, world } from "../agent/world.ts"
import { answer, type Turn, tree } from "./generate.ts"

const start = (turns: Turn[]) => world(scripted(({ messages }) => answer(turns, messages)))

async function finish(turns: Turn[]): Promise<World> {
  const whole = start(turns)
  await whole.runtime.prompt(whole.open(), { text: "go" })
  return whole
}

/** What anybody could tell of how a session ended: outcomes and conversations, not times and ids of runs. */
const ending = (each: World) =>
  [...each.view.values()]
    .map(({ agent, rest, messages, toolCalls, origin }) => ({
      agent,
      outcome: rest?.outcome,
      messages,
      toolCalls,
      call: origin?.call,
    }))
    .sort((a, b) => `${a.call} ${JSON.stringify(a.messages)}`.localeCompare(`${b.call} ${JSON.stringify(b.messages)}`))

/** Calls that were cut off have another text than they would have had. */
const withoutCutOffs = (ends: ReturnType<typeof ending>) =>
  JSON.parse(JSON.stringify(ends), (key, value) => (key === "text" || key === "ok" ? undefined : value))

test("replaying the facts gives the live view, with hints or without", async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (turns) => {
      const { facts, events, view } = await finish(turns)
      assert.deepEqual(fold(facts), view)
      assert.deepEqual(fold(events), view)
    }),
    { numRuns: 100 },
  )
})

test("folding facts alone equals folding everything, at every closed turn", async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (turns) => {
      const whole = start(turns)
      whole.log.listen((event, view) => {
        if (event.type !== "turn.ended") return
        assert.deepEqual(fold(whole.facts).get(event.run), view.get(event.run))
      })
      await whole.runtime.prompt(whole.open(), { text: "go" })
      assert.ok(
        whole.events.every((event) => !(event instanceof Error)),
        String(whole.events.find((e) => e instanceof Error)),
      )
    }),
    { numRuns: 30 },
  )
})

test("killed after any fact, a resumed session ends as the uninterrupted one would", async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (turns) => {
      const whole = await finish(turns)
      const first = whole.facts.findIndex(({ type }) => type === "mail.sent") + 1
      for (let cut = first; cut <= whole.facts.length; cut++) {
        const again = await resume(turns, whole.facts.slice(0, cut))
        assert.deepEqual(withoutCutOffs(ending(again)), withoutCutOffs(ending(whole)), `cut after fact ${cut}`)
        for (const run of again.view.values()) {
          const { asked, got } = callsAndResults(run)
          assert.deepEqual(got, asked, `every call has one result, in order (cut ${cut})`)
        }
        assert.deepEqual(fold(again.facts), again.view)
      }
    }),
    { numRuns: 40 },
  )
})

test("killed after any fact, nothing that may not be repeated is done twice", async () => {
  await fc.assert(
    fc.asyncProperty(tree, async (turns) => {
      const whole = await finish(turns)
      const first = whole.facts.findIndex(({ type }) => type === "mail.sent") + 1
      for (let cut = first; cut <= whole.facts.length; cut++) {
        const stored = whole.facts.slice(0, cut)
        // Whatever the log says was begun may have been done before the crash.
        const begun = stored.flatMap((fact) =>
          fact.type === "call.started" && fact.name === "change" ? [`${fact.run} ${fact.id}`] : [],
        )
        const again = await resume(turns, stored)
        const later = again.facts
          .slice(cut)
          .flatMap((fact) => (fact.type === "call.started" && fact.name === "change" ? [`${fact.run} ${fact.id}`] : []))
        assert.deepEqual(
          later.filter((each) => begun.includes(each)),
          [],
          `cut after fact ${cut}`,
        )
        assert.equal(new Set(later).size, later.length)
      }
    }),
    { numRuns: 40 },
  )
})

async function resume(turns: Turn[], stored: Stamped<Fact>[]): Promise<World> {
  const again = world(
    scripted(({ messages }) => answer(turns, messages)),
    { stored },
  )
  await again.runtime.resume()
  return again
}
