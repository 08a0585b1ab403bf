import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { lineage } from "../../src/core/view.ts"
import { scripted } from "../../src/testing/model.ts"
import { callsAndResults, fold, type Making, type World, world } from "../agent/world.ts"
import { answer, behind, type Turn } from "./generate.ts"

const making: Making = { report: async ({ agentId, status }) => `(${agentId} ${status})` }

const start = (turns: Turn[], more: Making = {}) =>
  world(
    scripted(({ messages }) => answer(turns, messages)),
    { ...making, ...more },
  )

async function finish(turns: Turn[]): Promise<World> {
  const whole = start(turns)
  await whole.runtime.prompt(whole.open(), { text: "go" })
  await whole.runtime.idle()
  return whole
}

async function resume(turns: Turn[], stored: Stamped<Fact>[]): Promise<World> {
  const again = start(turns, { stored })
  await again.runtime.resume()
  return again
}

/**
 * What does not hang on which of two came first: who was opened, from which call, for what, how it ended and with what
 * effect. What a failed child leaves half done below it does hang on that.
 */
const ending = ({ view }: World) =>
  [...view.values()]
    .filter((run) => [...lineage(view, run)].every(({ rest }, at) => at === 0 || rest?.outcome.status === "completed"))
    .map(({ agent, depth, origin, messages, rest, toolCalls, behind }) =>
      JSON.stringify([depth, agent, origin?.call, behind, messages[0], rest?.outcome.status, toolCalls]),
    )
    .sort()

/** Every result that nobody waited for was sent once, stands once in its parent's conversation, and nothing waits unread. */
function checkDelivery({ view, facts }: World): void {
  for (const run of view.values()) {
    const parent = run.origin && view.get(run.origin.run)
    if (!parent || !run.behind) continue
    const sent = facts.filter((fact) => fact.type === "mail.sent" && fact.from === run.id)
    assert.deepEqual([run.id, sent.length, sent.every((fact) => fact.run === parent.id)], [run.id, 1, true])
    if (parent.rest?.outcome.status !== "completed") continue
    const heard = parent.messages.flatMap((message) => (message.role === "user" ? [message.text] : [])).join("\n")
    assert.equal(heard.split(`(${run.id} `).length - 1, 1, `${run.id} is heard once by ${parent.id}`)
  }
}

function checkRest({ view }: World): void {
  for (const run of view.values()) {
    assert.ok(run.rest, `${run.id} is at rest`)
    assert.deepEqual(
      [run.calls.size, run.mail.filter(({ quiet }) => !quiet)],
      [0, []],
      `${run.id} has nothing left to do`,
    )
    const { asked, got } = callsAndResults(run)
    assert.deepEqual(got, asked)
  }
}

const calling = (...names: string[]): Turn => ({
  do: "call",
  calls: names.map((name) => ({ name, input: { on: "" } })),
})

/** A child fails by its own mistakes at the moment at which the one that it left behind is done. */
const endsBadly: Turn[] = [
  {
    do: "task",
    children: [
      {
        context: "fresh",
        background: false,
        turns: [
          {
            do: "task",
            children: [
              {
                context: "fresh",
                background: true,
                turns: [calling("look"), calling("look"), calling("look"), { do: "say", text: "" }],
              },
            ],
          },
          calling("change", "look"),
          calling("look"),
          calling("nothing"),
          calling("nothing", "nothing"),
          { do: "say", text: " " },
        ],
      },
      { context: "fresh", background: false, turns: [{ do: "say", text: " " }] },
    ],
  },
  { do: "say", text: " " },
]

test("with agents behind, killed after any fact and resumed, all ends as it would have: each opened once, each heard once", async () => {
  await fc.assert(
    fc.asyncProperty(behind, async (turns) => {
      const whole = await finish(turns)
      checkDelivery(whole)
      checkRest(whole)
      assert.deepEqual(fold(whole.facts), whole.view)
      const first = whole.facts.findIndex(({ type }) => type === "mail.sent") + 1
      for (let cut = first; cut <= whole.facts.length; cut++) {
        const again = await resume(turns, whole.facts.slice(0, cut))
        try {
          assert.deepEqual(ending(again), ending(whole))
          checkDelivery(again)
          checkRest(again)
          assert.deepEqual(fold(again.facts), again.view)
          assert.deepEqual(twice(whole.facts.slice(0, cut), again.facts.slice(cut)), [])
        } catch (error) {
          throw new Error(`cut after fact ${cut}, a ${whole.facts[cut - 1]!.type}`, { cause: error })
        }
      }
    }),
    { numRuns: 40, examples: [[endsBadly]] },
  )
})

/** What may not be repeated, was begun before the crash, and begun again after it. */
function twice(before: Stamped<Fact>[], after: Stamped<Fact>[]): string[] {
  const begun = (facts: Stamped<Fact>[]) =>
    facts.flatMap((fact) => (fact.type === "call.started" && fact.name === "change" ? [`${fact.run} ${fact.id}`] : []))
  const later = begun(after)
  const first = new Set(begun(before))
  return later.filter((each, at) => first.has(each) || later.indexOf(each) !== at)
}

test("stopped at any event, a family with agents behind is at rest, each result was sent once, and nobody is woken", async () => {
  await fc.assert(
    fc.asyncProperty(behind, fc.nat(120), async (turns, at) => {
      const each = start(turns)
      const run = each.open()
      let stopped: Promise<void> | undefined
      const unlisten = each.log.listen(({ seq }) => {
        if (seq === at) stopped = each.runtime.cancel(run)
      })
      await each.runtime.prompt(run, { text: "go" })
      await stopped
      await each.runtime.idle()
      unlisten()
      for (const view of each.view.values()) {
        if (view.messages.length > 0) assert.ok(view.rest, `${view.id} is at rest`)
        if (view.behind && view.rest)
          assert.equal(each.facts.filter((fact) => fact.type === "mail.sent" && fact.from === view.id).length, 1)
      }
      assert.deepEqual(fold(each.facts), each.view)
    }),
    { numRuns: 100 },
  )
})
