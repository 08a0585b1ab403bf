import assert from "node:assert/strict"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { call, serve, steps } from "../../src/testing.ts"
import { behind, heard, inFront, isChild, latch, launching, turnsIn, until } from "./behind.ts"
import { type Home, home } from "./binary.ts"
import { terminal } from "./terminal.ts"

const model = ["--model", "anthropic/any"]
const idOf = async ({ run }: Home, prompt: string, env: NodeJS.ProcessEnv): Promise<string> =>
  JSON.parse((await run(["-p", prompt, ...model, "--output-format", "json"], { env })).stdout).sessionId
const stored = async ({ state }: Home): Promise<number> =>
  (await readdir(join(state, "legwork/sessions"))).filter((name) => name.endsWith(".jsonl")).length

test("resume goes on with a session that was killed with agents at work, and each result is heard once", async (t) => {
  const gate = latch()
  const calls = [behind("task 1"), behind("task 2"), inFront("task 3")]
  await using server = await serve(
    launching(calls, async ({ messages }) => {
      await gate.wait
      return `found ${messages[0]!.text.slice(-1)}`
    }),
  )
  const { start, run } = await home(t)
  const running = start(["-p", "go", ...model, "--output-format", "stream-json"], { env: server.env })
  const opened = await running.event(({ type }) => type === "run.opened")
  assert.ok(opened.type === "run.opened")
  await until(() => server.pending === 3)
  running.child.kill("SIGKILL")
  await running.done
  await until(() => server.pending === 0)
  gate.open()
  const ran = await run(["resume", opened.session!, "-p", ...model], { env: server.env })
  assert.deepEqual([ran.code, ran.stdout], [0, "2 of 3 are there\n"], ran.stderr)
  const last = server.requests.findLast((asked) => !isChild(asked))!
  assert.deepEqual(heard(last, ["found 1", "found 2", "found 3"]), [1, 1, 0])
  const waitedFor = last.messages.filter(({ role, text }) => role === "result" && text.startsWith("found 3"))
  assert.equal(waitedFor.length, 1)
  const facts = (await run(["sessions", "show", opened.session!, "--json"])).stdout.trim().split("\n").slice(1)
  assert.equal(facts.filter((line) => JSON.parse(line).type === "run.opened").length, 4)
})

test("the beginning of an id is enough where it fits one session, and an unknown id starts nothing", async (t) => {
  await using server = await serve(({ messages }) => `answer ${turnsIn({ messages } as never)}`)
  const place = await home(t)
  const one = await idOf(place, "first", server.env)
  await idOf(place, "second", server.env)
  const short = one.slice(0, -3)
  for (const how of [
    ["resume", short, "-p", "more"],
    ["resume", short, "more"],
    ["-r", short, "-p", "more"],
  ])
    assert.match((await place.run([...how, ...model], { env: server.env })).stdout, /^answer \d\n$/, how.join(" "))
  const both = await place.run(["resume", one.slice(0, 4), "-p", "x", ...model], { env: server.env })
  assert.equal(both.code, 2)
  assert.match(
    both.stderr,
    new RegExp(`^legwork: several sessions begin with "\\d{4}": .*${one}.*; write more of the id\\n$`),
  )
  const wrong = `${one.slice(0, -1)}${one.endsWith("0") ? "1" : "0"}`
  const unknown = await place.run(["resume", wrong, "-p", "x", ...model], { env: server.env })
  assert.equal(unknown.code, 2)
  assert.match(unknown.stderr, new RegExp(`^legwork: there is no session ${wrong}; did you mean ${one}`))
  assert.match((await place.run(["resume", "nonsense", "-p", "x"])).stderr, /^legwork: there is no session nonsense; /)
  assert.equal(await stored(place), 2)
})

