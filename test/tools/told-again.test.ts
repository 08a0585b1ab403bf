import assert from "node:assert/strict"
import { test } from "node:test"
import { call } from "../../src/testing/reply.ts"
import { taskMessage } from "../../src/tools/task-message.ts"
import { behind, scene } from "./scene.ts"

test("a result that a call returned is not sent again when its run goes on behind and a crash comes", async () => {
  const explore = (turn: number) => `found ${turn}`
  const main = (turn: number) => {
    if (turn === 0) return [call("task", { agent: "explore", prompt: "p" })]
    return turn === 1 ? [call("task_message", { id: "r1", message: "more" })] : "end"
  }
  const first = scene({ main, explore }, [taskMessage()])
  await first.runtime.prompt(first.run, { text: "go" })
  await first.runtime.idle()
  const sent = first.facts.findIndex((fact) => fact.type === "mail.sent" && fact.text === "more")
  for (const cut of [sent, sent + 1]) {
    const second = scene({ main, explore }, [taskMessage()], { stored: first.facts.slice(0, cut) })
    await second.runtime.resume()
    const texts = second.view
      .get("r0")!
      .messages.flatMap((m) => (m.role === "user" ? [/r1 completed: .*/.exec(m.text)?.[0]] : []))
    assert.deepEqual(texts, [undefined, "r1 completed: found 1"], `cut ${cut}`)
  }
})

test("a child waits for one that it told to go on, also before that one has heard it", async () => {
  let n = 0
  const later = async () => {
    for (let k = 0; k < 50; k++) await new Promise(setImmediate)
  }
  const each = scene(
    {
      main: (turn) => (turn === 0 ? [call("task", { agent: "lead", prompt: "p" })] : "end"),
      lead: (turn) => {
        if (turn === 0) return [behind("first")]
        if (turn === 1) return "wait"
        if (turn === 2) return [call("task_message", { id: "r2", message: "more" })]
        return `turn ${turn}`
      },
      explore: async (turn) => `found ${turn}`,
    },
    [taskMessage()],
    {
      hooksOf: async (agent) => {
        if (agent === "explore" && ++n === 3) await later()
        return undefined
      },
    },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  const settled = each.facts.filter((f) => f.type === "run.settled").map((f) => f.run)
  assert.deepEqual(settled.filter((r) => r === "r1").length, 1, settled.join(" "))
})
