import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { EventEmitter, getEventListeners, once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { run, type Spawn } from "../../src/tools/process.ts"
import { alive, longNap, until } from "./processes.ts"

const linux = { skip: process.platform === "linux" ? false : "needs /proc" }
const env = { PATH: process.env.PATH ?? "" }

function failing(code: string): ChildProcess {
  const child = new EventEmitter()
  setImmediate(() => child.emit("error", Object.assign(new Error(code), { code })))
  return child as ChildProcess
}

/** The environments of all processes that still have one. */
const environments = (): string[] =>
  readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/environ`, "utf8")] : []
    } catch {
      return []
    }
  })

/** Runs a command here and returns its end with all of its output. */
async function ran(command: string, how: { timeout?: number; signal?: AbortSignal; spawn?: Spawn } = {}) {
  let output = ""
  const take = (chunk: Buffer) => {
    output += chunk
    return undefined
  }
  const { timeout = 20_000, signal = new AbortController().signal } = how
  const ended = await run(command, {
    root: tmpdir(),
    env,
    take,
    timeout,
    signal,
    ...(how.spawn && { spawn: how.spawn }),
  })
  return { ...ended, output }
}

const itself = (output: string, exit = 0) => ({ exit, signal: null, by: "itself", output })

test("standard output and error arrive in the order in which they were written", async () => {
  const command = "for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"
  const lines = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((i) => `o${i}\ne${i}\n`).join("")
  assert.deepEqual(await ran(command), itself(lines))
})

test("outputs can be opened by name", async () => {
  assert.deepEqual(
    await ran("echo a >/dev/stderr; echo b >/dev/stdout; echo c | tee /dev/stderr"),
    itself("a\nb\nc\nc\n"),
  )
})

test("a syntax error is reported with its line and does not undo the lines before it", async () => {
  const { output, exit } = await ran("echo one\necho two\nif then")
  assert.equal(exit, 2)
  assert.match(output, /^one\ntwo\nbash: .*line 3: syntax error near unexpected token `then'/)
})

test("the command finds a bare shell: no arguments, no children, no input, no descriptors of ours", async () => {
  const command = `echo "$0 $#"; perl -e 'print wait(), "\\n"'; cat; wait; jobs; ls /proc/$$/fd`
  assert.deepEqual(await ran(command), itself("bash 0\n-1\n0\n1\n2\n"))
})

