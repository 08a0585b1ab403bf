import assert from "node:assert/strict"
import { test } from "node:test"
import { visibleWidth } from "@earendil-works/pi-tui"
import fc from "fast-check"
import { Panel, type PanelOptions } from "../../src/cli/tui/panel.ts"
import { rowsOf } from "../../src/cli/tui/panel-rows.ts"
import { Roster } from "../../src/cli/tui/roster.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"
import type { Event, Fact, Hint, Outcome } from "../../src/core/event.ts"
import type { Part } from "../../src/core/message.ts"
import { isOver, progressOf } from "../../src/core/progress.ts"
import { apply, type View } from "../../src/core/view.ts"
import { scripted } from "../../src/testing/model.ts"
import { world } from "../agent/world.ts"
import { answer, behind, tree } from "../laws/generate.ts"

type Told = Fact | Hint
type Opened = Extract<Fact, { type: "run.opened" }>

const opened = (more: Partial<Opened>): Told => ({
  type: "run.opened",
  agent: "explore",
  model: "big",
  depth: 0,
  root: "/w",
  system: "",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
  ...more,
})
const spent = { usage: { input: 1_200, output: 34, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, cost: 0.02 }
const call = (id: string, command: string): Part => ({ type: "call", id, name: "bash", input: { command } })
const said = (...parts: Part[]): Told => ({ type: "turn.ended", parts, stop: "end", ms: 1, ...spent })
const started = (id: string): Told => ({ type: "call.started", id, name: "bash" })
const ended = (id: string, ok = true): Told => ({ type: "call.ended", id, ok, text: "", ms: 1 })
const asks = (id: string): Told => ({ type: "gate.asked", call: id, access: { kind: "none" } })
const text: Told = { type: "turn.delta", kind: "text", text: "It" }
const queued: Told = { type: "run.queued" }
const settled = (status: Outcome["status"] = "completed"): Told => ({
  type: "run.settled",
  outcome: status === "failed" ? { status, text: "", error: { kind: "refused", message: "no" } } : { status, text: "" },
  ms: 2_000,
})
const failing = (kind: "overloaded" | "rate_limit", message: string): Told => ({
  type: "turn.failed",
  error: { kind, message },
  wait: 9,
  ...spent,
})

/** A main run, its panel, and a clock that stands still unless it is moved. */
function stage(options: Partial<PanelOptions> = {}) {
  const view: View = new Map()
  let [clock, seq] = [0, 0]
  const panel = new Panel({
    view,
    main: "main",
    theme: themeOf({ colors: false, dark: true }),
    now: () => clock,
    rows: () => 24,
    ...options,
  })
  const tell = (run: string, ...told: Told[]) => {
    for (const each of told) {
      const event: Event = { ...each, run, seq: ++seq, at: clock }
      apply(view, event)
      panel.event(event)
    }
  }
  /** A child that was asked something. */
  const child = (id: string, parent = "main", more: Partial<Opened> = {}) => {
    const depth = view.get(parent)!.depth + 1
    tell(id, opened({ depth, origin: { run: parent, call: id }, label: `task ${id}`, ...more }))
    tell(id, { type: "mail.sent", text: "go" }, { type: "mail.read" })
  }
  tell("main", opened({ agent: "main" }), { type: "mail.sent", text: "go" }, { type: "mail.read" })
  return { view, panel, tell, child, pass: (ms: number) => (clock += ms) }
}

test("there is no line as long as no child has worked", () => {
  const { panel, tell } = stage()
  assert.deepEqual(panel.render(80), [])
  tell("a", opened({ depth: 1, origin: { run: "main", call: "1" } }))
  assert.deepEqual(panel.render(80), [])
})

test("each agent that works or waits has a row with its state in a word, its numbers and what it is at", () => {
  const { panel, tell, child, pass } = stage()
  for (const id of ["a", "b", "c", "d", "e", "f", "g"]) child(id)
  child("h", "main", { agent: "code", model: "small", behind: true })
  tell("b", text)
  tell("c", said(call("1", "npm test")), started("1"))
  tell("d", said(call("1", "rm -r build")), asks("1"))
  tell("e", failing("overloaded", "too busy"))
  tell("f", failing("rate_limit", "slower"))
  tell("g", { type: "run.compacting", text: "so" })
  tell("h", { type: "run.stopped", status: "cancelled", why: "no more" })
  pass(5_000)
  assert.deepEqual(panel.render(100), [
    "  ∴ thinking  explore task a · 0 tools · 0 tokens · $0.00 · 5s",
    "  ✎ answering explore task b · 0 tools · 0 tokens · $0.00 · 5s",
    "  ▸ tool      explore task c · 0 tools · 1.2k tokens · $0.02 · 5s · bash npm test",
    "  ? asking    explore task d · 0 tools · 1.2k tokens · $0.02 · 5s · bash rm -r build",
    "  ↻ retrying  explore task e · 0 tools · 1.2k tokens · $0.02 · 5s · too busy",
    "  ‖ rate-limited explore task f · 0 tools · 1.2k tokens · $0.02 · 5s · slower",
    "  ▾ compacting explore task g · 0 tools · 0 tokens · $0.00 · 5s",
    "  □ stopping  code task h (behind) · small · 0 tools · 0 tokens · $0.00 · 5s · no more",
  ])
})

test("silence is told of once it is long, and one that is stuck is called so", () => {
  const { panel, child, pass } = stage()
  child("a")
  pass(10_000)
  assert.deepEqual(panel.render(80), ["  ∴ thinking  explore task a · 0 tools · 0 tokens · $0.00 · 10s"])
  pass(1_000)
  assert.deepEqual(panel.render(80), ["  ∴ thinking  explore task a · 0 tools · 0 tokens · $0.00 · 11s · idle 11s"])
  pass(3_700_000)
  assert.deepEqual(panel.render(90), ["  ! stuck     explore task a · 0 tools · 0 tokens · $0.00 · 1h 1m · idle 1h 1m"])
})

test("children stand below their parents at any depth in the order of opening, and parents count their family too", () => {
  const { panel, tell, child } = stage()
  child("a")
  child("b")
  child("a1", "a")
  child("b1", "b")
  child("a2", "a")
  child("a1x", "a1")
  tell("a", said(call("1", "ls")), started("1"), ended("1"))
  tell("a1x", said(call("1", "ls")), started("1"), ended("1"))
  assert.deepEqual(
    panel.render(90).filter((line) => !line.includes("✓")),
    [
      "  ∴ thinking  explore task a · 1 (2) tools · 1.2k (2.5k) tokens · $0.02 ($0.04) · 0s",
      "    ∴ thinking  explore task a1 · 0 (1) tools · 0 (1.2k) tokens · $0.00 ($0.02) · 0s",
      "      ∴ thinking  explore task a1x · 1 tool · 1.2k tokens · $0.02 · 0s",
      "    ∴ thinking  explore task a2 · 0 tools · 0 tokens · $0.00 · 0s",
      "  ∴ thinking  explore task b · 0 (0) tools · 0 (0) tokens · $0.00 ($0.00) · 0s",
      "    ∴ thinking  explore task b1 · 0 tools · 0 tokens · $0.00 · 0s",
    ],
  )
})

test("the last two calls beside the one at hand roll by below a row, with what became of them", () => {
  const { panel, tell, child } = stage()
  child("a")
  tell("a", said(call("1", "one")), started("1"), ended("1"))
  tell("a", said(call("2", "two"), call("3", "three")), started("2"), started("3"), ended("2", false))
  const row = "  ▸ tool      explore task a · 2 tools · 2.5k tokens · $0.04 · 0s · bash three"
  assert.deepEqual(panel.render(80), [row, "    ✓ bash one", "    ✗ bash two"])
  tell("a", ended("3"))
  assert.deepEqual(panel.render(80), [
    "  ∴ thinking  explore task a · 3 tools · 2.5k tokens · $0.04 · 0s",
    "    ✗ bash two",
    "    ✓ bash three",
  ])
  tell("a", said(call("4", "four"), call("5", "five"), call("6", "six"), call("7", "seven")))
  tell("a", started("4"), started("5"))
  assert.deepEqual(panel.render(80), [
    "  ▸ tool      explore task a · 3 tools · 3.7k tokens · $0.06 · 0s · bash four",
    "    ✓ bash three",
    "    ▸ bash five",
  ])
  tell("a", started("6"), ended("5"))
  assert.deepEqual(panel.render(80).slice(1), ["    ✓ bash five", "    ▸ bash six"])
  tell("a", started("7"))
  assert.deepEqual(panel.render(80).slice(1), ["    ▸ bash six", "    ▸ bash seven"])
})

test("a call that is made again is told apart from the one before, and work from before the last rest is left out", () => {
  const { panel, tell, child } = stage()
  child("a")
  tell("a", said(call("1", "old")), started("1"), ended("1"), settled())
  tell("a", { type: "mail.sent", text: "again" }, { type: "mail.read" })
  tell("a", said(call("2", "ls"), call("3", "ls")), started("2"), ended("2"), started("3"))
  const row = "  ▸ tool      explore task a · 2 tools · 2.5k tokens · $0.04 · 0s · bash ls"
  assert.deepEqual(panel.render(80), [row, "    ✓ bash ls"])
})

test("calls are left out where there is no room for them: one each, then none", () => {
  let most = 6
  const { panel, tell, child } = stage({ rows: () => most })
  for (const id of ["a", "b"]) {
    child(id)
    for (const n of ["1", "2"]) tell(id, said(call(n, n)), started(n), ended(n))
  }
  const calls = () =>
    panel
      .render(80)
      .map((line) => line.trim())
      .filter((line) => line.startsWith("✓"))
  assert.deepEqual(calls(), ["✓ bash 1", "✓ bash 2", "✓ bash 1", "✓ bash 2"])
  most = 5
  assert.deepEqual(calls(), ["✓ bash 2", "✓ bash 2"])
  most = 3
  assert.deepEqual(calls(), [])
})

test("those that wait for a place and those that have ended are only counted", () => {
  const { panel, tell, child } = stage()
  for (const id of ["a", "b", "c", "d", "e", "f", "g"]) child(id)
  tell("a", settled())
  tell("b", settled("failed"))
  tell("c", settled("cancelled"))
  tell("d", settled("timeout"))
  tell("e", queued)
  tell("f", settled())
  const row = "  ∴ thinking  explore task g · 0 tools · 0 tokens · $0.00 · 0s"
  assert.deepEqual(panel.render(80), [row, "  1 queued · 2 done · 1 failed · 1 stopped · 1 limited"])
  tell("f", { type: "mail.sent", text: "more" }, { type: "mail.read" })
  tell("g", settled())
  assert.deepEqual(panel.render(80), [
    "  ∴ thinking  explore task f · 0 tools · 0 tokens · $0.00 · 0s",
    "  1 queued · 2 done · 1 failed · 1 stopped · 1 limited",
  ])
})

test("one that has answered but waits for agents behind it keeps its row; one that failed does not", () => {
  const { panel, tell, child } = stage()
  for (const id of ["a", "b"]) {
    child(id)
    child(`${id}1`, id, { behind: true })
  }
  tell("a", settled())
  tell("b", settled("failed"))
  assert.deepEqual(panel.render(100), [
    "  … waiting   explore task a · 0 (0) tools · 0 (0) tokens · $0.00 ($0.00) · 2s · for 1 agent",
    "    ∴ thinking  explore task a1 (behind) · 0 tools · 0 tokens · $0.00 · 0s",
    "  ∴ thinking  explore task b1 (behind) · 0 tools · 0 tokens · $0.00 · 0s",
    "  1 failed",
  ])
})

const names = (lines: string[]): string[] => lines.map((line) => line.match(/task \w+/)?.[0] ?? line.trim())

test("of too many rows, the chosen one, questions and stuck ones stay, then whoever was active last", () => {
  let most = 6
  const { panel, tell, child, pass } = stage({ rows: () => most })
  for (const id of ["a", "b"]) child(id)
  pass(100_000)
  for (const id of ["c", "d", "e", "f", "g"]) child(id)
  tell("f", said(call("1", "ls")), asks("1"))
  tell("a", settled())
  tell("e", settled())
  pass(15_000)
  tell("d", text)
  tell("g", text)
  assert.deepEqual(names(panel.render(60)), ["task b", "task c", "task d", "task f", "task g", "2 done"])
  most = 4
  assert.deepEqual(names(panel.render(60)), ["task d", "task f", "task g", "+2 more · 2 done"])
  panel.choose("c")
  assert.deepEqual(names(panel.render(60)), ["task c", "task d", "task f", "+2 more · 2 done"])
  pass(6_000)
  assert.deepEqual(names(panel.render(60)), ["task b", "task c", "task f", "+2 more · 2 done"])
  most = 1
  assert.deepEqual(names(panel.render(60)), ["+5 more · 2 done"])
  most = 0
  assert.deepEqual(panel.render(60), [])
})

test("it keeps its height while anybody is at work, so that the input stays in its place", () => {
  const { panel, tell, child } = stage()
  for (const id of ["a", "b", "c"]) child(id)
  const heights = [panel.render(80).length]
  for (const id of ["a", "b", "c"]) {
    tell(id, settled("completed"))
    heights.push(panel.render(80).length)
  }
  assert.deepEqual(heights, [3, 3, 3, 1])
  child("d")
  assert.equal(panel.render(80).length, 2)
})

test("rows on show do not change with every word that comes", () => {
  const { panel, tell, child, pass } = stage({ rows: () => 2 })
  child("a")
  child("b")
  child("c")
  pass(9_000)
  tell("c", text)
  assert.deepEqual(names(panel.render(60)), ["task a", "+2 more"])
  pass(1_000)
  assert.deepEqual(names(panel.render(60)), ["task c", "+2 more"])
})

test("a row whose parent has no room is not put below another", () => {
  const { panel, tell, child } = stage({ rows: () => 3 })
  child("a")
  child("b")
  child("b1", "b")
  child("c")
  tell("c", settled())
  tell("b1", said(call("1", "ls")), asks("1"))
  assert.deepEqual(panel.render(60), [
    "  ∴ thinking  explore task a · 0 tools · 0 tokens · 0s",
    "  ? asking    explore task b1 · 0 tools · 0s · bash ls",
    "  +1 more · 1 done",
  ])
})

test("moving goes over the rows on show and the main run, round and round", () => {
  const { panel, child } = stage()
  child("a")
  child("b")
  child("a1", "a")
  const along = (by: 1 | -1) =>
    [1, 2, 3, 4].map(() => {
      panel.move(by)
      return panel.chosen
    })
  assert.deepEqual(along(1), ["a", "a1", "b", undefined])
  assert.deepEqual(along(-1), ["b", "a1", "a", undefined])
  panel.choose("a1")
  assert.deepEqual(
    panel.render(40).map((line) => line.slice(0, 2)),
    ["  ", "> ", "  "],
  )
  panel.choose("main")
  assert.equal(panel.chosen, undefined)
  panel.choose("nobody")
  panel.move(1)
  assert.equal(panel.chosen, "a")
})

test("the chosen run keeps its row when it ends or is queued, until another is chosen", () => {
  const { panel, tell, child } = stage()
  for (const id of ["a", "b", "c"]) child(id)
  tell("c", settled())
  tell("a", queued)
  panel.choose("b")
  tell("b", settled("failed"))
  assert.deepEqual(panel.render(80), [
    "> ✗ failed    explore task b · 0 tools · 0 tokens · $0.00 · 2s · no",
    "  1 queued · 1 done",
  ])
  panel.choose("a")
  assert.deepEqual(panel.render(80), [
    "> ◌ queued    explore task a · 0 tools · 0 tokens · $0.00 · 0s",
    "  1 done · 1 failed",
  ])
  panel.move(1)
  assert.deepEqual([panel.chosen, panel.render(80)], [undefined, ["  1 queued · 1 done · 1 failed"]])
})

test("a narrow screen does without idle time, cost, tokens, calls, model and the rest, in this order", () => {
  const { panel, tell, child, pass } = stage()
  child("a", "main", { behind: true, model: "small", label: "find what is slow here" })
  tell("a", said(call("1", "ls")), started("1"), ended("1"))
  tell("a", said(call("2", "npm test")), started("2"))
  pass(12_000)
  const head = "explore find what is slow here (behind)"
  const calls = ["    ✓ bash ls"]
  const at = (width: number) => panel.render(width)
  const tool = `  ▸ tool      ${head}`
  assert.deepEqual(at(130), [
    `${tool} · small · 1 tool · 2.5k tokens · $0.04 · 12s · idle 12s · bash npm test`,
    ...calls,
  ])
  assert.deepEqual(at(118), [`${tool} · small · 1 tool · 2.5k tokens · $0.04 · 12s · bash npm test`, ...calls])
  assert.deepEqual(at(108), [`${tool} · small · 1 tool · 2.5k tokens · 12s · bash npm test`, ...calls])
  assert.deepEqual(at(95), [`${tool} · small · 1 tool · 12s · bash npm test`, ...calls])
  assert.deepEqual(at(84), [`${tool} · 1 tool · 12s · bash npm test`, ...calls])
  assert.deepEqual(at(70), ["  ▸ tool      explore find what is slo… (behind) · 12s · bash npm test", ...calls])
  assert.deepEqual(at(55), [`  ▸ tool ${head} · 12s`])
  assert.deepEqual(at(40), ["  ▸ tool explore find what is … (behind)"])
  assert.deepEqual(at(24), ["  ▸ tool explore find w…"])
})

test("deep agents with long names leave room for what they are about", () => {
  const { panel, child } = stage()
  child("1")
  for (let depth = 2; depth < 6; depth++) child(`${depth}`, `${depth - 1}`, { agent: "reviewer-of-everything" })
  assert.deepEqual(panel.render(40), [
    "  ∴ thinking explore task 1 · 0s",
    "    ∴ thinking reviewer-… task 2 · 0s",
    "      ∴ thinking reviewer-… task 3 · 0s",
    "       ∴ thinking reviewer-… task 4 · 0s",
    "       ∴ thinking reviewer-… task 5 · 0s",
  ])
})

test("a cost that is unknown is called so, once where the family's must be too", () => {
  const { panel, tell, child } = stage()
  for (const id of ["a", "b"]) {
    child(id)
    child(`${id}1`, id)
  }
  tell("a", { ...failing("overloaded", "busy"), cost: null } as Told)
  tell("b1", { ...failing("overloaded", "\u001b[31mbu\nsy"), cost: null } as Told)
  assert.deepEqual(panel.render(120), [
    "  ↻ retrying  explore task a · 0 (0) tools · 1.2k (1.2k) tokens · cost unknown · 0s · busy",
    "    ∴ thinking  explore task a1 · 0 tools · 0 tokens · $0.00 · 0s",
    "  ∴ thinking  explore task b · 0 (0) tools · 0 (1.2k) tokens · $0.00 (cost unknown) · 0s",
    "    ↻ retrying  explore task b1 · 0 tools · 1.2k tokens · cost unknown · 0s · bu sy",
  ])
})

test("wide letters are cut by columns, and nothing in a name can steer the terminal", () => {
  const { panel, child } = stage()
  child("a", "main", { label: "查找所有的认证文件然后修复它们" })
  child("b", "main", {
    label: "\u001b[31mred\u001b[2J\nand 🚀 more",
    agent: "ex\u0007plore",
    model: "m\u001b]0;x\u0007",
  })
  assert.deepEqual(panel.render(40), [
    "  ∴ thinking explore 查找所有的认… · 0s",
    "  ∴ thinking explore red and 🚀 mo… · 0s",
  ])
  assert.equal(panel.render(90)[1], "  ∴ thinking  explore red and 🚀 more · m · 0 tools · 0 tokens · $0.00 · 0s")
})

test("colours are added to words and never in their place", () => {
  const plain = stage()
  const colored = stage({
    theme: themeOf({ colors: true, dark: true }),
    colors: (agent) => (agent === "explore" ? "red" : undefined),
  })
  for (const { child, panel, tell } of [plain, colored]) {
    child("a")
    tell("a", said(call("1", "ls")), started("1"), ended("1"))
    panel.choose("a")
  }
  const lines = colored.panel.render(80)
  assert.deepEqual(lines, [
    "\u001b[38;5;80m>\u001b[39m \u001b[38;5;80m∴ thinking \u001b[39m \u001b[38;5;203mexplore\u001b[39m " +
      "\u001b[1mtask a\u001b[22m\u001b[2m · 1 tool\u001b[22m\u001b[2m · 1.2k tokens\u001b[22m" +
      "\u001b[2m · $0.02\u001b[22m\u001b[2m · 0s\u001b[22m",
    "    \u001b[38;5;114m✓\u001b[39m\u001b[2m bash ls\u001b[22m",
  ])
  const bare = lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ""))
  assert.deepEqual(bare, plain.panel.render(80))
})

