import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { createEncoder } from "../../src/model/anthropic-encode.ts"
import type { Request } from "../../src/model/model.ts"
import { chatEncoder } from "../../src/model/openai-chat-encode.ts"
import { responsesEncoder } from "../../src/model/openai-responses-encode.ts"
import { illegal } from "../../src/testing/illegal.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"
import { countOf, factsOf, isSummary, long, weightOf } from "../agent/long.ts"
import { callsAndResults, fold, toolsOf, type World, world } from "../agent/world.ts"

/** How long the results of each turn are, one number a call. A turn in `forks` sends a fork too. */
type Story = { turns: number[][]; forks: number[]; window: number }

const size = fc.oneof(fc.nat(200), fc.nat(9_000), fc.constantFrom(0, 50_000))
const story: fc.Arbitrary<Story> = fc.record({
  turns: fc.array(fc.array(size, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 25 }),
  forks: fc.array(fc.nat(24), { maxLength: 2 }),
  window: fc.constantFrom(6_000, 9_000, 30_000),
})

/** Which turn comes next is read off the last call, for what came before may be gone. */
function answer({ turns, forks }: Story, request: Request): Reply {
  if (isSummary(request)) return "notes"
  const own = request.messages.findLastIndex(
    ({ role, ...rest }) => role === "user" && "text" in rest && rest.text === "fork",
  )
  if (own >= 0) return "forked"
  const n = countOf(request.messages)
  const turn = turns[n]
  if (!turn) return "the end"
  const calls = turn.map((size) => call("long", { n: n + 1, size }))
  return forks.includes(n) ? [...calls, call("task", { prompt: "fork", context: "fork" })] : calls
}

const start = (story: Story, stored: Stamped<Fact>[] = []) => {
  const model = scripted((request) => answer(story, request), { window: story.window })
  return { model, ...world(model, { stored, tools: [long, ...toolsOf([])], limits: { turns: 1_000 } }) }
}

const options = { provider: "p", name: "m", baseURL: "http://127.0.0.1" } as Parameters<typeof chatEncoder>[0]
const encoders = {
  anthropic: createEncoder({ name: "m", maxTokens: 1_000 }),
  chat: chatEncoder(options),
  responses: responsesEncoder(options),
}

function check(request: Omit<Request, "memo">, window: number): void {
  assert.ok(weightOf(request) <= window, `${weightOf(request)} of ${window}`)
  for (const [format, encode] of Object.entries(encoders))
    assert.equal(illegal(format as "chat", JSON.parse(encode({ ...request, memo: {} }))), undefined)
}

test("whatever the results, every request is legal in each format, and fits", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (story) => {
      const each = start(story)
      const outcome = await each.runtime.prompt(each.open(), { text: "go" })
      assert.deepEqual(outcome, { status: "completed", text: "the end" })
      for (const request of each.model.requests) check(request, story.window)
      assert.deepEqual(fold(each.facts), each.view)
    }),
    { numRuns: 60 },
  )
})

const words = (most: number) =>
  fc
    .tuple(fc.constantFrom("a", "漢", "😀"), fc.oneof(fc.nat(50), fc.nat(most)))
    .map(([letter, times]) => letter.repeat(times))
const talk = fc.record({
  turns: fc.array(fc.record({ text: words(900), size }), { minLength: 1, maxLength: 25 }),
  summaries: fc.array(fc.oneof(fc.constant(""), words(9_000)), { minLength: 1, maxLength: 5 }),
  task: fc.nat(3_000),
  window: fc.constantFrom(9_000, 30_000),
  /** What of its window the provider really has. */
  real: fc.constantFrom(1, 0.45, 0.05),
})

test("whatever is said, summed up or not, in any script and any real window, it gets lighter and comes to an end", async () => {
  await fc.assert(
    fc.asyncProperty(talk, async ({ turns, summaries, task, window, real }) => {
      let asked = 0
      const model = scripted(
        (request) => {
          if (isSummary(request)) return summaries[asked++ % summaries.length]!
          if (weightOf(request) > window * real) return fail("context_overflow", "prompt is too long")
          const n = countOf(request.messages)
          const turn = turns[n]
          return turn ? { text: turn.text, calls: [call("long", { n: n + 1, size: turn.size })] } : "the end"
        },
        { window },
      )
      const each = world(model, { tools: [long], limits: { turns: 1_000 } })
      const outcome = await each.runtime.prompt(each.open(), { text: "t".repeat(task) })
      if (real > 0.1) assert.deepEqual(outcome, { status: "completed", text: "the end" })
      for (const request of model.requests) check(request, window)
      const heavier = factsOf(each.facts, "run.compacted").filter(({ before, after }) => after >= before)
      assert.deepEqual(heavier, [])
    }),
    { numRuns: 60 },
  )
})

/** What anybody could tell of how it ended, but for the runs' ids. */
const ending = ({ view }: World) =>
  [...view.values()].map(({ rest, messages, toolCalls, agent }) => ({
    rest: rest?.outcome,
    messages,
    toolCalls,
    agent,
  }))

test("killed after any fact, a session that was made shorter ends as it would have", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (story) => {
      const whole = start(story)
      await whole.runtime.prompt(whole.open(), { text: "go" })
      for (let cut = 2; cut <= whole.facts.length; cut += 3) {
        const again = start(story, whole.facts.slice(0, cut))
        await again.runtime.resume()
        assert.deepEqual(ending(again), ending(whole), `cut after fact ${cut}`)
        for (const run of again.view.values()) {
          const { asked, got } = callsAndResults(run)
          assert.deepEqual(got, asked)
        }
      }
    }),
    { numRuns: 12 },
  )
})
