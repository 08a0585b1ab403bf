import assert from "node:assert/strict"
import { mkdir, readdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { spawn } from "@lydell/node-pty"
import { call, type Script, serve, status, steps, tries } from "../../src/testing.ts"
import { bin, eventsOf, type Home, home } from "./binary.ts"
import { under } from "./limited.ts"

const args = ["-p", "go", "--model", "anthropic/any", "--permission-mode", "bypass"]
const results: Script = ({ messages }) =>
  JSON.stringify(messages.flatMap(({ role, text }) => (role === "result" ? [text] : [])))
const noStack = (text: string) => assert.ok(!/^\s+at |node:internal|Node\.js v/m.test(text), text)

test("a clock that jumps changes no duration and no order", async (t) => {
  const limited = tries<Parameters<Script>[0]>(status(429, { headers: { "retry-after-ms": "30" } }), "done")
  await using server = await serve(steps([call("bash", { command: "sleep 0.05" })], limited))
  const { run, work } = await home(t)
  // Hours forward and back, further at each look.
  const jumps = `let n = 0; const now = Date.now; Date.now = () => now() + (n++ % 2 ? 1 : -1) * n * 3_600_000`
  await writeFile(join(work, "../jumps.cjs"), jumps)
  const NODE_OPTIONS = `--require ${join(work, "../jumps.cjs")}`
  const ran = await run([...args, "--output-format", "stream-json"], { env: { ...server.env, NODE_OPTIONS } })
  assert.equal(ran.code, 0, ran.stderr)
  const events = eventsOf(ran)
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, n) => n + 1),
  )
  const hour = 3_600_000
  assert.ok(
    events.some(({ at }, n) => n > 0 && at < events[n - 1]!.at - hour),
    "the clock did jump",
  )
  const times = events.flatMap((event) => ("ms" in event ? [event.ms] : []))
  assert.equal(times.length, 4)
  assert.ok(
    times.every((ms) => ms >= 0 && ms < 5_000),
    `${times}`,
  )
})

for (const [closed, shown] of Object.entries({ ">&-": "", "2>&-": "told\n", "<&- >&- 2>&-": "" })) {
  test(`started with ${closed} it does its work and says the rest`, async (t) => {
    await using server = await serve(steps([call("bash", { command: "echo hi | tee out; echo ho >&2" })], "told"))
    const at = await home(t)
    const ran = await under(t, `exec "$0" "$@" ${closed}`, at, { args: [...args, "--verbose"], env: server.env })
    assert.equal(ran.code, 0, ran.stderr)
    assert.equal(await at.file("out"), "hi\n")
    assert.equal(ran.stdout, shown)
    noStack(ran.stderr)
  })
}

test("an answer that its file has no room for is a sentence and exit 74", async (t) => {
  await using server = await serve(() => "told")
  const ran = await under(t, 'exec "$0" "$@" > /dev/full', await home(t), { args, env: server.env })
  noStack(ran.stderr)
  assert.equal(ran.code, 74)
})

test("few descriptors are enough for many calls at once", async (t) => {
  const searches = Array.from({ length: 40 }, (_, n) => call("grep", { pattern: `word ${n}$` }))
  await using server = await serve(steps([...searches, call("bash", { command: "ulimit -n" })], results))
  const text = Array.from({ length: 40 }, (_, n) => `word ${n}\n`).join("")
  const at = await home(t, { "a.txt": text })
  const ran = await under(t, 'ulimit -n 64; exec "$0" "$@"', at, { args, env: server.env })
  assert.deepEqual(JSON.parse(ran.stdout), [...searches.map((_, n) => `a.txt:${n + 1}:word ${n}`), "64"])
})

test("a working folder that goes away while it works is said to be gone, and the run goes on", async (t) => {
  const calls = [
    call("bash", { command: "echo hi" }),
    call("read", { file_path: "a.txt" }),
    call("write", { file_path: "b.txt", content: "x" }),
    call("edit", { file_path: "a.txt", old_string: "a", new_string: "b" }),
    call("ls"),
    call("glob", { pattern: "**" }),
    call("grep", { pattern: "x" }),
  ]
  await using server = await serve(steps([call("bash", { command: 'rm -r "$PWD"' })], calls, results))
  const { run, work } = await home(t, { "a.txt": "alpha\n" })
  const ran = await run(args, { env: server.env })
  assert.equal(ran.code, 0, ran.stderr)
  const told: string[] = JSON.parse(ran.stdout).slice(1)
  assert.equal(told.length, calls.length)
  for (const text of told) assert.match(text, /is gone|there is nothing at/)
  assert.deepEqual(await readdir(join(work, "..")), ["state"])
})

