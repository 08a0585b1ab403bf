import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { test } from "node:test"
import type { Output } from "../../src/agent/scope.ts"
import type { Fence } from "../../src/core/access.ts"
import type { Sandbox } from "../../src/sandbox/sandbox.ts"
import { bash } from "../../src/tools/bash.ts"
import { needsFence } from "../sandbox/fence.ts"
import { type Desk, desk, useOf } from "./desk.ts"

const shut: Fence = { level: "read-only", network: false }

async function fenced({ root, world }: Desk, command: string, fence: Fence, sandbox?: Sandbox): Promise<Output> {
  const found = sandbox && (async () => ({ ok: true, sandbox, what: "a test's" }) as const)
  const tool = bash({ ...world, env: { PATH: process.env.PATH }, ...(found && { sandbox: found }) })
  return await tool.run(tool.input.parse({ command }), { ...useOf({ root }), fence })
}

test("what keeps the fence itself from starting is told", needsFence, async (t) => {
  const broken: Sandbox = {
    spawn: (command, _, options) =>
      spawn("bwrap", ["--ro-bind", "/", "/", "--ro-bind", "/nowhere", "/tmp", ...command], {
        ...options,
        detached: true,
      }),
  }
  assert.deepEqual(await fenced(await desk(t), "echo ran", shut, broken), {
    ok: false,
    text: "nothing was run: the sandbox did not start (bwrap: Can't find source path /nowhere: No such file or directory)",
  })
})

test(
  "a command that fails in the fence, whatever it says, is not taken for a fence that does",
  needsFence,
  async (t) => {
    const command = "echo 'bwrap: no' >&2; exit 1"
    assert.deepEqual(await fenced(await desk(t), command, shut), {
      ok: false,
      text: "bwrap: no\n\nexit code 1",
      details: { kind: "command", command, exit: 1, signal: null, timedOut: false },
    })
  },
)

test("what rules keep from being read is not read in the fence", needsFence, async (t) => {
  const at = await desk(t)
  await at.put({ ".env": "KEY=1\n", "a.txt": "alpha\n" })
  const { ok, text } = await fenced(at, "cat .e* a.txt", { ...shut, hidden: [".env"] })
  assert.deepEqual([ok, text], [false, "cat: .env: Permission denied\nalpha\n\nexit code 1"])
})

test("nothing runs when nobody can tell what a rule hides", needsFence, async (t) => {
  assert.deepEqual(await fenced(await desk(t), "echo ran", { ...shut, hidden: ["./**"] }), {
    ok: false,
    text:
      "nothing was run: rules keep some files from being read, and the rule read(./**) hides the working folder itself; " +
      "narrow it, or run the command without the fence",
  })
})
