import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, type Script, serve } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { home } from "./binary.ts"

const request = "Describe how this project is laid out, and at the same time look for habits of testing that it lacks."
const answer = "The project keeps its code in src and has one module, add. It has no test for negative numbers yet."

const tasks = {
  "code structure": "Describe how the code of this project is laid out.",
  "testing habits": "Which habits of testing does this project lack?",
}
const found = {
  [tasks["code structure"]]: "src holds one module, add.",
  [tasks["testing habits"]]: "Nothing tests negative numbers.",
}

const toldIn = ({ messages }: Asked): string =>
  messages.flatMap(({ role, text }) => (role === "user" ? [text] : [])).join("\n")

/** The main agent sets both going, says so, and answers when it has heard of both. */
const main: Script = (asked) => {
  if (turnsIn(asked) === 0)
    return Object.entries(tasks).map(([description, prompt]) =>
      call("task", { description, prompt, subagent_type: "explore", run_in_background: true }),
    )
  const told = toldIn(asked)
  return Object.values(found).every((words) => told.includes(words)) ? answer : "I have started two tasks for this."
}

const script: Script = (asked, n) => {
  if (!isChild(asked)) return main(asked, n)
  const task = asked.messages[0]!.text
  if (turnsIn(asked) > 0) return found[task]!
  return task === tasks["code structure"] ? [call("glob", { pattern: "src/**" })] : [call("grep", { pattern: "test" })]
}

test("two tasks in the background, and in the end one natural answer to what was asked", async (t) => {
  await using server = await serve(script)
  const { run } = await home(t, { "src/add.ts": "export const add = 1\n", "test/add.test.ts": "test()\n" })
  const ran = await run(["-p", request, "--model", "anthropic/any"], { env: server.env })
  assert.deepEqual([ran.code, ran.stdout], [0, `${answer}\n`], ran.stderr)
  const lines = ran.stderr.split("\n").filter((line) => line.includes("[explore]"))
  assert.deepEqual(lines.map((line) => line.replace(/\d\.\ds/, "N")).sort(), [
    "  [explore] code structure (background)",
    "  [explore] code structure - done (1 tool, N)",
    "  [explore] testing habits (background)",
    "  [explore] testing habits - done (1 tool, N)",
  ])
  const last = server.requests.findLast((asked) => !isChild(asked))!
  const results = last.messages.filter(({ role }) => role === "result").map(({ text }) => text)
  assert.equal(results.filter((text) => text.startsWith("async_launched · agent ")).length, 2)
  const told = toldIn(last)
  assert.deepEqual(
    Object.values(found).map((words) => told.split(words).length - 1),
    [1, 1],
  )
  assert.deepEqual(server.refused, [])
})
