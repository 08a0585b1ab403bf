import assert from "node:assert/strict"
import { test } from "node:test"
import { call } from "../../src/testing/reply.ts"
import { taskMessage } from "../../src/tools/task-message.ts"
import { taskStop } from "../../src/tools/task-stop.ts"
import { behind, never, scene } from "./scene.ts"

type Scene = ReturnType<typeof scene>
const heardBy = ({ view }: Scene, run: string) =>
  view.get(run)!.messages.flatMap((message) => (message.role === "user" ? [message.text] : []))

test("one at work hears it between two turns, and its result comes as it would have", async () => {
  const told = Promise.withResolvers<void>()
  const each = scene(
    {
      main: async (turn) => {
        if (turn === 0) return [behind("look around")]
        if (turn === 1) return [call("task_message", { id: "r1", message: "only in src" })]
        told.resolve()
        return `turn ${turn}`
      },
      explore: async (turn) => {
        if (turn > 0) return "found in src"
        await told.promise
        return [call("look")]
      },
    },
    [taskMessage()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.equal(
    each.results()[1],
    "r1 (explore: look around) is at work and will hear it between two turns. Its result comes as it would have.",
  )
  assert.deepEqual(heardBy(each, "r1"), ["look around", "only in src"])
  assert.match(heardBy(each, each.run)[1]!, /\n\nr1 completed: found in src\n\n/)
})

test("one that has finished goes on with it, and its result comes as a message", async () => {
  const each = scene(
    {
      main: (turn) => {
        if (turn === 0) return [call("task", { agent: "explore", prompt: "p", label: "find it" })]
        return turn === 1 ? [call("SendMessage", { type: "message", to: "r1", content: "and the tests?" })] : "end"
      },
      explore: (turn) => `found ${turn}`,
    },
    [taskMessage()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.results(), [
    "found 0",
    "r1 (explore: find it) goes on with it in the background. Its result will come to you as a message; do not wait for it and do not ask for it.",
  ])
  assert.deepEqual(heardBy(each, "r1"), ["p", "and the tests?"])
  assert.match(heardBy(each, each.run)[1]!, /\n\nr1 completed: found 1\n\n/)
})

test("the result of one that another started goes to that one", async () => {
  const each = scene(
    {
      main: (turn) => {
        if (turn === 0) return [call("task", { agent: "lead", prompt: "p", label: "lead it" })]
        return turn === 1 ? [call("task_message", { id: "r2", message: "more" })] : "end"
      },
      lead: (turn) => (turn === 0 ? [call("task", { agent: "explore", prompt: "q", label: "deep" })] : "led"),
    },
    [taskMessage()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.equal(
    each.results()[1],
    "r2 (explore: deep) goes on with it in the background. Its result will come to r1 (lead: lead it).",
  )
  assert.match(heardBy(each, "r1")[1]!, /\n\nr2 completed: found\n\n/)
})

test("made again after a crash, it is heard once", async () => {
  const explore = (turn: number) => `found ${turn}`
  const main = (turn: number) => {
    if (turn === 0) return [behind("p")]
    return turn === 2 ? [call("task_message", { id: "r1", message: "more" })] : "end"
  }
  const first = scene({ main, explore }, [taskMessage()])
  await first.runtime.prompt(first.run, { text: "go" })
  await first.runtime.idle()
  const sent = first.facts.findIndex((fact) => fact.type === "mail.sent" && fact.text === "more")
  const second = scene({ main, explore }, [taskMessage()], { stored: first.facts.slice(0, sent + 1) })
  await second.runtime.resume()
  assert.deepEqual(heardBy(second, "r1"), ["p", "more"])
  const results = heardBy(second, "r0").map((text) => /r1 completed: .*/.exec(text)?.[0])
  assert.deepEqual(results, [undefined, "r1 completed: found 0", "r1 completed: found 1"])
})

test("what cannot be told is refused with what to do: nothing, to nobody, or to one that is being stopped", async () => {
  const each = scene(
    {
      main: async (turn) => {
        if (turn === 0) return [behind("look around")]
        if (turn > 1) return "end"
        const message = { id: "r1", message: "wait" }
        return [
          ...[call("task_message", { id: "r1", message: " " }), call("task_message", { id: "r9", message: "x" })],
          ...[call("task_stop", { id: "r1" }), call("task_message", message)],
        ]
      },
      explore: never,
    },
    [taskMessage(), taskStop()],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.results().toSpliced(3, 1).slice(1), [
    "the message is empty: say what the agent is to know",
    'there is no agent with the id "r9" below you; there are r1',
    "r1 (explore: look around) is being stopped: tell it once it has stopped",
  ])
})
