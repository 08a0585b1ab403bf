import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Ceiling, type Gate, narrow, type Powers } from "../../src/agent/scope.ts"
import type { Access } from "../../src/core/access.ts"
import type { Role } from "../../src/core/event.ts"
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
const role: fc.Arbitrary<Role> = fc.record(
  {
    tools: fc.oneof(fc.constant("*" as const), fc.subarray([...names, "unknown"])),
    denied: fc.subarray(names),
    readonly: fc.constant(true as const),
    mayStart: fc.subarray(["code", "explore"]),
  },
  { requiredKeys: ["tools", "denied"] },
)
const top: fc.Arbitrary<Ceiling> = fc.record({
  depth: fc.constant(-1),
  tools: fc.subarray(tools),
  gate,
  bounds: fc.record({ depth: fc.nat(4), parallel: fc.integer({ min: 1, max: 9 }) }),
})

test("on the way down nothing is ever added: tools, verdicts, depth", () => {
  fc.assert(
    fc.property(top, fc.array(role, { minLength: 1, maxLength: 6 }), (ceiling, chain) => {
      let above = ceiling
      let readonly = false
      for (const each of chain) {
        const powers: Powers = narrow(above, each)
        readonly ||= each.readonly === true
        assert.equal(powers.ceiling.depth, above.depth + 1)
        assert.deepEqual(powers.ceiling.bounds, above.bounds)
        for (const tool of powers.tools) {
          assert.ok(above.tools.includes(tool))
          assert.ok(each.tools === "*" || each.tools.includes(tool.name))
          assert.ok(!each.denied.includes(tool.name))
          if (tool.spawns) assert.ok(powers.ceiling.depth < above.bounds.depth)
        }
        for (const access of accesses) {
          const verdict = powers.gate(access).do
          assert.ok(strictness[verdict] >= strictness[above.gate(access).do])
          assert.ok(strictness[verdict] >= strictness[powers.ceiling.gate(access).do])
          assert.ok(strictness[powers.ceiling.gate(access).do] >= strictness[above.gate(access).do])
          if (readonly && (access.kind === "write" || access.kind === "run")) assert.equal(verdict, "deny")
        }
        above = powers.ceiling
      }
    }),
  )
})

const open: Ceiling = { depth: -1, tools, gate: () => ({ do: "allow" }), bounds: { depth: 2, parallel: 1 } }

test("a role keeps the order of the tools, and lists, wildcards and denials mean what they say", () => {
  const left = (role: Partial<Role>) => narrow(open, { tools: "*", denied: [], ...role }).tools.map(({ name }) => name)
  assert.deepEqual(left({}), names)
  assert.deepEqual(left({ tools: ["change", "look", "change"] }), ["look", "change"])
  assert.deepEqual(left({ denied: ["look"] }), names.slice(1))
  assert.deepEqual(left({ tools: ["look", "change"], denied: ["look"] }), ["change"])
  assert.deepEqual(left({ tools: [] }), [])
  assert.deepEqual(left({ tools: ["unknown"] }), [])
})

test("one that may only delegate can start one that may do everything; one that is read-only cannot", () => {
  const lead = narrow(open, { tools: ["task"], denied: [] })
  assert.deepEqual(
    lead.tools.map(({ name }) => name),
    ["task"],
  )
  const coder = narrow(lead.ceiling, { tools: "*", denied: ["task"] })
  assert.deepEqual([...coder.tools.map(({ name }) => name), "task"], names)
  assert.deepEqual(coder.gate({ kind: "run", command: "ls" }), { do: "allow" })
  const reader = narrow(open, { tools: "*", denied: [], readonly: true })
  const child = narrow(reader.ceiling, { tools: "*", denied: [] })
  assert.deepEqual(child.gate({ kind: "run", command: "ls" }), { do: "deny", why: "this agent is read-only" })
})
