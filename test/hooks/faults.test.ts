import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { EventEmitter, getEventListeners, once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import type { HookEvent } from "../../src/core/hook.ts"
import type { Spawn } from "../../src/hooks/process.ts"
import { hooks } from "../../src/hooks/run.ts"
import { nameOf } from "../../src/hooks/settings.ts"
import { alive, longNap, until } from "../tools/processes.ts"
import { bash, denial, fire, hook, moment, prints, world } from "./fire.ts"

const linux = { skip: process.platform === "linux" ? false : "needs /proc" }
const warning = (event: HookEvent, command: string, what: string) => ({
  notes: [`the ${nameOf(hook(event, command))} ${what}`],
})
const soon = async <T>(ms: number, work: Promise<T>): Promise<T> => {
  const began = performance.now()
  const value = await work
  assert.ok(performance.now() - began < ms, `took ${performance.now() - began} ms`)
  return value
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "legwork-hook-"))
  t.after(() => rm(path, { recursive: true }))
  return path
}

const garbage: [string, string][] = [
  ["echo '{not json'", "printed what looks like JSON and is not"],
  [`printf '{"decision":"block"}{}'`, "printed what looks like JSON and is not"],
  [prints({ continue: "false" }), "printed JSON with a wrong continue"],
  [prints({ decision: "reject" }), "printed JSON with a wrong decision"],
  [prints({ decision: "block", reason: 7 }), "printed JSON with a wrong reason"],
  [prints({ stopReason: [] }), "printed JSON with a wrong stopReason"],
  [prints({ systemMessage: {} }), "printed JSON with a wrong systemMessage"],
  [prints({ hookSpecificOutput: "deny" }), "printed JSON with a wrong hookSpecificOutput"],
  [prints({ hookSpecificOutput: { permissionDecision: "DENY" } }), "printed JSON with a wrong permissionDecision"],
  [prints({ hookSpecificOutput: { permissionDecision: "defer" } }), "printed JSON with a wrong permissionDecision"],
  [prints({ hookSpecificOutput: { updatedInput: "ls" } }), "printed JSON with a wrong updatedInput"],
  [prints({ hookSpecificOutput: { updatedInput: [] } }), "printed JSON with a wrong updatedInput"],
  [prints({ hookSpecificOutput: { additionalContext: 1 } }), "printed JSON with a wrong additionalContext"],
  [prints({ hookSpecificOutput: { hookEventName: "Stop" } }), "printed JSON with a wrong hookEventName"],
  [prints({ permissionDecision: "deny" }), "printed a permissionDecision outside of hookSpecificOutput"],
  [`echo hello; ${prints({ decision: "block" })}`, "printed something before its JSON"],
  [prints([{ hookSpecificOutput: { permissionDecision: "deny" } }]), "printed something before its JSON"],
  [`printf 'x {"continue" : false}'`, "printed something before its JSON"],
  [`printf '\\377{"continue":false}'`, "printed something before its JSON"],
  [`printf '{"continue":\\377}'`, "printed what looks like JSON and is not"],
]

test("a hook that prints garbage denies before a tool and is a note elsewhere", async () => {
  for (const [command, what] of garbage) {
    assert.deepEqual(await fire([hook("PreToolUse", command)]), denial(command, what))
    assert.deepEqual(await fire([hook("PostToolUse", command)]), warning("PostToolUse", command, what))
  }
  const [command, what] = garbage[0]!
  assert.deepEqual(await fire([hook("UserPromptSubmit", command)]), warning("UserPromptSubmit", command, what))
})

test("fields that nobody knows are no garbage", async () => {
  assert.deepEqual(await fire([hook("PreToolUse", prints({ wrong: "x", hookSpecificOutput: { more: 1 } }))]), {
    notes: [],
  })
})