test("models are called as people call them", () => {
  const { panel, child } = stage({ models: (id) => `the ${id} one` })
  child("a", "main", { model: "small" })
  child("b")
  assert.deepEqual(panel.render(80), [
    "  ∴ thinking  explore task a · the small one · 0 tools · 0 tokens · $0.00 · 0s",
    "  ∴ thinking  explore task b · 0 tools · 0 tokens · $0.00 · 0s",
  ])
})

test("a child that ended with its parent in a crash is not shown as if it worked", () => {
  const { view, tell, child } = stage()
  child("a")
  child("b", "main", { behind: true })
  tell("main", settled())
  const again = stage({ view }).panel
  assert.deepEqual(names(again.render(60)), ["task b"])
})

test("at every moment of every session the panel shows what the whole view would say, within its bounds", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(tree, behind),
      fc.nat(12),
      fc.integer({ min: 1, max: 90 }),
      async (turns, most, width) => {
        const each = world(scripted(({ messages }) => answer(turns, messages)))
        const main = each.open()
        await each.runtime.prompt(main, { text: "go" })
        await each.runtime.idle()
        const view: View = new Map()
        const theme = themeOf({ colors: false, dark: true })
        const panel = new Panel({ view, main, theme, now: () => 50_000, rows: () => most })
        const roster = new Roster(view, main)
        for (const event of each.events) {
          apply(view, event)
          panel.event(event)
          roster.event(event)
          const lines = panel.render(width)
          assert.ok(lines.length <= most && lines.every((line) => visibleWidth(line) <= width), lines.join("\n"))
          const shown = rowsOf({ view, main, roster, chosen: undefined, now: 50_000 }).map(({ progress }) => progress)
          const all = [...view.values()].filter(({ id }) => id !== main).map((run) => progressOf(view, run, 50_000))
          const working = all.filter((each) => !isOver(each) && each.state !== "queued" && each.state !== "ready")
          const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id)
          assert.deepEqual(shown.sort(byId), working.sort(byId))
        }
      },
    ),
    { numRuns: 40 },
  )
})

test("the runs that have ended cost a frame nothing", () => {
  const { panel, view, tell, child } = stage()
  child("parent")
  for (let n = 0; n < 200; n++) {
    child(`old${n}`, n % 2 === 0 ? "main" : "parent")
    tell(`old${n}`, settled())
  }
  child("a", "parent")
  const looked = new Set<string>()
  const get = view.get.bind(view)
  view.get = (id) => {
    looked.add(id)
    return get(id)
  }
  const every = () => assert.fail("a frame looks at every run")
  view.values = every
  get("parent")!.children.values = every
  assert.deepEqual(names(panel.render(80)), ["task parent", "task a", "200 done"])
  assert.deepEqual([...looked].sort(), ["a", "main", "parent"])
})
