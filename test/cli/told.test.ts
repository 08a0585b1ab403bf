import assert from "node:assert/strict"
import { test } from "node:test"
import { told } from "../../src/cli/plain/told.ts"
import type { Fact, Hint } from "../../src/core/event.ts"
import { Log, nowhere } from "../../src/core/log.ts"
import { noUsage } from "../../src/core/usage.ts"

const opened = (depth: number, more: object = {}): Fact => ({
  type: "run.opened",
  agent: depth === 0 ? "main" : "explore",
  model: "m",
  depth,
  root: "/",
  system: "",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
  ...(depth > 0 && { label: "look around", origin: { run: "main", call: "1" } }),
  ...more,
})
const spent = { usage: noUsage(), cost: 0, ms: 0 }
const asked: Fact[] = [{ type: "mail.sent", text: "go" }, { type: "mail.read" }]
const listing: (Fact | Hint)[] = [
  {
    type: "turn.ended",
    parts: [{ type: "call", id: "c", name: "ls", input: { path: "src" } }],
    stop: "calls",
    ...spent,
  },
  { type: "call.started", id: "c", name: "ls" },
  { type: "call.ended", id: "c", ok: false, text: "no such folder", ms: 1 },
]
const settled: Fact = { type: "run.settled", outcome: { status: "completed", text: "" }, ms: 1_500 }

/** The lines that come of these events of a child, or of the main run if the first opens it. */
function lines(...events: (Fact | Hint)[]): string[] {
  const log = new Log(
    nowhere,
    () => 0,
    () => {},
  )
  if (events[0]?.type === "run.opened" && events[0].depth > 0) log.emit("main", opened(0))
  const seen: string[] = []
  log.listen((event, view) => {
    const line = told(event, view)
    if (line !== undefined) seen.push(line)
  })
  for (const event of events) log.emit("run", event)
  return seen
}

test("an agent that is waited for has a line at its start and end, and one for each call", () => {
  assert.deepEqual(lines(opened(1), ...asked, ...listing, settled), [
    "  [explore] look around",
    "    ls src",
    "    failed: no such folder",
    "  [explore] look around - done (1 tool, 1.5s)",
  ])
})

test("the calls of agents in the background are not shown", () => {
  assert.deepEqual(lines(opened(1, { behind: true }), { type: "run.queued" }, ...asked, ...listing, settled), [
    "  [explore] look around (background, queued)",
    "  [explore] look around (background)",
    "  [explore] look around - done (1 tool, 1.5s)",
  ])
})

test("one that is sent behind says so; one that hears something at work does not start anew; one that rested does", () => {
  assert.deepEqual(
    lines(opened(1), ...asked, { type: "run.moved", behind: true }, ...listing, ...asked, settled, ...asked),
    [
      "  [explore] look around",
      "  [explore] look around goes on in the background",
      "  [explore] look around - done (1 tool, 1.5s)",
      "  [explore] look around (background)",
    ],
  )
})

test("an end that is not a good one is named, and so is an answer that was kept from before", () => {
  const outcome = { status: "timeout", text: "" } as const
  assert.deepEqual(lines(opened(1), { ...settled, outcome }), ["  [explore] look around - timeout (0 tools, 1.5s)"])
  assert.deepEqual(lines(opened(1), { ...settled, cached: true }), [
    "  [explore] look around - done (cached, 0 tools, 1.5s)",
  ])
})

test("that a provider is asked once more is said of every run", () => {
  const retried: Fact = { type: "run.retried", error: { kind: "overloaded", message: "overloaded" }, wait: 5_000 }
  assert.deepEqual(lines(opened(1), retried), ["    overloaded; asking once more in 5.0s"])
  assert.deepEqual(lines(opened(0), ...asked, retried, settled), ["  overloaded; asking once more in 5.0s"])
})
