import fc from "fast-check"
import type { Context } from "../../src/agent/scope.ts"
import type { Message } from "../../src/core/message.ts"
import { call, fail, type Reply } from "../../src/testing/reply.ts"

type Child = { context: Context; turns: Turn[]; background?: boolean }

/** One turn of a made-up model. `task` holds the turns of the children that it starts. */
export type Turn =
  | { do: "say"; text: string }
  | { do: "call"; calls: { name: string; input: object }[] }
  | { do: "task"; children: Child[] }

const name = fc.constantFrom("look", "change", "broken", "nothing")
const input = fc.oneof(
  { weight: 5, arbitrary: fc.record({ on: fc.string({ maxLength: 8 }) }) },
  { weight: 1, arbitrary: fc.constant({ wrong: 1 }) },
)
const calls = fc.array(fc.record({ name, input }), { minLength: 1, maxLength: 4 })
const calling: fc.Arbitrary<Turn> = calls.map((calls) => ({ do: "call", calls }))
const text = fc.oneof({ weight: 6, arbitrary: fc.string({ minLength: 1 }) }, { weight: 1, arbitrary: fc.constant("") })
const saying: fc.Arbitrary<Turn> = text.map((text) => ({ do: "say", text }))

/** A conversation of one run. */
export const turns: fc.Arbitrary<Turn[]> = fc
  .tuple(fc.array(calling, { maxLength: 4 }), saying)
  .map(([before, last]) => [...before, last])

const child: fc.Arbitrary<Child> = fc.record({
  context: fc.constantFrom("fresh", "fresh", "fork", "filtered"),
  turns,
})

/** A conversation that sends children, foreground, side by side. */
export const tree: fc.Arbitrary<Turn[]> = fc
  .tuple(turns, fc.array(fc.array(child, { minLength: 1, maxLength: 3 }), { maxLength: 2 }))
  .map(([own, tasks]) => [...tasks.map((children): Turn => ({ do: "task", children })), ...own])

/** The same with some that nobody waits for, at two depths, side by side with others. */
export const behind: fc.Arbitrary<Turn[]> = fc
  .tuple(turns, fc.array(fc.array(backgroundChild(1), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 2 }))
  .map(([own, tasks]) => [...tasks.map((children): Turn => ({ do: "task", children })), ...own])

function backgroundChild(depth: number): fc.Arbitrary<Child> {
  const below =
    depth < 2
      ? fc.array(fc.array(backgroundChild(depth + 1), { minLength: 1, maxLength: 2 }), { maxLength: 1 })
      : fc.constant([])
  return fc.tuple(turns, below, fc.boolean()).map(([own, tasks, background]) => ({
    context: "fresh",
    turns: [...tasks.map((children): Turn => ({ do: "task", children })), ...own],
    background,
  }))
}

/** What the model answers to a history: the turn after those that are in it. Children find their turns by their prompt. */
export function answer(tree: Turn[], messages: readonly Message[]): Reply {
  const asked = messages.findLastIndex((message) => message.role === "user" && message.text.startsWith("["))
  const own = asked < 0 ? tree : (JSON.parse((messages[asked] as { text: string }).text) as Turn[])
  const turn = own[messages.slice(asked + 1).filter(({ role }) => role === "assistant").length]
  if (!turn) return messages.length > 200 ? fail("internal", "the conversation does not end") : "the end"
  if (turn.do === "say") return turn.text
  if (turn.do === "call") return turn.calls.map(({ name, input }) => call(name, input))
  return turn.children.map(({ context, turns, background }) =>
    call("task", {
      agent: turns.some((each) => each.do === "task") ? "lead" : "explore",
      prompt: JSON.stringify(turns),
      context,
      ...(background && { background }),
    }),
  )
}