test("a hook that cannot be found or run denies before a tool and is a note elsewhere", async (t) => {
  const cwd = await folder(t)
  await writeFile(join(cwd, "guard.sh"), "exit 0", { mode: 0o644 })
  for (const [command, code, words] of [
    ["./nothing.sh", 127, "No such file or directory"],
    ["./guard.sh", 126, "Permission denied"],
  ] as const) {
    const what = `exited with code ${code}: bash: line 1: ${command}: ${words}`
    assert.deepEqual(await fire([hook("PreToolUse", command)], { cwd }), denial(command, what))
    assert.deepEqual(await fire([hook("Stop", command)], { cwd }), warning("Stop", command, what))
  }
})

test("a hook that is killed denies before a tool and is a note elsewhere", async () => {
  const command = "kill -SEGV $$"
  assert.deepEqual(await fire([hook("PreToolUse", command)]), denial(command, "was killed by SIGSEGV"))
  assert.deepEqual(await fire([hook("Stop", command)]), warning("Stop", command, "was killed by SIGSEGV"))
})

test("a hook that cannot be started denies before a tool and is a note elsewhere", async () => {
  const cwd = join(tmpdir(), "legwork-there-is-no-such-folder")
  const what = `could not be started: there is neither bash nor sh, or no folder ${cwd}`
  assert.deepEqual(await fire([hook("PreToolUse", "true")], { cwd }), denial("true", what))
  assert.deepEqual(await fire([hook("SessionEnd", "true")], { cwd }), warning("SessionEnd", "true", what))
  const huge = `: ${"x".repeat(200_000)}`
  const said = await fire([hook("PreToolUse", huge)])
  assert.deepEqual(said, denial(huge, "could not be started: spawn E2BIG"))
})

/** Fails with this code so many times before it really starts something. */
function failing(code: string, times: number, started: string[]): Spawn {
  return (file, args, options) => {
    started.push(file)
    if (started.length > times) return spawn(file, args, options)
    const child = new EventEmitter()
    process.nextTick(() => child.emit("error", Object.assign(new Error(`spawn ${code}`), { code })))
    return child as ChildProcess
  }
}

test("where there is no bash, sh runs the hook", async () => {
  const started: string[] = []
  assert.deepEqual(await fire([hook("SessionStart", "echo here")], { spawn: failing("ENOENT", 1, started) }), {
    context: "here",
    notes: [],
  })
  assert.deepEqual(started, ["bash", "sh"])
})

test("when the system has no process left, a hook is tried three times more", async () => {
  const started: string[] = []
  const list = [hook("PreToolUse", "true")]
  assert.deepEqual(await fire(list, { spawn: failing("EAGAIN", 3, started) }), { notes: [] })
  assert.deepEqual(started, ["bash", "bash", "bash", "bash"])
  const spawn = failing("EAGAIN", 99, [])
  assert.deepEqual(await fire(list, { spawn }), denial("true", "could not be started: spawn EAGAIN"))
})

test("a hook that hangs is ended at its timeout, with all its processes", linux, async () => {
  const nap = longNap()
  const what = "did not end within 0.3s and was stopped"
  const hangs = (event: HookEvent, command: string) => hook(event, command, { timeout: 300 })
  for (const command of [
    `sleep ${nap}`,
    `sleep ${nap} & sleep ${nap} | sleep ${nap}`,
    `trap '' TERM; sleep ${nap} & wait; sleep ${nap}; sleep ${nap}`,
    `(trap '' TERM; sleep ${nap}; sleep ${nap}) & wait`,
    `echo '{"decision":"approve"}'; sleep ${nap}`,
  ]) {
    assert.deepEqual(await soon(2_000, fire([hangs("PreToolUse", command)])), denial(command, what))
    await until(() => alive(nap).length === 0, 1_000)
  }
  const command = `sleep ${nap}`
  assert.deepEqual(await soon(2_000, fire([hangs("Stop", command)])), warning("Stop", command, what))
})

test("a process of a hook may tidy up on TERM, also when the shell is gone already", async (t) => {
  const file = join(await folder(t), "tidied")
  const command = `(trap 'sleep 0.05; : >"${file}"; exit' TERM; while :; do sleep 0.01; done) & wait`
  await fire([hook("PreToolUse", command, { timeout: 200 })])
  assert.ok(existsSync(file))
})

