import assert from "node:assert/strict"
import { test } from "node:test"
import { serve } from "../../src/testing.ts"
import { behind, heard, isChild, latch, launching } from "./behind.ts"
import { home } from "./binary.ts"

const model = ["--model", "anthropic/any"]
const two = [behind("task 1"), behind("task 2")]
const answers = ["found 1", "found 2"]

test("--no-drain ends with the answer and leaves a session whose agents resume takes up, each once", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching(two, async ({ messages }) => {
      if (messages[0]!.text === "task 2") await gate.wait
      return `found ${messages[0]!.text.slice(-1)}`
    }),
  )
  const { run } = await home(t)
  const first = await run(["-p", "go", "--no-drain", ...model, "--output-format", "json"], { env: server.env })
  const { sessionId, status, runs } = JSON.parse(first.stdout)
  assert.deepEqual([first.code, status], [0, "completed"], first.stderr)
  assert.equal(runs.at(-1).status, "working")
  assert.match(
    first.stderr,
    new RegExp(
      `\\n  [12] agents? (is|are) still at work and (was|were) put aside · legwork resume ${sessionId} goes on with (it|them)\\n$`,
    ),
  )
  gate.open()
  const second = await run(["resume", sessionId, "-p", ...model], { env: server.env })
  assert.deepEqual([second.code, second.stdout], [0, "2 of 2 are there\n"], second.stderr)
  assert.match(second.stderr, /^ {2}\[explore\] task 2 \(background\) goes on$/m)
  const last = server.requests.findLast((asked) => !isChild(asked))
  assert.deepEqual(heard(last, answers), [1, 1])
  const facts = (await run(["sessions", "show", sessionId, "--json"])).stdout.trim().split("\n").slice(1)
  const opened = facts.map((line) => JSON.parse(line)).filter(({ type }) => type === "run.opened")
  assert.deepEqual(
    opened.map(({ agent, label }) => [agent, label ?? ""].join(" ").trim()),
    ["main", "explore task 1", "explore task 2"],
  )
  assert.deepEqual(server.refused, [])
})

test("--no-drain says nothing of agents where none is at work", async (t) => {
  await using server = await serve(() => "done")
  const { run } = await home(t)
  const ran = await run(["-p", "go", "--no-drain", ...model], { env: server.env })
  assert.deepEqual([ran.code, ran.stdout], [0, "done\n"])
  assert.doesNotMatch(ran.stderr, /put aside/)
})

test("a new prompt to a session with agents that were put aside takes them up as well", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching(two, async ({ messages }) => {
      await gate.wait
      return `found ${messages[0]!.text.slice(-1)}`
    }),
  )
  const { run } = await home(t)
  const first = await run(["-p", "go", "--no-drain", ...model, "--output-format", "json"], { env: server.env })
  const { sessionId } = JSON.parse(first.stdout)
  gate.open()
  const second = await run(["resume", sessionId, "-p", "and?", ...model], { env: server.env })
  assert.deepEqual([second.code, second.stdout], [0, "2 of 2 are there\n"], second.stderr)
  const last = server.requests.findLast((asked) => !isChild(asked))
  assert.deepEqual(heard(last, [...answers, "and?"]), [1, 1, 1])
})
