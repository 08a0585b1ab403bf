import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Event, Fact, Hint } from "../../src/core/event.ts"
import type { Part } from "../../src/core/message.ts"
import { callLine } from "../../src/core/one-line.ts"
import { isOver, progressOf } from "../../src/core/progress.ts"
import type { Usage } from "../../src/core/usage.ts"
import { apply, type View } from "../../src/core/view.ts"
import { scripted } from "../../src/testing/model.ts"
import { fold, world } from "../agent/world.ts"
import { answer, behind, tree } from "../laws/generate.ts"

type Told = Fact | Hint

const usage: Usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, reasoning: 2 }
const spent = { usage, cost: 0.5 }

const opened = (more: Partial<Extract<Fact, { type: "run.opened" }>> = {}): Told => ({
  type: "run.opened",
  agent: "explore",
  model: "m",
  depth: 0,
  root: "/w",
  system: "",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
  ...more,
})
const child = (run: string, call: string, more: Partial<Extract<Fact, { type: "run.opened" }>> = {}): Told =>
  opened({ depth: 1, origin: { run, call }, ...more })
const mail: Told = { type: "mail.sent", text: "go" }
const read: Told = { type: "mail.read" }
const said = (...parts: Part[]): Told => ({ type: "turn.ended", parts, stop: "end", ms: 1, ...spent })
const text = (text: string): Part => ({ type: "text", text })
const grep: Part = { type: "call", id: "c", name: "grep", input: { pattern: "permit" } }
const look: Part = { type: "call", id: "d", name: "look", input: {} }
const settled = (outcome: Extract<Fact, { type: "run.settled" }>["outcome"]): Told => ({
  type: "run.settled",
  outcome,
  ms: 1_500,
})
const overloaded = { kind: "overloaded", message: "too busy" } as const
const failed = (wait: number | null, error: Extract<Fact, { type: "turn.failed" }>["error"] = overloaded): Told => ({
  type: "turn.failed",
  error,
  wait,
  ...spent,
})
const asking: Told = { type: "gate.asked", call: "c", access: { kind: "none" } }

/** One event a second; each is of the run `r`, unless it says of which. */
const after = (...told: (Told | [string, Told])[]): View =>
  fold(
    told.map((each, n): Event => {
      const [run, event] = Array.isArray(each) ? each : ["r", each]
      return { ...event, run, seq: n + 1, at: (n + 1) * 1_000 }
    }),
  )

const at = (view: View, now: number, run = "r") => progressOf(view, view.get(run)!, now)
const asked = [opened(), mail, read]

test("what a run is about is told in one word, with why and which call where there is one", () => {
  const cases: [...Told[], { state: string; why?: string; tool?: string }][] = [
    [opened(), { state: "ready" }],
    [opened(), mail, { state: "thinking" }],
    [opened(), mail, { type: "run.queued" }, { state: "queued" }],
    [...asked, { state: "thinking" }],
    [...asked, { type: "turn.delta", kind: "reasoning", text: "hm" }, { state: "thinking" }],
    [...asked, { type: "turn.delta", kind: "text", text: "It" }, { state: "answering" }],
    [...asked, said(grep), { state: "tool", tool: "grep permit" }],
    [...asked, said(look, grep), asking, { state: "asking", tool: "grep permit" }],
    [
      ...asked,
      said(look, grep),
      { type: "call.started", id: "c", name: "grep" },
      { state: "tool", tool: "grep permit" },
    ],
    [...asked, failed(200), { state: "retrying", why: "too busy" }],
    [...asked, failed(200, { kind: "rate_limit", message: "slower" }), { state: "rate-limited", why: "slower" }],
    [...asked, failed(null), { state: "thinking" }],
    [
      ...asked,
      failed(null),
      { type: "run.retried", error: overloaded, wait: 9 },
      { state: "retrying", why: "too busy" },
    ],
    [...asked, { type: "run.compacting", text: "so far" }, { state: "compacting" }],
    [...asked, said(text("It is so.")), { state: "answering" }],
    [
      ...asked,
      said(grep),
      { type: "run.stopped", status: "cancelled", why: "no more" },
      { state: "stopping", why: "no more", tool: "grep permit" },
    ],
    [...asked, settled({ status: "completed", text: "" }), { state: "done" }],
    [...asked, settled({ status: "cancelled", text: "" }), { state: "stopped" }],
    [...asked, settled({ status: "failed", text: "", error: overloaded }), { state: "failed", why: "too busy" }],
    [...asked, settled({ status: "max_turns", text: "" }), { state: "limited", why: "its turns are used up" }],
    [...asked, settled({ status: "timeout", text: "" }), { state: "limited", why: "its time is up" }],
    [...asked, settled({ status: "budget", text: "" }), { state: "limited", why: "its budget is used up" }],
    [...asked, settled({ status: "completed", text: "" }), mail, { type: "run.queued" }, { state: "queued" }],
    [...asked, settled({ status: "completed", text: "" }), mail, read, { state: "thinking" }],
  ]
  for (const [n, each] of cases.entries()) {
    const expected = each.at(-1) as { state: string }
    const { state, why, tool } = at(after(...(each.slice(0, -1) as Told[])), 0)
    assert.deepEqual({ state, ...(why && { why }), ...(tool && { tool }) }, expected, `case ${n}`)
  }
})