test("without an id and without a terminal, resume says what to type", async (t) => {
  await using server = await serve(() => "ok")
  const place = await home(t, { "sub/a": "" })
  const nothing = await place.run(["resume"])
  assert.equal(nothing.code, 2)
  assert.match(nothing.stderr, /^legwork: there is no session of .* to go on with; /)
  const [one, two] = [await idOf(place, "first", server.env), await idOf(place, "second", server.env)]
  const ran = await place.run(["resume", "-p"])
  assert.equal(ran.code, 2)
  const line = (id: string, title: string) => `  ${id}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  ${title}\n`
  assert.match(
    ran.stderr,
    new RegExp(
      `^legwork: say which session, as in: legwork resume ${two}\nthe newest are:\n${line(two, "second")}${line(one, "first")}$`,
    ),
  )
  const elsewhere = { cwd: join(place.work, "sub") }
  assert.match((await place.run(["resume"], elsewhere)).stderr, /there is no session of .*sub to go on with/)
  assert.match((await place.run(["resume", "--all"], elsewhere)).stderr, new RegExp(`legwork resume ${two}`))
  assert.match((await place.run(["resume", one, "-c"])).stderr, /leave out -c and -r/)
})

test("a session that is open elsewhere is not taken", async (t) => {
  await using server = await serve(steps([call("bash", { command: "sleep 30" })], "end"))
  const { run, start } = await home(t)
  const how = ["-p", "go", ...model, "--permission-mode", "bypass", "--output-format", "stream-json"]
  const running = start(how, { env: server.env })
  const opened = await running.event(({ type }) => type === "run.opened")
  await running.event(({ type }) => type === "call.started")
  assert.ok(opened.type === "run.opened")
  const ran = await run(["resume", opened.session!, "-p", ...model], { env: server.env })
  const said = `legwork: session ${opened.session} is in use by process ${running.child.pid}; close it there first, or start a new session\n`
  assert.deepEqual([ran.code, ran.stderr], [1, said])
})

test("on a terminal one is chosen from a list, newest first, that says what is unfinished", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching([behind("task 1")], async () => {
      await gate.wait
      return "found 1"
    }),
  )
  const place = await home(t)
  await place.run(["-p", "the older\u001b[2J one", "--no-drain", ...model], { env: server.env })
  gate.open()
  await idOf(place, "the newer one", server.env)
  const shown = terminal(t, place, server.env, ["resume", ...model])
  await shown.see("   1  ")
  assert.match(await shown.see("the newer one"), /^\d{4}-\d\d-\d\d \d\d:\d\d {14}$/)
  await shown.see("   2  ")
  assert.match(await shown.see("the older [2J one"), /^\d{4}-\d\d-\d\d \d\d:\d\d {2}unfinished {2}$/)
  await shown.see("which?")
  shown.type("7\r")
  await shown.see('there is no "7"; there are 1 to 2')
  shown.type("2\r")
  await shown.see("[explore] task 1 - done")
  await shown.see("1 of 1 are there")
  await shown.see("> ")
  shown.type("/exit\r")
  assert.equal(await shown.exit, 0)
})

test("enter takes the first, q leaves, and --all has those of other folders, with the folder", async (t) => {
  await using server = await serve(({ last }) => `heard ${last}`)
  const place = await home(t, { "sub/a": "" })
  const id = await idOf(place, "only", server.env)
  const left = terminal(t, place, server.env, ["resume", ...model])
  await left.see("which?")
  left.type("q\r")
  assert.equal(await left.exit, 0)
  const interrupted = terminal(t, place, server.env, ["resume", ...model])
  await interrupted.see("which?")
  interrupted.type("\u0003")
  assert.equal(await interrupted.exit, 130)
  const sub = { ...place, work: join(place.work, "sub") }
  const shown = terminal(t, sub, server.env, ["resume", "--all", ...model])
  await shown.see(`${place.work}  only`)
  await shown.see("which?")
  shown.type("\r")
  await shown.see("> ")
  shown.type("again\r")
  await shown.see("heard again")
  shown.type("\u0004")
  await shown.see(`to go on: legwork -r ${id}`)
  assert.equal(await shown.exit, 0)
})
