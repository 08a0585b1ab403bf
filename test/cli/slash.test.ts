import assert from "node:assert/strict"
import { test } from "node:test"
import { slash } from "../../src/cli/commands/slash.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { world } from "../agent/world.ts"

/** A main run that waits for two agents, `a` and `b`, which never answer, and has had one, `c`. */
async function talking() {
  const model = scripted(({ system, messages }) => {
    if (system !== "MAIN")
      return messages[0]!.role === "user" && messages[0]!.text === "c" ? "done" : new Promise(() => {})
    const labels = messages.length === 1 ? ["c"] : ["a", "b"]
    return labels.map((label) => call("task", { agent: "explore", prompt: label, label }))
  })
  const each = world(model, {})
  const main = each.open()
  const both = Promise.withResolvers<void>()
  let begun = 0
  each.log.listen(({ type }) => type === "mail.read" && ++begun === 4 && both.resolve())
  void each.runtime.prompt(main, { text: "go" })
  await both.promise
  const stopped: string[] = []
  const session = {
    view: each.log.view,
    main,
    cancel: async (run = main) => void stopped.push(run),
    sendBehind: (run: string) => each.runtime.sendBehind(run),
  }
  const say = (line: string) => {
    const answer = slash(line, session, () => each.log.view.get(main)!.openedAt)
    return typeof answer === "object" ? answer.say : answer
  }
  const idOf = (label: string) => [...each.log.view.values()].find((run) => run.label === label)!.id
  return { say, stopped, idOf, view: each.log.view, close: () => each.runtime.close() }
}

test("only lines that are commands are taken from the model, and one that was meant is named", async () => {
  const { say, close } = await talking()
  assert.deepEqual(["hello", "/etc/hosts says what?", "/usr is full", "/etc", "/exit", " /quit ", "/taks"].map(say), [
    undefined,
    undefined,
    undefined,
    undefined,
    "leave",
    "leave",
    ["  there is no /taks; did you mean /tasks?"],
  ])
  assert.equal(say("/help")?.length, 5)
  await close()
})

test("tasks lists those at work and those that ended", async () => {
  const { say, idOf, close } = await talking()
  const lines = say("/tasks") as string[]
  assert.deepEqual(
    lines.map((line) => line.replace(/\d+\.\ds$/, "N")),
    [
      `  ${idOf("c")}  [explore] c · done · 0 tools, N`,
      `  ${idOf("a")}  [explore] a · thinking · 0 tools, N`,
      `  ${idOf("b")}  [explore] b · thinking · 0 tools, N`,
    ],
  )
  await close()
})

test("stop stops one agent that is at work, and says which there are if it is not clear", async () => {
  const { say, stopped, idOf, close } = await talking()
  const which = [`  say which, as in /stop ${idOf("a")}; there are ${idOf("a")} (explore), ${idOf("b")} (explore)`]
  assert.deepEqual([say("/stop"), say("/stop nobody"), say(`/stop ${idOf("c")}`)], [which, which, which])
  assert.deepEqual([say(`/stop ${idOf("b")}`), stopped], [[`  stopping ${idOf("b")}`], [idOf("b")]])
  await close()
})

test("behind sends one agent behind, or all that the main run waits for", async () => {
  const { say, idOf, view, close } = await talking()
  const behind = () => ["a", "b", "c"].map((label) => view.get(idOf(label))!.behind)
  assert.deepEqual([say(`/behind ${idOf("b")}`), behind()], [[], [false, true, false]])
  assert.deepEqual([say("/behind"), behind()], [[], [true, true, false]])
  assert.deepEqual(say("/behind"), ["  there is no agent that is waited for"])
  await close()
})
