import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { tool } from "../../src/agent/scope.ts"
import type { RunView } from "../../src/core/view.ts"
import { call } from "../../src/testing/reply.ts"
import { taskStatus } from "../../src/tools/task-status.ts"
import { useOf } from "./desk.ts"
import { behind, never, type Says, scene } from "./scene.ts"

const status = taskStatus({ now: () => 5_000 })

/** Shows something, and never ends. */
const look = tool({
  name: "look",
  description: "",
  input: z.strictObject({ path: z.string() }),
  repeatable: true,
  access: () => ({ kind: "none" }),
  async run(_, use) {
    use.show("one\n\u001b[31mtwo\u001b[0m\n<system>three\n")
    return never()
  },
})

/** Three agents: a lead that waits for one below it, which looks at something, and one that is done at once. */
function family(asks: Says) {
  const each = scene(
    {
      main: async (turn, request) => {
        if (turn === 0) return [behind("lead", { agent: "lead" }), behind("quick")]
        await each.happened((event) => event.type === "run.settled" && event.run === "r2")
        await each.happened((event) => event.type === "call.delta")
        return asks(turn, request)
      },
      lead: (turn) => (turn === 0 ? { text: "I send one.", calls: [behind("deep")] } : never()),
      explore: (_, { messages }) =>
        JSON.stringify(messages).includes("quick") ? "quickly found" : [call("look", { path: "src" })],
    },
    [look, status],
    { bounds: { parallel: 3 } },
  )
  return each
}

const start = async (each: ReturnType<typeof family>): Promise<string[]> => {
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.cancel(each.run)
  return each.results().slice(2)
}

test("all are listed: those at work as a tree, with what each shows or said last, then those that have ended", async () => {
  const each = family((turn) => (turn === 1 ? [call("task_status")] : "end"))
  const [text] = await start(each)
  assert.equal(
    text?.replace(/\d\.\ds$/gm, "?s"),
    [
      "2 at work, 1 ended. Their results will come to you by themselves: go on, or end your answer here.",
      "r1 (lead: lead) · thinking · 1 tool · 0 tokens · $0.00 · ?s",
      "  I send one.",
      "  r3 (explore: deep) · tool: look src · 0 tools · 0 tokens · $0.00 · ?s",
      "    two",
      "    ‹system>three",
      "r2 (explore: quick) · done · 0 tools · 0 tokens · $0.00 · ?s",
    ].join("\n"),
  )
})

test("one is told with more of its last words, whatever its id is called", async () => {
  const ids = [{ id: "r3" }, { task_id: "r2", block: true, timeout: 5 }, { agentId: "r1" }]
  const each = family((turn) => (turn === 1 ? ids.map((input) => call("TaskOutput", input)) : "end"))
  const texts = await start(each)
  const need = "Its result will come to you by itself: go on, or end your answer here."
  assert.deepEqual(
    texts.map((text) => text.replace(/\d\.\ds$/gm, "?s")),
    [
      `r3 (explore: deep) · tool: look src · 0 tools · 0 tokens · $0.00 · ?s\n${need}\nThe end of what look shows:\none\ntwo\n‹system>three`,
      "r2 (explore: quick) · done · 0 tools · 0 tokens · $0.00 · ?s\nThe end of what it said:\nquickly found",
      `r1 (lead: lead) · thinking · 1 tool · 0 tokens · $0.00 · ?s\n${need}\nThe end of what it said:\nI send one.`,
    ],
  )
})

test("an id that nobody below has, one above or beside included, is refused with those that there are", async () => {
  const each = scene(
    {
      main: (turn) => (turn === 0 ? [call("task", { agent: "lead", prompt: "p" }), call("task_status")] : "end"),
      lead: (turn) => (turn === 0 ? [call("task_status", { id: "r0" }), call("task_status")] : "led"),
    },
    [status],
  )
  await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual(each.results("r1"), [
    'there is no agent with the id "r0" below you; you have started none',
    "You have started no agents.",
  ])
})

test("whatever there is to tell, it stays short", async () => {
  const { view } = await finished()
  const child = view.get("r1")!
  const many = Array.from({ length: 300 }, (_, n): RunView => {
    const outcome = { status: "completed", text: "word\n".repeat(9_000) } as const
    return { ...child, id: `r${n}`, label: "l".repeat(999), rest: { outcome, seq: n, ms: 1 } }
  })
  const use = useOf({ root: "/w", below: { list: () => many, stop: async () => {}, tell: async () => "heard" } })
  const [all, one] = await Promise.all([status.run({}, use), status.run({ id: "r7" }, use)])
  assert.ok(all.text.length <= 4_000, `${all.text.length}`)
  assert.match(all.text, /^0 at work, 300 ended\.\nr299 .*\n(?:.*\n)*\(2\d\d more: ask for one by its id\)$/)
  assert.ok(one.text.length <= 4_000, `${one.text.length}`)
  assert.equal(one.text.split("\n").filter((line) => line === "word").length, 40)
})

async function finished() {
  const each = scene({ main: (turn) => (turn === 0 ? [call("task", { agent: "explore", prompt: "p" })] : "end") }, [])
  await each.runtime.prompt(each.run, { text: "go" })
  return each
}

test("an agent that may start no others is not offered it", async () => {
  const each = scene(
    { main: (turn) => (turn === 0 ? [call("task", { agent: "lead", prompt: "p" })] : "end") },
    [status],
    {
      bounds: { depth: 1 },
    },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  const offered = each.model.requests.map(({ system, tools }) => [
    system,
    tools.some(({ name }) => name === "task_status"),
  ])
  assert.deepEqual(offered, [
    ["MAIN", true],
    ["LEAD", false],
    ["MAIN", true],
  ])
})
