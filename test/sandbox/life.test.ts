import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { realpathSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { test } from "node:test"
import { bubblewrap } from "../../src/sandbox/bubblewrap.ts"
import { filter } from "../../src/sandbox/filter.ts"
import { run } from "../../src/tools/process.ts"
import { alive, longNap, until } from "../tools/processes.ts"
import { needsFence, profileOf, ran, sandbox } from "./fence.ts"

const root = realpathSync(tmpdir())
/** Leaves its group and its session, is deaf to polite signals, and forgets its environment. */
const stubborn = (nap: string) =>
  `(trap '' TERM HUP INT; setsid nohup env -i sleep ${nap} >/dev/null 2>&1 & sleep ${nap})`

test("a command's arguments, input, outputs and exit code are its own", needsFence, async () => {
  const script = 'cat; printf "%s|" "$@"; echo bad >&2; exit 7'
  const child = sandbox.spawn(["bash", "-c", script, "bash", "", "a b", "$HOME", "'"], profileOf("/usr"), {
    stdio: "pipe",
  })
  child.stdin!.end("typed ")
  const [out, error] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")])
  assert.deepEqual([out, error, child.exitCode], ["typed |a b|$HOME|'|", "bad\n", 7])
})

test("it starts in the workspace, also below a folder that is hidden", needsFence, async () => {
  assert.deepEqual(await ran("pwd; pwd -P", profileOf(import.meta.dirname)), [`${import.meta.dirname}\n`.repeat(2), 0])
})

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`${signal} to its group ends all of it, also what left the group`, needsFence, async () => {
    const nap = longNap()
    const child = sandbox.spawn(["bash", "-c", stubborn(nap)], profileOf(root), { stdio: "ignore" })
    await until(() => alive(nap).length >= 2)
    process.kill(-child.pid!, signal)
    await once(child, "exit")
    await until(() => alive(nap).length === 0, 1_000)
  })
}

test("its end is the end of what it left in the background", needsFence, async () => {
  const nap = longNap()
  await ran(`(setsid nohup sleep ${nap} >/dev/null 2>&1 &)`, profileOf(root))
  await until(() => alive(nap).length === 0, 1_000)
})

test("all of it dies with us, whatever kills us", needsFence, async (t) => {
  const nap = longNap()
  const script = `
    import { findSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../src/sandbox/sandbox.ts"))}
    const found = await findSandbox({ env: process.env })()
    found.sandbox.spawn(["bash", "-c", ${JSON.stringify(stubborn(nap))}], ${JSON.stringify(profileOf(root))}, { stdio: "ignore" })`
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" })
  t.after(() => parent.kill("SIGKILL"))
  await until(() => alive(nap).length >= 2, 20_000)
  parent.kill("SIGKILL")
  await until(() => alive(nap).length === 0, 2_000)
})

test("descriptors that we inherited lead nowhere inside", needsFence, async (t) => {
  const script = `
    import { findSandbox } from ${JSON.stringify(join(import.meta.dirname, "../../src/sandbox/sandbox.ts"))}
    const found = await findSandbox({ env: process.env })()
    const command = ["find", "/proc/self/fd", "-printf", "%f %l\\\\n"]
    found.sandbox.spawn(command, ${JSON.stringify(profileOf("/usr"))}, { stdio: ["ignore", "inherit", "inherit"] })`
  const line = 'exec 7</etc/passwd 42</etc; exec "$@"'
  const args = ["-c", line, "bash", process.execPath, "--input-type=module", "-e", script]
  const parent = spawn("bash", args, { stdio: ["ignore", "pipe", "inherit"] })
  t.after(() => parent.kill("SIGKILL"))
  const seen = await text(parent.stdout)
  assert.match(seen, /^42 \/dev\/null$/m)
  assert.doesNotMatch(seen, /\/etc/)
})

test("it has no capabilities, can get none, and is filtered", needsFence, async () => {
  const [output] = await ran(
    "grep -hE '^(Cap(Prm|Eff|Bnd)|NoNewPrivs|Seccomp):' /proc/self/status /proc/1/status",
    profileOf("/usr"),
  )
  const none = "0".repeat(16)
  const status = `CapPrm:\t${none}\nCapEff:\t${none}\nCapBnd:\t${none}\nNoNewPrivs:\t1\nSeccomp:\t2\n`
  assert.equal(output, status.repeat(2))
})

test("an older bubblewrap lets nobody make user namespaces either", needsFence, async () => {
  const old = bubblewrap({ program: "/usr/bin/bwrap", version: [0, 6, 1], filter: filter(process.arch)!, homes: [] })
  const child = old.spawn(["unshare", "--user", "true"], profileOf("/usr"), { stdio: ["ignore", "ignore", "pipe"] })
  const [complaint] = await Promise.all([text(child.stderr!), once(child, "exit")])
  assert.deepEqual([complaint, child.exitCode], ["unshare: unshare failed: Operation not permitted\n", 1])
})

test("the shell of a call runs in it as it does outside, and an abort ends it", needsFence, async () => {
  const nap = longNap()
  const abort = new AbortController()
  let output = ""
  const end = run(`echo up; echo error >&2; sleep ${nap}`, {
    root,
    env: profileOf(root).env,
    signal: abort.signal,
    timeout: 20_000,
    take: (chunk) => void (output += chunk),
    spawn: (file, args, { env, stdio }) =>
      sandbox.spawn([file, ...args], profileOf(root, { env: env as Record<string, string> }), { stdio: stdio! }),
  })
  await until(() => alive(nap).length > 0 && output === "up\nerror\n")
  abort.abort()
  assert.equal((await end).by, "abort")
  await until(() => alive(nap).length === 0, 1_000)
})