test("a hook that prints 10 MB is ended: denied before a tool, a note elsewhere", linux, async () => {
  const nap = longNap()
  for (const to of ["", " >&2"]) {
    const command = `head -c 10000000 /dev/zero${to}; sleep ${nap}`
    const what = "printed over 1 MB and was stopped"
    assert.deepEqual(await soon(3_000, fire([hook("PreToolUse", command)])), denial(command, what))
    assert.deepEqual(await soon(3_000, fire([hook("PostToolUse", command)])), warning("PostToolUse", command, what))
  }
  await until(() => alive(nap).length === 0, 1_000)
})

test("just 1 MB is not too much", async () => {
  assert.deepEqual(await fire([hook("PreToolUse", "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2")]), {
    notes: [],
  })
})

test(
  "a hook that leaves a process behind does not hang: its answer counts, and the process is ended",
  linux,
  async () => {
    const nap = longNap()
    const holds = `sleep ${nap} & ${prints({ decision: "block", reason: "no" })}`
    assert.deepEqual(await soon(2_500, fire([hook("PreToolUse", holds)])), {
      decision: "deny",
      reason: "no",
      notes: [],
    })
    await until(() => alive(nap).length === 0, 1_000)
  },
)

test("a hook that ended in time did so, also if what it left behind holds its output beyond that", linux, async () => {
  const nap = longNap()
  const command = `sleep ${nap} & ${prints({ systemMessage: "done" })}`
  assert.deepEqual(await fire([hook("PreToolUse", command, { timeout: 500 })]), { notes: ["done"] })
})

test("what left the group of a hook does not keep our process from ending", linux, async (t) => {
  const nap = longNap()
  t.after(() => {
    for (const pid of alive(nap)) process.kill(pid)
  })
  for (const away of [">/dev/null", "2>/dev/null"]) {
    const list = [hook("Stop", `setsid sleep ${nap} ${away} & exit 0`)]
    const script = `
      import { hooks } from ${JSON.stringify(join(import.meta.dirname, "../../src/hooks/run.ts"))}
      const all = hooks(${JSON.stringify(list)}, ${JSON.stringify(world)})
      await all.fire({ event: "Stop" }, new AbortController().signal)`
    const child = spawn(process.execPath, ["-e", script], { stdio: "inherit", timeout: 8_000 })
    assert.deepEqual(await once(child, "exit"), [0, null])
  }
  assert.equal(alive(nap).length, 2)
})

test("what a hook leaves behind silently is ended without any wait", linux, async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] })
  const nap = longNap()
  const command = `trap '' TERM; sleep ${nap} >/dev/null 2>&1 & exit 0`
  assert.deepEqual(await fire([hook("PreToolUse", command)]), { notes: [] })
  while (alive(nap).length > 0) await setImmediate()
})

test("what is left behind and floods the output is no answer", async () => {
  const command = `yes & ${prints({ decision: "approve" })}`
  assert.deepEqual(await fire([hook("PreToolUse", command)]), denial(command, "printed over 1 MB and was stopped"))
})

test("a hook need not read what it is told, however much that is", async () => {
  const tool = { ...bash, input: { content: "x".repeat(8_000_000) } }
  for (const command of ["true", "exec 0<&-; echo done", "head -c 10 >/dev/null"])
    assert.deepEqual(await fire([hook("PreToolUse", command)], { moment: { tool } }), { notes: [] })
  const counts = `echo "{\\"systemMessage\\":\\"$(($(wc -c) > 8000000))\\"}"`
  assert.deepEqual(await fire([hook("PreToolUse", counts)], { moment: { tool } }), { notes: ["1"] })
})

