import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { access, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { call, serve, stall, status, steps } from "../../src/testing.ts"
import { bin, home } from "./binary.ts"

const args = ["-p", "go", "--model", "anthropic/any", "--permission-mode", "bypass", "--output-format", "stream-json"]

/** The processes whose command line has this word in it. */
async function processesWith(word: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")))
  return lines.filter((line) => line.includes(word))
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

const stubborn = (word: string) =>
  `trap '' TERM INT HUP; touch begun; for i in $(seq 600); do sleep 0.1; done # ${word}`
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`${signal} ends the turn, its stubborn command and the program, with 130, and the session goes on later`, async (t) => {
    const word = `marker-${signal}-${process.pid}`
    await using server = await serve(steps([call("bash", { command: stubborn(word) })], ({ last }) => last))
    const { start, run, work } = await home(t)
    const running = start(args, { env: server.env })
    const opened = await running.event(({ type }) => type === "run.opened")
    await until(() => exists(join(work, "begun")))
    running.child.kill(signal)
    const ran = await running.done
    assert.equal(ran.code, 130, ran.stderr)
    const settled = JSON.parse(ran.stdout.trim().split("\n").at(-1)!)
    assert.deepEqual([settled.type, settled.outcome.status], ["run.settled", "cancelled"])
    await until(async () => (await processesWith(word)).length === 0)
    assert.ok(opened.type === "run.opened")
    const again = await run(["-r", opened.session!, "-p", "what now?", "--model", "anthropic/any"], { env: server.env })
    assert.deepEqual([again.code, again.stdout], [0, "what now?\n"], again.stderr)
    assert.deepEqual(server.refused, [])
  })
}

test("a second interrupt ends the program at once", async (t) => {
  await using server = await serve(() => new Promise(() => {}))
  const { start } = await home(t)
  const running = start(args, { env: server.env })
  await running.event(({ type }) => type === "mail.read")
  running.child.kill("SIGINT")
  running.child.kill("SIGINT")
  assert.equal((await running.done).code, 130)
})

test("an interrupt ends the wait for a provider that wants an hour", async (t) => {
  await using server = await serve(() => status(429, { retryAfter: "3600" }))
  const { start } = await home(t)
  const running = start(args, { env: server.env })
  const failed = await running.event(({ type }) => type === "turn.failed")
  assert.ok(failed.type === "turn.failed" && failed.wait !== null && failed.wait >= 3_600_000)
  running.child.kill("SIGINT")
  assert.equal((await running.done).code, 130)
})

test("an interrupt ends a stream that says nothing", async (t) => {
  await using server = await serve(() => stall())
  const { start } = await home(t)
  const running = start(args, { env: server.env })
  await until(async () => server.requests.length > 0)
  running.child.kill("SIGINT")
  assert.equal((await running.done).code, 130)
})

test("killed -9, nothing that it started lives on", async (t) => {
  const word = `marker-kill-${process.pid}`
  await using server = await serve(steps([call("bash", { command: stubborn(word) })], "end"))
  const { start, work } = await home(t)
  const running = start(args, { env: server.env })
  await until(() => exists(join(work, "begun")))
  running.child.kill("SIGKILL")
  await running.done
  await until(async () => (await processesWith(word)).length === 0)
})

test("whoever reads our output may leave", async (t) => {
  await using server = await serve(() => "word ".repeat(100_000))
  const { env, work } = await home(t)
  const shell = spawn("bash", ["-c", `"$0" -p go --model anthropic/any --output-format stream-json | head -n 1`, bin], {
    cwd: work,
    env: { ...env, ...server.env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  t.after(() => shell.kill("SIGKILL"))
  let [out, err] = ["", ""]
  shell.stdout.on("data", (chunk) => (out += chunk))
  shell.stderr.on("data", (chunk) => (err += chunk))
  await new Promise((resolve) => shell.on("close", resolve))
  assert.equal(JSON.parse(out).type, "run.opened")
  assert.ok(!/EPIPE|^\s+at /m.test(err), err)
})