test("descriptors that we inherited are not passed on", linux, async (t) => {
  const script = `
    import { run } from ${JSON.stringify(join(import.meta.dirname, "../../src/tools/process.ts"))}
    const options = { root: "/", env: { PATH: process.env.PATH }, timeout: 9000, signal: new AbortController().signal }
    await run("ls /proc/$$/fd", { ...options, take: (chunk) => void process.stdout.write(chunk) })`
  const child = spawn(
    "bash",
    ["-c", 'exec 7</etc/passwd 42</etc/passwd; exec "$@"', "bash", process.execPath, "-e", script],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  t.after(() => child.kill("SIGKILL"))
  let output = ""
  child.stdout.on("data", (chunk) => (output += chunk))
  await once(child, "close")
  assert.equal(output, "0\n1\n2\n")
})

test("how a command ended is known: its exit code or the signal that killed it", async () => {
  assert.deepEqual(await ran("exit 7"), itself("", 7))
  assert.deepEqual(await ran("kill -SEGV $$"), { exit: null, signal: "SIGSEGV", by: "itself", output: "" })
})

test("a timeout ends a command that hangs and keeps what it printed", async () => {
  const began = performance.now()
  assert.deepEqual(await ran("echo partial; sleep 1000", { timeout: 300 }), {
    exit: null,
    signal: "SIGTERM",
    by: "timeout",
    output: "partial\n",
  })
  assert.ok(performance.now() - began < 2_000)
})

test("a command may tidy up on TERM, within its time", async () => {
  const command = "trap 'echo tidied; exit 9' TERM; echo up; while :; do :; done"
  assert.deepEqual(await ran(command, { timeout: 300 }), {
    exit: 9,
    signal: null,
    by: "timeout",
    output: "up\ntidied\n",
  })
})

for (const [what, command] of Object.entries({
  "ignores TERM": (nap: string) => `trap '' TERM; echo up; sleep ${nap}; sleep ${nap}`,
  "ignores TERM in the background, its shell gone": (nap: string) => `(trap '' TERM; sleep ${nap}) & echo up; wait`,
  "leaves its session": (nap: string) => `setsid sleep ${nap} & echo up; wait`,
  "leaves its session and ignores TERM": (nap: string) =>
    `setsid bash -c "trap '' TERM; sleep ${nap}; :" & echo up; wait`,
  "leaves its session and wipes its environment": (nap: string) => `setsid env -i sleep ${nap} & echo up; wait`,
  "makes groups of its own": (nap: string) => `set -m; sleep ${nap} & echo up; wait`,
})) {
  test(`an abort ends, within two seconds, a command that ${what}`, linux, async () => {
    const nap = longNap()
    const abort = new AbortController()
    const end = ran(command(nap), { signal: abort.signal })
    await until(() => alive(nap).length > 0)
    const began = performance.now()
    abort.abort()
    assert.equal((await end).by, "abort")
    await until(() => alive(nap).length === 0, 500)
    assert.ok(performance.now() - began < 2_000)
  })
}

test(
  "a process that holds the output open is given one second after the command's exit, and then ended",
  linux,
  async () => {
    const nap = longNap()
    const began = performance.now()
    assert.deepEqual(await ran(`(sleep 0.3; echo late; sleep ${nap}) & echo now`), itself("now\nlate\n"))
    const took = performance.now() - began
    assert.ok(took >= 1_000 && took < 2_000, `${took}`)
    await until(() => alive(nap).length === 0, 500)
  },
)

test("what was left in the background ends with the call, in the group or out of it", linux, async () => {
  const [near, far] = [longNap(), longNap()]
  const began = performance.now()
  const command = `sleep ${near} >/dev/null 2>&1 & setsid sleep ${far} >/dev/null 2>&1 & until pgrep -f "sleep ${far}$" >/dev/null; do :; done; echo started`
  assert.deepEqual(await ran(command), itself("started\n"))
  assert.ok(performance.now() - began < 900, "nobody holds the output, so nobody is waited for")
  await until(() => alive(near).length + alive(far).length === 0, 500)
})

test("a `kill -9` on us ends the command and all that it started within two seconds", linux, async (t) => {
  const naps = [longNap(), longNap(), longNap()]
  const script = `
    import { run } from ${JSON.stringify(join(import.meta.dirname, "../../src/tools/process.ts"))}
    const options = { root: "/", env: { PATH: process.env.PATH }, timeout: 60000, signal: new AbortController().signal }
    await run(process.env.COMMAND, { ...options, take: () => undefined })`
  const COMMAND = `trap '' TERM; setsid sleep ${naps[1]} & (trap '' TERM HUP; sleep ${naps[2]}) & sleep ${naps[0]}; echo`
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    env: { ...env, COMMAND },
    stdio: "ignore",
  })
  t.after(() => child.kill("SIGKILL"))
  await until(() => naps.every((nap) => alive(nap).length > 0))
  child.kill("SIGKILL")
  await until(() => naps.every((nap) => alive(nap).length === 0), 2_000)
})

test(
  "the guard does not outlive its command, and a TERM that the command sends to its group does not end it",
  linux,
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "legwork-process-"))
    t.after(() => rm(folder, { recursive: true }))
    const mark = join(folder, "mark")
    await ran(`trap '' TERM; kill -TERM 0; echo $LEGWORK_CALL >${mark}`)
    const call = (await readFile(mark, "utf8")).trim()
    assert.equal(call.length, 36)
    await until(() => !environments().some((text) => text.includes(call)), 500)
  },
)

test("a command that kills its own group, guard and all, still leaves nothing", linux, async () => {
  const nap = longNap()
  const { signal } = await ran(
    `setsid sleep ${nap} & until pgrep -f "sleep ${nap}$" >/dev/null; do :; done; kill -KILL 0`,
  )
  assert.equal(signal, "SIGKILL")
  await until(() => alive(nap).length === 0, 500)
})

test("no process or descriptor to be had: it is tried three more times, then the error is thrown", async () => {
  const scarce = (failures: number): Spawn => {
    return (...args) => (failures-- > 0 ? failing("EAGAIN") : spawn(...args))
  }
  assert.deepEqual(await ran("echo hi", { spawn: scarce(3) }), itself("hi\n"))
  await assert.rejects(ran("echo hi", { spawn: scarce(4) }), { code: "EAGAIN" })
})

test("ended commands leave no listener on the signal of their run", async () => {
  const { signal } = new AbortController()
  const before = getEventListeners(signal, "abort").length
  for (let i = 0; i < 20; i++) await ran(":", { signal })
  assert.equal(getEventListeners(signal, "abort").length, before)
})

test("nothing is started when the run is stopped already", async () => {
  await assert.rejects(ran("echo hi", { signal: AbortSignal.abort(new Error("stopped")) }), { message: "stopped" })
})
