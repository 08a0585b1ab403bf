import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { open, readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { call, type Script, serve, steps } from "../../src/testing.ts"
import { type Home, home, type Ran } from "./binary.ts"
import { under } from "./limited.ts"

const args = ["--model", "anthropic/any", "--permission-mode", "bypass"]
const asJson = ["--output-format", "json", ...args]
const fileOf = (state: string, id: string) => join(state, "legwork/sessions", `${id}.jsonl`)

test("a damaged session goes on with what is whole, says what was lost, and nothing of its file is rewritten", async (t) => {
  await using server = await serve(({ messages }) =>
    messages.flatMap(({ role, text }) => (role === "user" ? [text] : [])).join(" "),
  )
  const { run, state } = await home(t)
  const { sessionId: id } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  const path = fileOf(state, id)
  const whole = await readFile(path, "utf8")
  const lines = whole.trimEnd().split("\n")
  const text = (all: string[]) => `${all.join("\n")}\n`
  const stranger = '{"seq":99,"at":1,"run":"x","type":"moon.rose","phase":3}'
  const cases: Record<string, { content: string; said: string; heard: string }> = {
    "a torn last line": { content: whole.slice(0, -40), said: "the last line was torn", heard: "first second" },
    "garbage and NULs in the middle": {
      content: text([...lines.slice(0, 3), "\0\0\0garbage", '{"seq":"x"}', ...lines.slice(3)]),
      said: "2 lines were not readable (lines 4, 5)",
      heard: "first second",
    },
    "lines that are there twice": {
      content: text([...lines, ...lines.slice(1)]),
      said: `${lines.length - 1} lines were there twice and dropped`,
      heard: "first second",
    },
    "facts of a later version": {
      content: text([...lines, stranger]),
      said: "1 fact of a kind",
      heard: "first second",
    },
    "a lost beginning": {
      content: text([lines[0]!, ...lines.slice(2)]),
      said: "stored facts made no sense and were left out",
      heard: "second",
    },
  }
  for (const [what, { content, said, heard }] of Object.entries(cases)) {
    await writeFile(path, content)
    const ran = await run(["-r", id, "-p", "second", ...asJson], { env: server.env })
    assert.equal(ran.code, 0, `${what}: ${ran.stderr}`)
    assert.equal(JSON.parse(ran.stdout).text, heard, what)
    assert.ok(ran.stderr.includes(said), `${what}: ${ran.stderr}`)
    assert.ok((await readFile(path, "utf8")).startsWith(content), what)
    const again = await run(["-r", id, "-p", "third", ...asJson], { env: server.env })
    assert.equal(JSON.parse(again.stdout).text, `${heard} third`, what)
  }
  assert.deepEqual(server.refused, [])
})

test("a session that cannot be read, or is a newer version's, is refused in a sentence and left alone", async (t) => {
  await using server = await serve(() => "ok")
  const { run, state } = await home(t)
  const { sessionId: id } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  const path = fileOf(state, id)
  const whole = await readFile(path, "utf8")
  const unreadable = `session ${id} cannot be read: the first line of ${path} is not that of a session; restore the file or start a new session`
  const cases: [content: string, said: string | RegExp][] = [
    ["", unreadable],
    ["\0".repeat(5_000), unreadable],
    [whole.slice(whole.indexOf("\n") + 1), unreadable],
    [whole.replace('"legwork":1', '"legwork":2'), /in format 2, and this version reads format 1; update Legwork/],
  ]
  for (const [content, said] of cases) {
    await writeFile(path, content)
    for (const asked of [
      ["-r", id, "-p", "second", ...args],
      ["sessions", "show", id],
    ]) {
      const ran = await run(asked, { env: server.env })
      assert.deepEqual([ran.code, ran.stdout], [1, ""], asked.join(" "))
      if (typeof said === "string") assert.equal(ran.stderr, `legwork: ${said}\n`)
      else assert.match(ran.stderr, said)
    }
    assert.match((await run(["sessions", "list"])).stdout, /^no sessions of /)
    assert.equal(await readFile(path, "utf8"), content)
  }
  assert.deepEqual(await readdir(join(path, "..")), [`${id}.jsonl`], "no lock is left")
})

test("a huge session file is read line by line, in little memory", async (t) => {
  await using server = await serve(() => "ok")
  const { run, state } = await home(t)
  const { sessionId: id } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  const file = await open(fileOf(state, id), "r+")
  await file.truncate(600 * 2 ** 20)
  await file.close()
  const program = `
    import { jsonl } from ${JSON.stringify(new URL("../../src/store/jsonl.ts", import.meta.url).href)}
    const { facts, lost } = await jsonl({ folder: process.argv[1] }).read(process.argv[2])
    console.log(JSON.stringify({ facts: facts.map(({ type }) => type), lost, megabytes: process.resourceUsage().maxRSS / 1024 }))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--input-type=module", "-e", program, join(state, "legwork"), id],
    {},
  )
  const { facts, lost, megabytes } = JSON.parse(stdout)
  assert.deepEqual(facts, ["run.opened", "mail.sent", "tools.offered", "mail.read", "turn.ended", "run.settled"])
  assert.match(lost[0], /^the last line was torn \(\d+ bytes dropped\)$/)
  assert.ok(megabytes < 300, `${megabytes} MB`)
})

/** Two commands that leave a trace, and between them enough reading to fill a small disk. */
const filling = steps(
  [call("bash", { command: "echo one >> trace" })],
  [call("read", { file_path: "long.txt" })],
  [call("read", { file_path: "long.txt", offset: 2 })],
  [call("bash", { command: "echo two >> trace" })],
  "done",
)
const long = { "long.txt": `${"x".repeat(900)}\n`.repeat(12) }

/** A limit on the size of files stands for a disk that is full. */
const onFullDisk = (t: Parameters<typeof home>[0], at: Home, env: NodeJS.ProcessEnv): Promise<Ran> =>
  under(t, 'ulimit -f 12; exec "$0" "$@"', at, { args: ["-p", "go", ...asJson], env })

test("on a full disk nothing more is done, the exit code is 74, and with room again the session goes on", async (t) => {
  await using server = await serve(filling)
  const at = await home(t, long)
  const ran = await onFullDisk(t, at, server.env)
  const { status, error, sessionId } = JSON.parse(ran.stdout)
  assert.deepEqual([ran.code, status, error.kind], [74, "failed", "store"], ran.stderr)
  assert.match(error.message, /^could not write to .*\.jsonl: EFBIG.*; make room on that disk and resume the session$/)
  assert.equal(await at.file("trace"), "one\n")
  const again = await at.run(["-r", sessionId, "-p", ...asJson], { env: server.env })
  assert.deepEqual([again.code, JSON.parse(again.stdout).text], [0, "done"], again.stderr)
  assert.match(again.stderr, /the last line was torn/)
  assert.equal(await at.file("trace"), "one\ntwo\n")
  assert.deepEqual(server.refused, [])
})

test("once the disk is full the model is asked at most once more", async (t) => {
  await using server = await serve(filling)
  await onFullDisk(t, await home(t, long), server.env)
  // What is written in one turn of the event loop is known to have failed only in the next.
  assert.ok(server.requests.length <= 3, `${server.requests.length} requests`)
})

test("where nothing can be stored it says so once, works all the same, and writes nothing into the project", async (t) => {
  const flood: Script = steps([call("bash", { command: "seq 20000" })], ({ last }) => last.slice(24_000, 26_000))
  for (const HOME of ["/dev/null/nobody", "/sys/nobody"]) {
    await using server = await serve(flood)
    const { run, work } = await home(t)
    const homeless = { HOME, XDG_STATE_HOME: undefined, XDG_CONFIG_HOME: undefined, TMPDIR: "/no/such/folder" }
    const ran = await run(["-p", "go", ...args], { env: { ...server.env, ...homeless } })
    assert.equal(ran.code, 0, ran.stderr)
    assert.equal(ran.stderr.match(/this session will not be kept/g)?.length, 1)
    assert.match(ran.stdout, /the whole could not be kept in a file: could not keep a text in \/no\/such\/folder/)
    assert.deepEqual(await readdir(work), [])
  }
})

test("without a temporary folder a session is kept as ever", async (t) => {
  await using server = await serve(steps([call("bash", { command: "seq 20000" })], ({ last }) => last))
  const { run, state } = await home(t)
  const ran = await run(["-p", "go", ...args], { env: { ...server.env, TMPDIR: "/no/such/folder" } })
  const kept = /all of it is in (.*\.txt): read that file/.exec(ran.stdout)?.[1] ?? assert.fail(ran.stdout)
  assert.ok(kept.startsWith(join(state, "legwork/sessions/")))
  assert.equal((await readFile(kept, "utf8")).split("\n").length, 20_001)
})

test("a state folder that is not absolute does not count, so that nothing is written into the project", async (t) => {
  await using server = await serve(() => "ok")
  const { run, work } = await home(t)
  const ran = await run(["-p", "go", ...args], { env: { ...server.env, XDG_STATE_HOME: "state" } })
  assert.deepEqual([ran.stdout, await readdir(work)], ["ok\n", []])
})

test("with an empty HOME nothing is written into the project", async (t) => {
  await using server = await serve(() => "ok")
  const { run, work } = await home(t)
  const ran = await run(["-p", "go", ...args], { env: { ...server.env, HOME: "", XDG_STATE_HOME: undefined } })
  assert.deepEqual([ran.stdout, await readdir(work)], ["ok\n", []])
})

test("a state folder behind a link to nowhere does not keep it from working", async (t) => {
  await using server = await serve(() => "ok")
  const { start, work } = await home(t)
  const link = join(work, "../unmounted")
  await symlink("/no/such/disk", link)
  const running = start(["-p", "go", ...args], { env: { ...server.env, XDG_STATE_HOME: link } })
  const limit = setTimeout(() => running.child.kill("SIGKILL"), 5_000)
  const ran = await running.done
  clearTimeout(limit)
  assert.deepEqual([ran.code, ran.stdout], [0, "ok\n"], ran.stderr)
  assert.match(ran.stderr, /this session will not be kept/)
})

test("a home where folders appear to be missing for ever does not hang it", async (t) => {
  await using server = await serve(() => "ok")
  const { start } = await home(t)
  const running = start(["-p", "go", ...args], { env: { ...server.env, XDG_STATE_HOME: "/proc/nobody" } })
  const limit = setTimeout(() => running.child.kill("SIGKILL"), 1_500)
  const ran = await running.done
  clearTimeout(limit)
  assert.equal(ran.stdout, "ok\n")
})