test("started in a folder that is gone it says so and ends with 2", async (t) => {
  await using server = await serve(() => "told")
  const at = await home(t)
  const cwd = join(at.work, "gone")
  await mkdir(cwd)
  const ran = await under(t, 'rmdir "$PWD"; exec "$0" "$@"', at, { args, env: server.env, cwd })
  noStack(ran.stderr)
  assert.equal(ran.code, 2)
})

test("a key that a command digs out of our own environment reaches neither the model nor the log", async (t) => {
  await using server = await serve(steps([call("bash", { command: "cat /proc/$PPID/environ" })], results))
  const { run } = await home(t)
  const ran = await run(args, { env: { ...server.env, ANTHROPIC_API_KEY: "sk-secret-1" } })
  assert.ok(!ran.stdout.includes("sk-secret-1"))
})

test("a prompt of a megabyte is taken whole, and one beyond ten is refused", async (t) => {
  await using server = await serve(({ last }) => `${last.length}`)
  const { run, start } = await home(t)
  const args = ["-p", "--model", "anthropic/any"]
  assert.equal((await run(args, { env: server.env, input: "ö".repeat(1_000_000) })).stdout, "1000000\n")
  const running = start(args, { env: server.env, input: { open: true } })
  running.child.stdin?.on("error", () => {}) // it does not listen to the end
  running.child.stdin?.end("x".repeat(11_000_000))
  const ran = await running.done
  assert.deepEqual(
    [ran.code, ran.stderr],
    [2, "legwork: standard input is larger than 10 MB; put it in a file and name the file instead\n"],
  )
})

type Size = { cols: number; TERM: string }

/** The program on a pseudo-terminal. `until` resolves when what was shown has the text in it. */
function terminal(t: TestContext, { work, env: own }: Home, env: NodeJS.ProcessEnv, args: string[], size: Size) {
  const { cols, TERM } = size
  const pty = spawn(bin, ["--model", "anthropic/any", ...args], {
    cwd: work,
    env: { ...own, ...env, TERM },
    cols,
    rows: 30,
  })
  t.after(() => pty.kill("SIGKILL"))
  const screen = { shown: "" }
  let look = () => {}
  pty.onData((data) => {
    screen.shown += data
    look()
  })
  const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  const until = (text: string) =>
    new Promise<void>((resolve, reject) => {
      look = () => screen.shown.includes(text) && resolve()
      look()
      exit.then(() => reject(new Error(`it ended without ${JSON.stringify(text)}: ${screen.shown}`)))
    })
  return { screen, exit, until, type: (text: string) => pty.write(text), resize: (n: number) => pty.resize(n, 30) }
}

test("a terminal that knows no escapes gets none", async (t) => {
  await using server = await serve(steps([call("bash", { command: "sleep 0.3" })], "told"))
  const dumb = { cols: 20, TERM: "dumb" }
  const at = await home(t)
  const { screen, exit } = terminal(t, at, server.env, ["-p", "go", "--permission-mode", "bypass"], dumb)
  assert.equal(await exit, 0)
  assert.ok(!screen.shown.includes("\u001b"), JSON.stringify(screen.shown))
})

test("a conversation works on twenty columns and through a storm of resizes", async (t) => {
  await using server = await serve(({ last }) => `${last.length} heard`)
  const { until, type, resize, exit, screen } = terminal(t, await home(t), server.env, [], { cols: 20, TERM: "dumb" })
  await until("> ")
  type("more than fits on one of those lines\r")
  await until("36 heard")
  await until("completed")
  for (let n = 0; n < 300; n++) resize(1 + (n % 40))
  type("/exit\r")
  await until("to go on: legwork -r ")
  assert.equal(await exit, 0)
  noStack(screen.shown)
})

test("ctrl-c while a question waits ends the turn, and what was asked for is not done", async (t) => {
  await using server = await serve(steps([call("bash", { command: "touch done" })], "never"))
  const at = await home(t)
  const { until, type, exit, screen } = terminal(t, at, server.env, ["--plain"], { cols: 100, TERM: "xterm" })
  await until("> ")
  type("go\r")
  await until("allow?")
  type("\u0003")
  await until("cancelled")
  type("\u0003")
  assert.equal(await exit, 130)
  assert.deepEqual([await readdir(at.work), server.requests.length], [[], 1])
  noStack(screen.shown)
})

test("ctrl-c twice at once, in the midst of work, ends with 130", async (t) => {
  const asked = Promise.withResolvers<void>()
  await using server = await serve(() => {
    asked.resolve()
    return new Promise(() => {})
  })
  const { until, type, exit, screen } = terminal(t, await home(t), server.env, ["--plain"], {
    cols: 100,
    TERM: "xterm",
  })
  await until("> ")
  type("go\r")
  await asked.promise
  type("\u0003\u0003")
  assert.equal(await exit, 130, screen.shown)
})
