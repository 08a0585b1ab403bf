import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Asked, type Ceiling, type Gate, narrow, type Powers, type Verdict } from "../../src/agent/scope.ts"
import type { Access, Fence } from "../../src/core/access.ts"
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
const fence: fc.Arbitrary<Fence> = fc.record({
  level: fc.constantFrom("read-only", "workspace-write"),
  network: fc.boolean(),
})
const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ do: fc.constant("allow" as const), fence }, { requiredKeys: ["do"] }),
  fc.constant({ do: "ask" } as const),
  fc.constant({ do: "deny", why: "" } as const),
)
const gate: fc.Arbitrary<Gate> = fc.array(verdict, { minLength: accesses.length, maxLength: accesses.length }).map(
  (verdicts) =>
    ({ access }) =>
      verdicts[accesses.findIndex(({ kind }) => kind === access.kind)]!,
)

/** A role and what its own rules and mode say. */
type Case = { role: Role; own: Gate | undefined }
const role: fc.Arbitrary<Case> = fc.record({
  role: fc.record(
    {
      tools: fc.oneof(fc.constant("*" as const), fc.subarray([...names, "unknown"])),
      denied: fc.subarray(names),
      readonly: fc.constant(true as const),
      mayStart: fc.subarray(["code", "explore"]),
      fence,
    },
    { requiredKeys: ["tools", "denied"] },
  ),
  own: fc.option(gate, { nil: undefined }),
})
const top: fc.Arbitrary<Ceiling> = fc.record(
  {
    depth: fc.constant(-1),
    tools: fc.subarray(tools),
    gate,
    bounds: fc.record({ depth: fc.nat(4), parallel: fc.integer({ min: 1, max: 9 }) }),
    fence,
  },
  { requiredKeys: ["depth", "tools", "gate", "bounds"] },
)

const strictness = { allow: 0, ask: 1, deny: 2 }
const levels = { "read-only": 0, "workspace-write": 1 }

/** Whether whatever the first lets happen, the second does too. */
function isWithin(inner: Fence | undefined, outer: Fence | undefined): boolean {
  if (!outer) return true
  return inner !== undefined && levels[inner.level] <= levels[outer.level] && (outer.network || !inner.network)
}

const isNoLooser = (a: Verdict, b: Verdict): boolean =>
  a.do === "allow" && b.do === "allow" ? isWithin(a.fence, b.fence) : strictness[a.do] >= strictness[b.do]

test("on the way down nothing is ever added: tools, verdicts, fences, depth", async () => {
  await fc.assert(
    fc.asyncProperty(top, fc.array(role, { minLength: 1, maxLength: 6 }), async (ceiling, chain) => {
      let above = ceiling
      let readonly = false
      for (const { role, own } of chain) {
        const powers: Powers = narrow({ ...above, own: () => own }, role)
        readonly ||= role.readonly === true
        assert.equal(powers.ceiling.depth, above.depth + 1)
        assert.deepEqual(powers.ceiling.bounds, above.bounds)
        assert.ok(isWithin(powers.fence, above.fence) && isWithin(powers.fence, role.fence))
        assert.deepEqual(powers.ceiling.fence, powers.fence)
        if (readonly) assert.deepEqual(powers.fence, { level: "read-only", network: false })
        for (const tool of powers.tools) {
          assert.ok(above.tools.includes(tool))
          assert.ok(role.tools === "*" || role.tools.includes(tool.name))
          assert.ok(!role.denied.includes(tool.name))
          if (tool.spawns) assert.ok(powers.ceiling.depth < above.bounds.depth)
        }
        for (const access of accesses) {
          const asked: Asked = { tool: "x", access, ...(powers.fence && { fence: powers.fence }) }
          const here = await powers.gate(asked)
          const below = await powers.ceiling.gate(asked)
          assert.ok(isNoLooser(here, below))
          assert.ok(isNoLooser(below, await above.gate(asked)))
          if (own) assert.ok(isNoLooser(here, await own(asked)))
          if (readonly && access.kind === "write") assert.equal(here.do, "deny")
          if (readonly && access.kind === "run") assert.equal((await powers.gate({ tool: "x", access })).do, "deny")
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

const ls: Asked = { tool: "bash", access: { kind: "run", command: "ls" } }

test("one that may only delegate can start one that may do everything; one that is read-only cannot", async () => {
  const lead = narrow(open, { tools: ["task"], denied: [] })
  assert.deepEqual(
    lead.tools.map(({ name }) => name),
    ["task"],
  )
  const coder = narrow(lead.ceiling, { tools: "*", denied: ["task"] })
  assert.deepEqual([...coder.tools.map(({ name }) => name), "task"], names)
  assert.deepEqual([await coder.gate(ls), coder.fence], [{ do: "allow" }, undefined])
  const reader = narrow(open, { tools: "*", denied: [], readonly: true })
  const child = narrow(reader.ceiling, { tools: "*", denied: [] })
  assert.deepEqual(await child.gate(ls), { do: "deny", why: "this agent is read-only" })
  const fence: Fence = { level: "read-only", network: false }
  assert.deepEqual([child.fence, await child.gate({ ...ls, fence })], [fence, { do: "allow" }])
})