test("all that there is to see of a run, alone and with those below it", () => {
  const view = after(
    ...asked,
    said(grep),
    ["s", child("r", "c", { label: "find it", model: "small" })],
    ["s", mail],
    ["s", read],
    ["s", said(look)],
    ["s", { type: "call.ended", id: "d", ok: true, text: "", ms: 1 }],
  )
  const numbers = { tools: 1, tokens: 15, cost: 0.5 }
  assert.deepEqual(at(view, 10_000, "s"), {
    ...{ id: "s", agent: "explore", label: "find it", depth: 1, model: "small", state: "thinking" },
    ...numbers,
    elapsedMs: 3_000,
    idleMs: 1_000,
    family: numbers,
  })
  assert.deepEqual(at(view, 10_000), {
    ...{ id: "r", agent: "explore", label: "", depth: 0, model: "m", state: "tool", tool: "grep permit" },
    ...{ tools: 0, tokens: 15, cost: 0.5 },
    elapsedMs: 7_000,
    // Nothing happened to it for six seconds, but to its child.
    idleMs: 1_000,
    family: { tools: 1, tokens: 30, cost: 1 },
  })
})

test("a run whose answer is given waits for those behind it, at rest or not, and for nobody else", () => {
  const behind = { behind: true } as const
  const begun = [...asked, said(text("begun"))]
  const children: [string, Told][] = [
    ["a", child("r", "1", behind)],
    ["b", child("r", "2", behind)],
    ["b", settled({ status: "completed", text: "" })],
    ["c", child("r", "3", { ...behind, announce: { channel: "chat", chatId: "1" } })],
    ["d", child("r", "4")],
  ]
  const seen = (view: View) => {
    const { state, waitingFor } = at(view, 0)
    return { state, waitingFor }
  }
  const completed = settled({ status: "completed", text: "begun" })
  const ended: [string, Told] = ["a", completed]
  assert.deepEqual(seen(after(...begun, ...children)), { state: "waiting", waitingFor: 1 })
  assert.deepEqual(seen(after(...begun, ...children, completed)), { state: "waiting", waitingFor: 1 })
  assert.deepEqual(seen(after(...begun, ...children, completed, ended)), { state: "done", waitingFor: undefined })
  const more: [string, Told][] = [ended, ["b", mail], ["b", { type: "run.queued" }]]
  assert.deepEqual(seen(after(...begun, ...children, completed, ...more)), { state: "waiting", waitingFor: 1 })
  const stopped = settled({ status: "cancelled", text: "" })
  assert.deepEqual(seen(after(...begun, ...children, stopped)), { state: "stopped", waitingFor: undefined })
})

test("silence that lasts too long is called stuck; a command, a person and a queue may take their time", () => {
  const states = (view: View) =>
    [120, 121, 600, 601].map((seconds) => at(view, view.get("r")!.seenAt + seconds * 1_000).state)
  assert.deepEqual(states(after(...asked)), ["thinking", "stuck", "stuck", "stuck"])
  assert.deepEqual(states(after(...asked, said(grep))), ["tool", "tool", "tool", "stuck"])
  assert.deepEqual(states(after(...asked, said(grep), asking)), Array(4).fill("asking"))
  assert.deepEqual(states(after(...asked, { type: "run.queued" })), Array(4).fill("queued"))
  assert.deepEqual(states(after(...asked, settled({ status: "completed", text: "" }))), Array(4).fill("done"))
})

test("only what should go on is idle, and no clock makes a time negative", () => {
  const idle = (view: View, now = 60_000) => at(view, now).idleMs
  assert.deepEqual(
    [
      idle(after(opened())),
      idle(after(...asked)),
      idle(after(...asked), 0),
      idle(after(...asked, said(grep), asking)),
      idle(after(...asked, said(grep), ["s", child("r", "c")], ["s", mail], ["s", { type: "run.queued" }])),
      idle(after(...asked, settled({ status: "completed", text: "" }))),
      at(after(...asked), 0).elapsedMs,
    ],
    [0, 57_000, 0, 0, 0, 0, 0],
  )
})

test("a call is told in one line that fits and steers no terminal", () => {
  assert.equal(callLine({ name: "bash", input: { command: "ls\n\u001b[31m -l \u202e" } }), "bash ls -l")
  assert.equal(callLine({ name: "bash", input: null }), "bash")
  assert.equal(callLine({ name: "x", input: { command: "😀😀😀" } }, 6), "x 😀…")
})

test("there is something to see at every moment of every session", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(tree, behind), fc.integer(), async (turns, now) => {
      const each = world(scripted(({ messages }) => answer(turns, messages)))
      await each.runtime.prompt(each.open(), { text: "go" })
      await each.runtime.idle()
      const view: View = new Map()
      for (const event of each.events) {
        apply(view, event)
        for (const run of view.values()) {
          const { state, elapsedMs, idleMs, family, tools } = progressOf(view, run, now)
          assert.ok(elapsedMs >= 0 && idleMs >= 0 && family.tools >= tools, `${state} after event ${event.seq}`)
        }
      }
      assert.ok([...view.values()].every((run) => isOver(progressOf(view, run, now))))
    }),
    { numRuns: 60 },
  )
})
