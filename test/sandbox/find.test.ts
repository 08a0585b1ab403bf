import assert from "node:assert/strict"
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { obstacle } from "../../src/sandbox/blame.ts"
import { findSandbox, isInstalled } from "../../src/sandbox/sandbox.ts"
import { needsFence } from "./fence.ts"

const linux = { skip: process.platform === "linux" ? false : "needs Linux" }

/** A folder with a program that goes by the name of bubblewrap. */
function folderWith(t: TestContext, script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "legwork-find-"))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(
    join(folder, "bwrap"),
    `#!/bin/bash\nif [ "$1" = --version ]; then echo bubblewrap 0.9.1; exit; fi\n${script}\n`,
  )
  chmodSync(join(folder, "bwrap"), 0o755)
  return folder
}

const found = (folders: string[], more: object = {}) => findSandbox({ env: {}, folders, ...more })()

test("the fence of this machine is found, with its version", needsFence, async () => {
  const fence = await findSandbox({ env: process.env })()
  assert.equal(fence.ok && /^(bubblewrap \d+\.\d+\.\d+|sandbox-exec)$/.test(fence.what), true)
})

test("where bubblewrap is missing, it is said how to get it", linux, async () => {
  assert.deepEqual(await found(["/nowhere"]), {
    ok: false,
    why: "bubblewrap is not installed",
    fix: "install bubblewrap: apt install bubblewrap (or dnf, pacman -S, apk add, zypper in)",
  })
})

test("other systems and processors have none", async () => {
  assert.deepEqual(await found([], { platform: "win32" }), {
    ok: false,
    why: "there is no fence for commands on win32",
    fix: "use Linux or macOS; on Windows, the Linux subsystem",
  })
  assert.deepEqual(await found([], { platform: "linux", arch: "mips" }), {
    ok: false,
    why: "the fence knows no filter for mips processors",
    fix: "use an x64 or arm64 machine",
  })
})

test("whether it is installed is another question than whether it holds", linux, (t) => {
  const broken = folderWith(t, "exit 1")
  const there = (folders: string[], more: object = {}) =>
    isInstalled({ platform: "linux", arch: "x64", folders, ...more })
  assert.deepEqual(
    [there([broken]), there(["/nowhere"]), there([broken], { arch: "mips" }), there([broken], { platform: "win32" })],
    [true, false, false, false],
  )
})

test("a fence that does not start is none, and its own words are told", linux, async (t) => {
  const fence = await found([folderWith(t, "echo bwrap: No permissions to create new namespace >&2; exit 1")])
  assert.equal(!fence.ok && fence.why, "the fence does not start: bwrap: No permissions to create new namespace")
})

test("a fence that lets everything through is none", linux, async (t) => {
  const fence = await found([folderWith(t, 'shift 3; exec "$@"')])
  assert.ok(!fence.ok)
  for (const leak of ["writing", "signals to other processes", "the network", "unix sockets"]) {
    assert.match(fence.why, new RegExp(`^the fence does not hold: it lets through .*${leak}`))
  }
})

test("a fence that lets one thing through is none", needsFence, async (t) => {
  const real = "exec 9< <(cat <&$2; printf '%s\\0' --share-net); shift 2; exec env -i /usr/bin/bwrap --args 9 \"$@\""
  const fence = await found([folderWith(t, real)])
  assert.equal(!fence.ok && fence.why, "the fence does not hold: it lets through the network")
})

test("the fence is tested once, however often and at once it is asked for", linux, async (t) => {
  const folder = folderWith(t, 'echo tested >> "$(dirname "$0")/log"; exit 1')
  const find = findSandbox({ env: {}, folders: [folder] })
  const [first, second] = await Promise.all([find(), find()])
  assert.equal(first, second)
  assert.equal(await find(), first)
  assert.equal(readFileSync(join(folder, "log"), "utf8"), "tested\n")
})

test("what forbids namespaces is named, and how to allow them", () => {
  const closed = { kind: "closed", said: "no" } as const
  const fixes = {
    "/proc/sys/kernel/unprivileged_userns_clone": ["0", /sysctl -w kernel\.unprivileged_userns_clone=1$/],
    "/proc/sys/user/max_user_namespaces": ["0", /sysctl -w user\.max_user_namespaces=\d+$/],
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": ["1", /AppArmor profile/],
  } as const
  for (const [path, [value, fix]] of Object.entries(fixes)) {
    const { why, fix: told } = obstacle(closed, (asked) => (asked === path ? value : ""))
    assert.equal(why, "the fence does not start: no")
    assert.match(told, fix)
  }
})
