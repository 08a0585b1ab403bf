import assert from "node:assert/strict"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { isHint } from "../../src/core/event.ts"
import { call, type Script, serve, steps } from "../../src/testing.ts"
import { eventsOf, type Home, home } from "./binary.ts"

/** Two commands that leave a trace each time they run, a read beside one, and an edit. */
const script: Script = steps(
  [call("read", { file_path: "a.txt" }), call("bash", { command: "echo one >> trace" })],
  [call("edit", { file_path: "a.txt", old_string: "alpha", new_string: "omega" })],
  [call("bash", { command: "echo two >> trace" })],
  "finished",
)
const files = { "a.txt": "alpha\n" }
const args = ["--model", "anthropic/any", "--permission-mode", "bypass"]

async function check({ work, run, state }: Home, id: string, env: NodeJS.ProcessEnv, when: string): Promise<void> {
  const path = join(state, "legwork/sessions", `${id}.jsonl`)
  const asked = (await readFile(path, "utf8")).includes('"mail.sent"')
  const ran = await run(["-r", id, "-p", "--output-format", "json", ...args], { env })
  if (!asked) {
    assert.equal(ran.code, 2, `${when}: ${ran.stderr}`)
    assert.match(ran.stderr, /was never asked anything; say what to do/)
    return
  }
  assert.equal(ran.code, 0, `${when}: ${ran.stderr}`)
  const { status, text } = JSON.parse(ran.stdout)
  assert.deepEqual([status, text], ["completed", "finished"], when)
  const trace = await readFile(join(work, "trace"), "utf8").catch(() => "")
  const times = (word: string) => trace.split("\n").filter((line) => line === word).length
  assert.ok(times("one") <= 1 && times("two") <= 1, `${when}: nothing is done twice, but: ${trace}`)
  const lines = (await readFile(path, "utf8")).trim().split("\n")
  const ended = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === "call.ended")
  assert.equal(new Set(ended.map(({ id }) => id)).size, ended.length, `${when}: each call has one result`)
  assert.equal(ended.length, 4, when)
}

test("killed -9 at any event that it shows, the session is resumed and ends as it would have", async (t) => {
  await using server = await serve(script)
  const whole = await home(t, files)
  const ran = await whole.run(["-p", "go", "--output-format", "stream-json", ...args], { env: server.env })
  const facts = eventsOf(ran).filter((event) => !isHint(event))
  assert.equal(facts.at(-1)?.type, "run.settled")
  for (let n = 2; n < facts.length; n++) {
    const each = await home(t, files)
    const running = each.start(["-p", "go", "--output-format", "stream-json", ...args], { env: server.env })
    let left = n
    const opened = await running.event(() => true)
    await running.event((event) => !isHint(event) && --left === 0)
    running.child.kill("SIGKILL")
    assert.equal((await running.done).signal, "SIGKILL")
    assert.ok(opened.type === "run.opened" && opened.session)
    await check(each, opened.session, server.env, `killed after ${n} facts (${facts[n - 1]?.type})`)
  }
  assert.deepEqual(server.refused, [])
})

test("with exactly the first n facts on disk, the session ends as it would have", async (t) => {
  await using server = await serve(script)
  const whole = await home(t, files)
  const ran = await whole.run(["-p", "go", "--output-format", "json", ...args], { env: server.env })
  const { sessionId } = JSON.parse(ran.stdout)
  const path = join("legwork/sessions", `${sessionId}.jsonl`)
  const lines = (await readFile(join(whole.state, path), "utf8")).trim().split("\n")
  const first = lines.findIndex((line) => line.includes('"mail.sent"')) + 1
  for (let n = first; n <= lines.length; n++) {
    // The same folder: what was done before the cut stays done.
    await writeFile(join(whole.state, path), `${lines.slice(0, n).join("\n")}\n`)
    const begun = lines.slice(0, n).filter((line) => line.includes('"call.started"') && line.includes('"bash"')).length
    await writeFile(join(whole.work, "trace"), ["one\n", "two\n"].slice(0, begun).join(""))
    // An edit that was planned may or may not have been made: both are tried.
    const edited = n % 2 === 0 && lines.slice(0, n).some((line) => line.includes('"call.planned"'))
    const ended = lines.slice(0, n).some((line) => line.includes('"did":"wrote"'))
    await writeFile(join(whole.work, "a.txt"), edited || ended ? "omega\n" : "alpha\n")
    await check(whole, sessionId, server.env, `${n} lines (${lines[n - 1]?.slice(0, 80)})`)
    assert.equal(await whole.file("trace"), "one\ntwo\n", `after ${n} lines`)
    assert.equal(await whole.file("a.txt"), "omega\n", `after ${n} lines`)
  }
  assert.deepEqual(server.refused, [])
})

test("a command that kills us is reported as cut off, and never made again", async (t) => {
  await using server = await serve(
    steps([call("bash", { command: "echo once >> trace; kill -9 $PPID; sleep 5" })], ({ last }) => last),
  )
  const each = await home(t)
  const running = each.start(["-p", "go", "--output-format", "stream-json", ...args], { env: server.env })
  const opened = await running.event(() => true)
  const died = await running.done
  assert.equal(died.signal, "SIGKILL", died.stderr)
  assert.ok(opened.type === "run.opened")
  const ran = await each.run(["-r", opened.session!, "-p", "--output-format", "json", ...args], { env: server.env })
  assert.match(JSON.parse(ran.stdout).text, /cut off before it ended: whether it took effect is unknown/)
  assert.equal(await each.file("trace"), "once\n")
})
