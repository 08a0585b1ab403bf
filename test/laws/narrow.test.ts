import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Agent, type Ceiling, type Gate, narrow, type Powers } from "../../src/agent/scope.ts"
import type { Access } from "../../src/core/access.ts"
import { toolsOf } from "../agent/world.ts"

const tools = toolsOf([])
const names = tools.map(({ name }) => name)
const accesses: Access[] = [
  { kind: "none" },
  { kind: "read", path: "/w/a", inside: true },
  { kind: "write", path: "/w/a", inside: true, guarded: false },
  { kind: "run", command: "ls" },
  { kind: "fetch", url: "http://x" },
  { kind: "agent", name: "code" },
]
const strictness = { allow: 0, ask: 1, deny: 2 }
const gate: fc.Arbitrary<Gate> = fc
  .array(fc.constantFrom("allow", "ask", "deny"), { minLength: accesses.length, maxLength: accesses.length })
  .map((verdicts) => (access) => {
    const verdict = verdicts[accesses.findIndex(({ kind }) => kind === access.kind)]!
    return verdict === "deny" ? { do: "deny", why: "" } : { do: verdict as "allow" | "ask" }
  })
const agent: fc.Arbitrary<Agent> = fc.record({
  name: fc.constant("a"),
  description: fc.constant(""),
  prompt: fc.constant(""),
  tools: fc.oneof(fc.constant("*" as const), fc.subarray([...names, "unknown"])),
  denied: fc.subarray(names),
  turns: fc.integer({ min: 1, max: 50 }),
  gate,
})
const top: fc.Arbitrary<Ceiling> = fc.record({
  depth: fc.constant(-1),
  tools: fc.subarray(tools),
  gate,
  limits: fc.record({
    turns: fc.integer({ min: 1, max: 50 }),
    depth: fc.nat(4),
    parallel: fc.integer({ min: 1, max: 9 }),
  }),
})

test("on the way down nothing is ever added: tools, verdicts, turns, depth", () => {
  fc.assert(
    fc.property(top, fc.array(agent, { minLength: 1, maxLength: 6 }), (ceiling, chain) => {
      let above = ceiling
      for (const each of chain) {
        const powers: Powers = narrow(above, each)
        assert.equal(powers.ceiling.depth, above.depth + 1)
        assert.ok(powers.ceiling.limits.turns <= Math.min(above.limits.turns, each.turns!))
        assert.ok(powers.ceiling.limits.depth <= above.limits.depth)
        assert.ok(powers.ceiling.limits.parallel <= above.limits.parallel)
        for (const tool of powers.tools) {
          assert.ok(above.tools.includes(tool))
          assert.ok(each.tools === "*" || each.tools.includes(tool.name))
          assert.ok(!each.denied.includes(tool.name))
          if (tool.spawns) assert.ok(powers.ceiling.depth < above.limits.depth)
        }
        for (const access of accesses) {
          const now = strictness[powers.gate(access).do]
          assert.ok(now >= strictness[above.gate(access).do] && now >= strictness[each.gate!(access).do])
          assert.ok(strictness[powers.ceiling.gate(access).do] >= strictness[above.gate(access).do])
        }
        above = powers.ceiling
      }
    }),
  )
})

test("a role keeps the order of the tools, and lists and wildcards mean what they say", () => {
  const ceiling: Ceiling = {
    depth: -1,
    tools,
    gate: () => ({ do: "allow" }),
    limits: { turns: 9, depth: 1, parallel: 1 },
  }
  const role = (more: Partial<Agent>) =>
    narrow(ceiling, { name: "a", description: "", prompt: "", tools: "*", denied: [], ...more }).tools.map(
      ({ name }) => name,
    )
  assert.deepEqual(role({}), names)
  assert.deepEqual(role({ tools: ["change", "look", "change"] }), ["look", "change"])
  assert.deepEqual(role({ denied: ["look"] }), names.slice(1))
  assert.deepEqual(role({ tools: ["look", "change"], denied: ["look"] }), ["change"])
  assert.deepEqual(role({ tools: [] }), [])
  assert.deepEqual(role({ tools: ["unknown"] }), [])
})

test("one that may only delegate can start one that may do everything", () => {
  const ceiling: Ceiling = {
    depth: -1,
    tools,
    gate: () => ({ do: "allow" }),
    limits: { turns: 9, depth: 2, parallel: 1 },
  }
  const lead = narrow(ceiling, { name: "lead", description: "", prompt: "", tools: ["task"], denied: [] })
  assert.deepEqual(
    lead.tools.map(({ name }) => name),
    ["task"],
  )
  const coder = narrow(lead.ceiling, { name: "code", description: "", prompt: "", tools: "*", denied: [] })
  assert.deepEqual(
    coder.tools.map(({ name }) => name),
    names,
  )
})