test("an abort ends all hooks of the moment, also deaf ones, and the moment with its reason", linux, async () => {
  const nap = longNap()
  for (const event of ["PreToolUse", "PostToolUse", "Stop"] as const) {
    const stop = new AbortController()
    const list = [
      `sleep ${nap}`,
      `trap '' TERM; sleep ${nap}; sleep ${nap}`,
      `(trap '' TERM; sleep ${nap}) & wait`,
      "true",
    ]
    const fired = fire(
      list.map((command) => hook(event, command)),
      { signal: stop.signal },
    )
    await until(() => alive(nap).length === 3)
    const reason = new Error("enough")
    stop.abort(reason)
    await assert.rejects(soon(2_000, fired), reason)
    await until(() => alive(nap).length === 0, 1_000)
  }
})

test("a hook that obeys at once does not hold up an abort", linux, async () => {
  const took: number[] = []
  for (let time = 0; time < 5; time++) {
    const nap = longNap()
    const stop = new AbortController()
    const fired = fire([hook("PreToolUse", `sleep ${nap}`)], { signal: stop.signal })
    await until(() => alive(nap).length === 1)
    const began = performance.now()
    stop.abort(new Error("enough"))
    await assert.rejects(fired, /enough/)
    took.push(performance.now() - began)
  }
  // One of them may be slow on a busy machine, but all only if each waited for the time that deaf ones get.
  assert.ok(Math.min(...took) < 190, `${took}`)
})

test("after an abort no hook is started", async () => {
  const started: string[] = []
  const reason = new Error("too late")
  const how = { signal: AbortSignal.abort(reason), spawn: failing("EAGAIN", 0, started) }
  await assert.rejects(fire([hook("PreToolUse", "true")], how), reason)
  assert.deepEqual(started, [])
})

test("an abort while a hook is being started counts, even if the hook would have allowed", async () => {
  const stop = new AbortController()
  const reason = new Error("just now")
  const aborting: Spawn = (file, args, options) => {
    stop.abort(reason)
    return spawn(file, args, options)
  }
  await assert.rejects(
    fire([hook("PreToolUse", prints({ decision: "approve" }))], { signal: stop.signal, spawn: aborting }),
    reason,
  )
})

test("a hundred moments at a time leave no listener, no handle and no warning", async (t) => {
  const warnings: Error[] = []
  const warn = (each: Error) => warnings.push(each)
  process.on("warning", warn)
  t.after(() => process.off("warning", warn))
  const held = () => process.getActiveResourcesInfo().filter((name) => /Process|Pipe|Timeout/.test(name)).length
  const before = held()
  const { signal } = new AbortController()
  const all = hooks([hook("PreToolUse", "cat >/dev/null; echo '{}'")], world)
  const said = await Promise.all(Array.from({ length: 100 }, () => all.fire(moment("PreToolUse"), signal)))
  assert.deepEqual(said, Array(100).fill({ notes: [] }))
  assert.equal(getEventListeners(signal, "abort").length, 0)
  await until(() => held() <= before, 500)
  assert.deepEqual(warnings, [])
})

test("a kill -9 on us ends a hook that is at work", linux, async (t) => {
  const path = await folder(t)
  const script = join(path, "us.ts")
  const at = (name: string) => JSON.stringify(new URL(`../../src/hooks/${name}`, import.meta.url).href)
  const nap = longNap()
  const command = `sleep ${nap}; true`
  await writeFile(
    script,
    `import { hooks } from ${at("run.ts")}
const hook = { event: "PreToolUse", matcher: "", command: ${JSON.stringify(command)}, timeout: 600_000, from: "x" }
const all = hooks([hook], { session: "s", transcript: "t", cwd: ${JSON.stringify(path)}, mode: "default", env: process.env })
await all.fire({ event: "PreToolUse", tool: { name: "bash", aliases: [], input: {}, id: "c" } }, new AbortController().signal)`,
  )
  const us = spawn(process.execPath, [script], { stdio: "ignore" })
  await until(() => alive(nap).length > 0)
  us.kill("SIGKILL")
  await until(() => alive(nap).length === 0)
})
