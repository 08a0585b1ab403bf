import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { roomOf, squeezeOf } from "../../src/agent/squeeze.ts"
import { compacted } from "../../src/core/compact.ts"
import type { Message, Part, User } from "../../src/core/message.ts"
import type { RunView } from "../../src/core/view.ts"
import { weighAll, weightOf } from "../../src/core/weight.ts"
import { fold } from "./world.ts"

test("a request leaves room for the answer and for a guess that is a little wrong", () => {
  const rooms = [
    { window: 200_000 },
    { window: 8_000 },
    { window: 200_000, maxTokens: 64_000 },
    { window: 12_000, maxTokens: 1_000 },
    { window: 10_000, maxTokens: 9_000 },
  ].map(roomOf)
  assert.deepEqual(rooms, [174_000, 5_600, 126_000, 10_400, 4_500])
})

const opened = fold([
  {
    seq: 0,
    at: 0,
    run: "r",
    type: "run.opened",
    agent: "main",
    model: "m",
    depth: 0,
    root: "/w",
    system: "s".repeat(300),
    role: { tools: "*", denied: [] },
    limits: { turns: 9 },
  },
]).get("r")!

const said = (size: number): Message => ({ role: "user", text: "u".repeat(size) })

/** An answer with these words, and calls whose results have so many letters. */
function turn(words: number, results: number[], images = 0): Message[] {
  const calls = results.map((_, n): Part => ({ type: "call", id: `${n}`, name: "look", input: {} }))
  const pictures = Array.from({ length: images }, () => ({ mediaType: "image/png", data: "A".repeat(4_800) }))
  return [
    { role: "assistant", parts: [{ type: "text", text: "w".repeat(words) }, ...calls] },
    ...results.map(
      (size, n): Message => ({
        role: "result",
        call: `${n}`,
        name: "look",
        ok: true,
        text: "r".repeat(size),
        ...(images > 0 && { images: pictures }),
      }),
    ),
  ]
}

const runOf = (messages: Message[], more: Partial<RunView> = {}): RunView => ({ ...opened, messages, ...more })

test("old results go first; what was said goes into a summary only where that is not enough", () => {
  const results = [said(30), ...turn(30, [9_000]), ...turn(30, [9_000]), ...turn(30, [900])]
  assert.deepEqual(squeezeOf(runOf(results), 6_000), { from: 5 })
  const words = [said(30), ...turn(9_000, [30]), ...turn(9_000, [30]), ...turn(30, [900])]
  assert.deepEqual(squeezeOf(runOf(words), 6_000), { from: 5, notes: 737 })
})

test("recent results are cut only where they do not fit, the longest first", () => {
  const fits = [said(30), ...turn(9_000, [30]), ...turn(30, [900, 10_000])]
  assert.deepEqual(squeezeOf(runOf(fits), 6_000), { from: 3, notes: 737 })
  const much = [said(30), ...turn(9_000, [30]), ...turn(30, [30_000, 900, 20_000])]
  assert.deepEqual(squeezeOf(runOf(much), 6_000), { from: 3, notes: 737, most: 920 })
})

test("where the provider said that it is too long, half of what it was is left at most", () => {
  const messages = [said(30), ...turn(30, [9_000]), ...turn(30, [9_000]), ...turn(30, [900])]
  assert.deepEqual(squeezeOf(runOf(messages, { overflows: 1 }), 100_000), { from: 5 })
  const run = runOf([said(30), ...turn(30, [9_000])], { overflows: 1 })
  assert.deepEqual(squeezeOf(run, 100_000), { from: 1, most: 701 })
})

test("nothing is planned where nothing would be lighter", () => {
  for (const messages of [
    [said(90_000)],
    [said(90_000), ...turn(30, [200])],
    [said(30), ...turn(90_000, [200])],
    [said(90_000), ...turn(30, [200]), ...turn(30, [200])],
  ])
    for (const overflows of [0, 1]) assert.equal(squeezeOf(runOf(messages, { overflows }), 6_000), undefined)
  assert.equal(squeezeOf(runOf([said(30), ...turn(30, [9_000])]), 50), undefined)
})

