import assert from "node:assert/strict"
import { test } from "node:test"
import { serve } from "../../src/testing.ts"
import { behind, heard, inFront, isChild, latch, launching, turnsIn, until } from "./behind.ts"
import { eventsOf, home } from "./binary.ts"

const args = ["-p", "go", "--model", "anthropic/any"]
const two = [behind("task 1"), behind("task 2")]

test("-p waits for agents in the background, and prints only what was said last", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching(two, async ({ messages }) => {
      await gate.wait
      return `found ${messages[0]!.text.slice(-1)}`
    }),
  )
  const { start } = await home(t)
  const running = start(args, { env: server.env })
  await until(() => server.requests.some((asked) => !isChild(asked) && turnsIn(asked) === 1))
  gate.open()
  const ran = await running.done
  assert.deepEqual([ran.code, ran.stdout], [0, "2 of 2 are there\n"], ran.stderr)
  assert.deepEqual(heard(server.requests.at(-1), ["found 1", "found 2"]), [1, 1])
  const lines = ran.stderr.split("\n").filter((line) => line.includes("[explore]"))
  assert.deepEqual(lines.map((line) => line.replace(/\d\.\ds/, "N")).sort(), [
    "  [explore] task 1 (background)",
    "  [explore] task 1 - done (0 tools, N)",
    "  [explore] task 2 (background)",
    "  [explore] task 2 - done (0 tools, N)",
  ])
  assert.deepEqual(server.refused, [])
})

test("the report covers agents in the background, and events come while they are waited for", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching([behind("task 1")], async () => {
      await gate.wait
      return { text: "found 1", usage: { input: 1_000, output: 10 } }
    }),
  )
  const { start, run } = await home(t)
  const running = start([...args, "--output-format", "stream-json"], { env: server.env })
  const settled = await running.event(({ type }) => type === "run.settled")
  assert.ok(settled.type === "run.settled")
  assert.equal(settled.outcome.text, "all are on their way")
  gate.open()
  const events = eventsOf(await running.done)
  const seqs = events.map(({ seq }) => seq)
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].sort((a, b) => a - b),
  )
  const last = events.at(-1)!
  assert.deepEqual([last.type, last.run], ["run.settled", settled.run])
  const report = JSON.parse((await run([...args, "--output-format", "json"], { env: server.env })).stdout)
  assert.equal(report.text, "1 of 1 are there")
  assert.deepEqual(
    report.runs.map(({ agent, status }: { agent: string; status: string }) => `${agent} ${status}`),
    ["main completed", "explore completed"],
  )
  assert.ok(report.usage.input >= 1_000)
})

test("an interrupt while agents in the background are waited for stops them, and what was said is printed", async (t) => {
  await using server = await serve(launching(two, () => new Promise(() => {})))
  const { start, run } = await home(t)
  const running = start([...args, "--output-format", "json"], { env: server.env })
  await until(() => server.requests.filter((asked) => !isChild(asked)).length === 2 && server.pending === 2)
  running.child.kill("SIGINT")
  const ran = await running.done
  const report = JSON.parse(ran.stdout)
  assert.deepEqual([ran.code, report.text], [130, "all are on their way"], ran.stderr)
  assert.deepEqual(
    report.runs.map(({ status }: { status: string }) => status),
    ["completed", "cancelled", "cancelled"],
  )
  assert.match((await run(["sessions", "show", report.sessionId])).stdout, /explore · .* · cancelled/)
})

test("those that wait for a place are said to", async (t) => {
  await using server = await serve(launching([inFront("task 1"), inFront("task 2")], () => "found"))
  const { run } = await home(t, { "../config/legwork/settings.json": JSON.stringify({ limits: { parallel: 1 } }) })
  const { stderr } = await run(args, { env: server.env })
  const lines = stderr.split("\n").filter((line) => line.includes("[explore]"))
  assert.deepEqual(
    lines.map((line) => line.replace(/\d\.\ds/, "N")),
    [
      "  [explore] task 1",
      "  [explore] task 2 (queued)",
      "  [explore] task 1 - done (0 tools, N)",
      "  [explore] task 2",
      "  [explore] task 2 - done (0 tools, N)",
    ],
  )
})
