import assert from "node:assert/strict"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { roomOf } from "../../../src/agent/squeeze.ts"
import { main } from "../../../src/agents/main.ts"
import { fillingOf } from "../../../src/cli/slash/context.ts"
import { Log, nowhere } from "../../../src/core/log.ts"
import { noUsage } from "../../../src/core/usage.ts"
import { weightOf } from "../../../src/core/weight.ts"
import { instructions } from "../../../src/instructions.ts"
import { systemPrompt } from "../../../src/prompt.ts"
import { groundOn } from "./grounds.ts"

type Told = { system?: string; tools?: number; input?: number }

/** A main run that was asked something, read a file and answered. */
function talked({ system = "s".repeat(300), tools = 1, input = 0 }: Told = {}) {
  const log = new Log(nowhere, () => 0, assert.ifError)
  const emit = log.emit.bind(log, "m")
  const role = { tools: "*" as const, denied: [] }
  emit({
    type: "run.opened",
    agent: "main",
    model: "own/model",
    depth: 0,
    root: "/w",
    system,
    role,
    limits: { turns: 9 },
  })
  emit({ type: "tools.offered", tools: Array(tools).fill({ name: "read", description: "d".repeat(700), schema: {} }) })
  emit({ type: "mail.sent", text: "u".repeat(564) })
  emit({ type: "mail.read" })
  const turn = { type: "turn.ended", usage: { ...noUsage(), input }, cost: 0, ms: 1 } as const
  const call = { type: "call", id: "c", name: "read", input: {} } as const
  const thought = { type: "reasoning", text: "t".repeat(600), by: "own" } as const
  emit({ ...turn, parts: [thought, call], stop: "calls" })
  emit({ type: "call.started", id: "c", name: "read" })
  emit({ type: "call.ended", id: "c", ok: true, text: "r".repeat(2_964), ms: 1 })
  emit({ ...turn, parts: [{ type: "text", text: "a".repeat(264) }], stop: "end" })
  return { log, run: log.view.get("m")!, emit }
}

test("context shows what fills the window, as a bar of letters and in numbers", async () => {
  const { log } = talked()
  const session = { capacity: () => ({ window: 4_000, maxTokens: 800 }) }
  assert.deepEqual(await groundOn(log.view, { session }).say("/context"), [
    "1.9k of 4.0k tokens (48%) · own/model",
    "STTUUAHHRRRRRRRRR..........---------",
    "S system prompt           100   2%",
    "T tools                   248   6%  1 tool",
    "U said to it              200   5%",
    "A answers                 100   2%",
    "H thoughts                228   6%",
    "C calls                    29  <1%",
    "R results                 998  25%  read 100%",
    ". free                   1.1k  27%",
    "- kept for the answer    1.0k  25%",
  ])
})

test("the project's instructions are told apart from the system prompt, with the files they are from", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "legwork-context-"))
  try {
    await writeFile(join(cwd, "AGENTS.md"), "Use tabs.\n")
    await writeFile(join(cwd, "CLAUDE.md"), "Be brief.\n")
    const { text: rules } = await instructions(cwd)
    const { run } = talked({ system: systemPrompt(main, { depth: 0, context: "fresh", cwd, rules }), tools: 0 })
    const [prompt, rest] = fillingOf(run, { window: 100_000 }).shares
    assert.equal(prompt!.name, "system prompt")
    assert.deepEqual(
      { ...rest, tokens: 0 },
      { letter: "I", name: "instructions", tokens: 0, more: "AGENTS.md, CLAUDE.md" },
    )
  } finally {
    await rm(cwd, { recursive: true })
  }
})

test("notes that stand for what is gone are a part of their own", () => {
  const { run, emit } = talked()
  const summary = "n".repeat(9_000)
  emit({ type: "run.compacted", from: 3, summary, before: 9, after: 3, usage: noUsage(), cost: 0, ms: 1 })
  const heaviest = fillingOf(run, { window: 100_000 })
    .shares.slice(0, -2)
    .sort((a, b) => b.tokens - a.tokens)[0]!
  assert.equal(heaviest.name, "notes on what is gone")
})

test("a window that is full says what will be done about it", () => {
  const { run } = talked()
  const { shares } = fillingOf(run, { window: 1_000 })
  assert.deepEqual(shares.slice(-2), [
    { letter: ".", name: "free", tokens: 0, more: "the conversation is made shorter before the next request" },
    { letter: "-", name: "kept for the answer", tokens: 0 },
  ])
})

test("the parts sum up to what the provider counted, and with what is left to the window", () => {
  const sizes = { input: fc.nat(50_000), tools: fc.nat(5), window: fc.integer({ min: 1_000, max: 200_000 }) }
  fc.assert(
    fc.property(fc.record(sizes), ({ input, tools, window }) => {
      const { run } = talked({ input, tools })
      const { tokens, shares } = fillingOf(run, { window })
      const sum = (of: typeof shares) => Math.round(of.reduce((all, each) => all + each.tokens, 0))
      assert.equal(tokens, weightOf(run).tokens)
      assert.equal(sum(shares.slice(0, -2)), tokens)
      assert.equal(sum(shares), Math.max(tokens, window))
      assert.equal(shares.at(-2)!.tokens, Math.max(0, roomOf({ window }) - tokens))
    }),
  )
})