test("where a summary would be no lighter than what it stands for, there is none", () => {
  const tiny = [said(30), ...turn(30, []), said(30)]
  assert.equal(squeezeOf(runOf(tiny, { overflows: 1, task: 2 }), 100_000), undefined)
  const short = [said(30), ...turn(300, []), ...turn(30, [900])]
  assert.deepEqual(squeezeOf(runOf(short, { overflows: 1 }), 100_000), { from: 2, most: 100 })
  const long = [said(30), ...turn(900, []), ...turn(30, [900])]
  assert.deepEqual(squeezeOf(runOf(long, { overflows: 1 }), 100_000), { from: 2, notes: 100, most: 100 })
})

test("with a heavy task fewer turns are recent, so that their results need not be cut", () => {
  const turns = Array.from({ length: 5 }, () => turn(30, [1_200])).flat()
  assert.deepEqual(squeezeOf(runOf([said(30), ...turns]), 8_000), { from: 3 })
  assert.deepEqual(squeezeOf(runOf([said(15_900), ...turns]), 8_000), { from: 9 })
  assert.deepEqual(squeezeOf(runOf([said(24_000), ...turns]), 8_000), { from: 9, most: 100 })
})

test("what a fork was told that it is counts as a part that stays", () => {
  const words: User = { role: "user", text: "w".repeat(6_000) }
  const messages = [said(9_000), words, said(30), ...turn(30, [9_000])]
  const run = runOf(messages, { words, task: 2 })
  const { notes = 0, ...squeeze } = squeezeOf(run, 6_000)!
  const left = compacted(run, { ...squeeze, summary: "n".repeat(notes * 3) })
  assert.ok(weightOf({ ...run, messages: left.messages }).tokens <= 6_000)
  assert.deepEqual([squeeze, notes], [{ from: 3, most: 1_197 }, 737])
  const turns = Array.from({ length: 5 }, () => turn(30, [1_200])).flat()
  assert.deepEqual(squeezeOf(runOf([words, said(9_900), ...turns], { words, task: 1 }), 8_000), { from: 10 })
})

const size = fc.oneof(fc.nat(300), fc.nat(3_000), fc.nat(12_000))
const turns = fc.array(
  fc
    .tuple(fc.nat(600), fc.array(size, { minLength: 1, maxLength: 4 }), fc.nat(1))
    .map(([words, results, images]) => turn(words, results, images)),
  { minLength: 1, maxLength: 12 },
)

test("whatever the turns: what is planned is lighter and fits, parts no result from its call, and keeps the task", () => {
  fc.assert(
    fc.property(turns, fc.nat(), fc.constantFrom(3_000, 6_000), fc.nat(1), (turns, nth, room, overflows) => {
      const [first, task] = [said(90), said(91)]
      const later = nth % turns.length
      const messages = turns.flatMap((turn, n) => [
        ...(n === 0 ? [first] : []),
        ...(n === later ? [task] : []),
        ...turn,
      ])
      const run = runOf(messages, { overflows, task: messages.indexOf(task) })
      const plan = overflows > 0 || weightOf(run).tokens > room ? squeezeOf(run, room) : undefined
      if (!plan) return
      const { notes, ...squeeze } = plan
      assert.notEqual(messages[plan.from]?.role, "result")
      const summary = notes === undefined ? {} : { summary: "n".repeat(notes * 3) }
      const left = compacted(run, { ...squeeze, ...summary })
      assert.ok(weighAll(left.messages) < weighAll(messages))
      assert.ok(weightOf({ ...run, messages: left.messages }).tokens <= room)
      assert.equal(left.messages[left.task], task)
    }),
    { numRuns: 200 },
  )
})
