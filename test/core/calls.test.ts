import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Fact, Stamped } from "../../src/core/event.ts"
import type { Part } from "../../src/core/message.ts"
import { noUsage } from "../../src/core/usage.ts"
import { apply, type RunView, type View } from "../../src/core/view.ts"

/** A run that was told something, and what happens to it then. */
function after(facts: readonly Fact[]): RunView {
  const view: View = new Map()
  const opening: Fact[] = [
    {
      type: "run.opened",
      agent: "main",
      model: "m",
      depth: 0,
      root: "/w",
      system: "",
      role: { tools: "*", denied: [] },
      limits: { turns: 9 },
    },
    { type: "mail.sent", text: "go" },
    { type: "mail.read" },
  ]
  for (const [n, fact] of [...opening, ...facts].entries())
    apply(view, { ...fact, seq: n + 1, at: n, run: "r" } as Stamped<Fact>)
  return view.get("r")!
}

const turn = (...ids: string[]): Fact => {
  const parts = ids.map((id): Part => ({ type: "call", id, name: "look", input: {} }))
  return { type: "turn.ended", parts, stop: "calls", usage: noUsage(), cost: 0, ms: 1 }
}
const ended = (id: string): Fact => ({ type: "call.ended", id, ok: true, text: id, ms: 1 })
const results = ({ messages }: RunView) => messages.flatMap((each) => (each.role === "result" ? [each.text] : []))

test("results join the conversation in the order of their calls when the last has come, however they come", () => {
  const ids = ["a", "b", "c", "d"]
  const order = fc.shuffledSubarray(ids, { minLength: ids.length })
  fc.assert(
    fc.property(order, fc.array(fc.constantFrom(...ids)), (order, again) => {
      // One may be told twice before the last of them has come.
      const early = order.slice(0, -1).flatMap((id) => [id, ...again.filter((other) => other === id)])
      const before = after([turn(...ids), ...early.map(ended)])
      assert.deepEqual([results(before), before.openCalls], [[], 1])
      const all = after([turn(...ids), ...[...early, order.at(-1)!].map(ended)])
      assert.deepEqual([results(all), all.openCalls, all.calls.size], [ids, 0, 0])
    }),
  )
})

test("a call whose end was lost is open in the next turn, and that turn ends all the same", () => {
  const lost = after([turn("a", "b"), ended("a"), turn("c")])
  assert.deepEqual([[...lost.calls.keys()], lost.openCalls], [["a", "b", "c"], 2])
  const whole = after([turn("a", "b"), ended("a"), turn("c"), ended("b"), ended("c")])
  assert.deepEqual([results(whole), whole.openCalls, whole.calls.size], [["a", "b", "c"], 0, 0])
})
