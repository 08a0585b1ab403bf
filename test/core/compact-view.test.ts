import assert from "node:assert/strict"
import { test } from "node:test"
import type { Event, Fact, Hint, Outcome } from "../../src/core/event.ts"
import type { Part } from "../../src/core/message.ts"
import { noUsage, type Usage } from "../../src/core/usage.ts"
import { apply, type RunView, type View } from "../../src/core/view.ts"

const spent = (output = 0) => ({ usage: { ...noUsage(), output }, cost: output })
const opened: Fact = {
  type: "run.opened",
  agent: "main",
  model: "m",
  depth: 0,
  root: "/w",
  system: "SYSTEM",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
}
const sent: Fact = { type: "mail.sent", text: "go" }
const read: Fact = { type: "mail.read" }
const ended = (text: string, usage: Usage = noUsage()): Fact => {
  const parts: Part[] = [{ type: "text", text }]
  return { type: "turn.ended", parts, stop: "end", usage, cost: 0, ms: 0 }
}
const failed = (kind: "context_overflow" | "network", wait: number | null = 0): Fact => ({
  type: "turn.failed",
  error: { kind, message: kind },
  wait,
  ...spent(3),
})
const shorter = (from: number, summary?: string): Fact => ({
  type: "run.compacted",
  from,
  ...(summary !== undefined && { summary }),
  before: 2,
  after: 1,
  ms: 0,
  ...spent(5),
})
const settled: Fact = { type: "run.settled", outcome: { status: "completed", text: "" } satisfies Outcome, ms: 0 }
const chosen: Fact = { type: "model.chosen", model: "other" }
const told: Fact = { type: "run.told", reason: "turns", text: "told" }
const compacting: Hint = { type: "run.compacting", text: "a word" }

const fold = (each: (Fact | Hint)[], run = "r", view: View = new Map()): View => {
  for (const fact of each) apply(view, { ...fact, seq: 0, at: 7, run } as Event)
  return view
}
const after = (...each: (Fact | Hint)[]): RunView => fold([opened, sent, read, ended("one"), ...each]).get("r")!

test("whether a run was made shorter, and how often it was found too long, is forgotten when something new comes", () => {
  const overflow = failed("context_overflow")
  for (const [facts, squeezed, overflows] of [
    [[], false, 0],
    [[shorter(1)], true, 0],
    [[overflow], false, 1],
    [[shorter(1), overflow], false, 1],
    [[overflow, shorter(1)], true, 1],
    [[overflow, shorter(1), overflow], false, 2],
    [[overflow, shorter(1), failed("network")], true, 1],
    [[overflow, shorter(1), told], true, 1],
    [[overflow, shorter(1), ended("two")], false, 0],
    [[overflow, shorter(1), chosen], false, 0],
    [[overflow, shorter(1), sent], true, 1],
    [[overflow, shorter(1), sent, read], false, 1],
    [[overflow, shorter(1), settled], true, 1],
    [[overflow, shorter(1), settled, sent, read], false, 0],
  ] as [Fact[], boolean, number][]) {
    const run = after(...facts)
    const kinds = facts.map(({ type }) => type).join(", ")
    assert.deepEqual([run.squeezed, run.overflows], [squeezed, overflows], kinds)
  }
})

test("what was counted of a conversation holds until it is made shorter", () => {
  const usage = { ...noUsage(), input: 500 }
  const { weight } = after(ended("two", usage), sent, read)
  assert.deepEqual(weight, { tokens: 500, guess: weight.guess, messages: 3 })
  assert.deepEqual(after(ended("two", usage), shorter(1)).weight, { tokens: 0, guess: 0, messages: 0 })
})

test("a summary is known as such until the next one, and what came without one leaves it", () => {
  const notes = (...facts: Fact[]) => after(...facts).notes
  assert.deepEqual(
    [notes(), notes(shorter(1)), notes(shorter(1, "A")), notes(shorter(1, "A"), shorter(1))],
    [undefined, undefined, "A", "A"],
  )
  assert.equal(notes(shorter(1, "A"), shorter(1, "B")), "B")
})

test("a failure is told until something goes on, and so is the summary so far", () => {
  const failing = { error: { kind: "network", message: "network" }, wait: 0, at: 7 }
  const network = failed("network")
  for (const [events, state] of [
    [[network], { failing }],
    [[compacting, compacting], { compacting: "a worda word" }],
    [[compacting, network], { failing }],
    [[network, compacting], { compacting: "a word" }],
    [[network, shorter(1)], {}],
    [[compacting, shorter(1)], {}],
    [[compacting, settled], {}],
    [[network, settled], {}],
    [[network, ended("two")], {}],
    [[network, { type: "turn.delta", kind: "text", text: "" }], {}],
  ] as [(Fact | Hint)[], object][]) {
    const { failing, compacting } = after(...events)
    assert.deepEqual({ ...(failing && { failing }), ...(compacting && { compacting }) }, state)
  }
})

test("what it cost is the run's own, and its family's", () => {
  const { cost, usage, family } = after(failed("network"), shorter(1))
  const all = { usage: { ...noUsage(), output: 8 }, cost: 8 }
  assert.deepEqual([{ usage, cost }, family], [all, { ...all, toolCalls: 0 }])
})

test("the summary that a filtered child inherits is its first message, and known to it as such", () => {
  const view = fold([opened, sent, read, ended("one"), shorter(1, "NOTES")])
  fold(
    [{ ...opened, depth: 1, origin: { run: "r", call: "a" }, history: { as: "filtered", tools: [] } }, sent, read],
    "f",
    view,
  )
  const { notes, messages, task } = view.get("f")!
  assert.deepEqual({ notes, task, first: messages[0] }, { notes: "NOTES", task: 4, first: view.get("r")!.messages[0] })
})

test("a fork that was made shorter shares nothing with its parent any more", () => {
  const view = fold([opened, sent, read, ended("one"), shorter(1, "NOTES")])
  fold([{ ...opened, depth: 1, origin: { run: "r", call: "a" }, history: { as: "fork" } }, sent, read], "f", view)
  const { inherited, notes, words, task, messages } = view.get("f")!
  assert.deepEqual({ inherited, notes, words, task }, { inherited: 3, notes: "NOTES", words: messages[3], task: 4 })
  assert.deepEqual(words, { role: "user", text: "SYSTEM" })
  fold([ended("two"), shorter(5)], "f", view)
  assert.equal(view.get("f")!.inherited, 0)
})
