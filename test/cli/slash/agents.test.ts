import assert from "node:assert/strict"
import { test } from "node:test"
import type { Diagnostic as Remark } from "../../../src/agents/definition.ts"
import type { AgentRow } from "../../../src/agents/registry.ts"
import { groundOn } from "./grounds.ts"

const rows: AgentRow[] = [
  { name: "explore", description: "Answers questions.", source: "built-in", model: "small", tools: ["read", "grep"] },
  { name: "审查", description: "Reviews\n\u001b[31mcode.", source: "/w/.legwork/agents/r.md", tools: [], hidden: true },
]
const remarks: Remark[] = [
  { severity: "info", file: "/w/x.md", line: 2, message: "colour unknown" },
  { severity: "error", file: "/w/.legwork/agents/r.md", line: 1, message: "no prompt" },
]
const face = (more: { picks?: (string | undefined)[]; diagnostics?: () => Remark[] } = {}) => {
  const { diagnostics = () => remarks, ...rest } = more
  return groundOn(new Map(), { session: { agents: () => rows, diagnostics }, ...rest })
}

test("agents are listed with where they come from, their model, tools and use, after what is wrong", async () => {
  assert.deepEqual(await face().say("/agents"), [
    "error: /w/.legwork/agents/r.md:1: no prompt",
    "info: /w/x.md:2: colour unknown",
    "explore  built-in · small · 2 tools · Answers questions.",
    "审查     /w/.legwork/agents/r.md · its parent's model · 0 tools · not offered to models · Reviews code.",
    "/agents <name> says more of one",
  ])
})

const explored = [
  "explore",
  "Answers questions.",
  "from        built-in",
  "model       small",
  "tools       read, grep",
  "ask for it  @explore in what you write",
]

test("one that is chosen, or named, is told of in full, with what is wrong with its own file", async () => {
  assert.deepEqual(await face({ picks: ["explore"], diagnostics: () => [] }).say("/agents"), explored)
  assert.deepEqual(await face({ picks: [undefined], diagnostics: () => [] }).say("/agents"), [])
  assert.deepEqual(await face().say("/agents explore"), explored)
  assert.deepEqual(await face().say("/agents 审查"), [
    "审查",
    "Reviews code.",
    "from        /w/.legwork/agents/r.md",
    "model       its parent's model",
    "tools       none",
    "ask for it  @审查 in what you write; models do not start it by themselves",
    "error: /w/.legwork/agents/r.md:1: no prompt",
  ])
})

test("a name that is none is answered with the nearest, or with all", async () => {
  assert.deepEqual(await face().say("/agents explor"), ['there is no agent named "explor"; did you mean explore?'])
  assert.deepEqual(await face().say("/agents zzz"), ['there is no agent named "zzz"; there are explore, 审查'])
})

test("of many remarks the worst are said, and where the others are", async () => {
  const many = Array.from({ length: 7 }, (_, line): Remark => ({ ...remarks[0]!, line }))
  const said = await face({ picks: [undefined], diagnostics: () => [...many, remarks[1]!] }).say("/agents")
  assert.deepEqual(said, [
    "error: /w/.legwork/agents/r.md:1: no prompt",
    ...[0, 1, 2, 3].map((line) => `info: /w/x.md:${line}: colour unknown`),
    "and 3 more remarks: legwork agents doctor has them all",
  ])
})
