import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { mkdir, readdir, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { call, serve, steps } from "../../src/testing.ts"
import { bin, home } from "./binary.ts"

const model = ["--model", "anthropic/any"]
const asJson = [...model, "--output-format", "json"]

test("-c and -r go on with what was said before", async (t) => {
  await using server = await serve(({ messages }) => messages.map(({ text }) => text).join(" | "))
  const { run } = await home(t)
  const { env } = server
  const one = JSON.parse((await run(["-p", "first", ...asJson], { env })).stdout)
  const two = JSON.parse((await run(["-c", "-p", "second", ...asJson], { env })).stdout)
  assert.deepEqual([two.sessionId, two.text], [one.sessionId, "first | first | second"])
  const three = JSON.parse((await run(["-r", one.sessionId, "-p", "third", ...asJson], { env })).stdout)
  assert.equal(three.text, "first | first | second | first | first | second | third")
  assert.equal(server.requests[2]!.system, server.requests[0]!.system)
})

test("a session belongs to its folder", async (t) => {
  await using server = await serve(() => "ok")
  const { run, work } = await home(t, { "sub/a": "" })
  const { sessionId } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  const ran = await run(["-r", sessionId, "-p", "x", ...asJson, "--cwd", "sub"], { env: server.env })
  assert.deepEqual(
    [ran.code, ran.stderr],
    [2, `legwork: session ${sessionId} belongs to ${work}; go there, or name it with --cwd\n`],
  )
})

test("a session that another process has is refused", async (t) => {
  await using server = await serve(steps([call("bash", { command: "sleep 30" })], "end"))
  const { run, start } = await home(t)
  const running = start(["-p", "go", ...model, "--permission-mode", "bypass", "--output-format", "stream-json"], {
    env: server.env,
  })
  const opened = await running.event(({ type }) => type === "run.opened")
  await running.event(({ type }) => type === "call.started")
  assert.ok(opened.type === "run.opened")
  const ran = await run(["-r", opened.session!, "-p", "x", ...model], { env: server.env })
  assert.equal(ran.code, 1)
  assert.match(ran.stderr, new RegExp(`${running.child.pid}`))
})

test("sessions are listed and shown, to people and to programs", async (t) => {
  await using server = await serve(steps([call("read", { file_path: "a.txt" })], "it says alpha"))
  const { run, work } = await home(t, { "a.txt": "alpha\n" })
  assert.match((await run(["sessions", "list"])).stdout, /^no sessions of /)
  const { sessionId } = JSON.parse((await run(["-p", "what does a.txt say?", ...asJson], { env: server.env })).stdout)
  const listed = await run(["sessions", "list"])
  assert.match(
    listed.stdout,
    new RegExp(`^${sessionId}  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  what does a.txt say\\?\\n$`),
  )
  const [row] = JSON.parse((await run(["sessions", "list", "--json"])).stdout)
  assert.deepEqual([row.id, row.cwd, row.title, row.running], [sessionId, work, "what does a.txt say?", false])
  const shown = await run(["sessions", "show", sessionId])
  for (const part of ["> what does a.txt say?", "  read a.txt", "it says alpha", "completed", "1 tool"])
    assert.ok(shown.stdout.includes(part), part)
  const lines = (await run(["sessions", "show", sessionId, "--json"])).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    [lines[0].legwork, lines[0].id, lines[1].type, lines.at(-1).type],
    [1, sessionId, "run.opened", "run.settled"],
  )
})

test("a run is shown with who started it, and without what it knows of its parent's conversation", async (t) => {
  await using server = await serve(({ system, messages }) => {
    const turn = messages.filter(({ role }) => role === "assistant").length
    if (system.startsWith("INNER")) return "the innermost"
    if (system.startsWith("OUTER"))
      return messages.at(-1)?.role === "result"
        ? "the outer"
        : [call("task", { prompt: "deeper", subagent_type: "inner" })]
    if (turn === 0) return [call("read", { file_path: "a.txt" })]
    return turn === 1 ? [call("task", { prompt: "deep", subagent_type: "outer", context: "filtered" })] : "end"
  })
  const agent = (name: string) => `---\nname: ${name}\ndescription: d\n---\n${name.toUpperCase()}\n`
  const files = {
    "a.txt": "alpha\n",
    ".legwork/agents/inner.md": agent("inner"),
    ".legwork/agents/outer.md": agent("outer"),
  }
  const { run, env } = await home(t, files)
  const folder = join(env.XDG_CONFIG_HOME!, "legwork")
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, "settings.json"), '{"limits":{"depth":2}}')
  const { sessionId } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  const { stdout } = await run(["sessions", "show", sessionId])
  const heads = stdout.match(/(?<=^── ).*? · \w+ · /gm) ?? []
  const [main, outer, inner] = heads.map((line) => /\b[0-9a-f]{8}\b/.exec(line)?.[0])
  assert.deepEqual(heads, [
    `${main} · main · `,
    `agent ${outer} from main · outer · `,
    `agent ${inner} from agent ${outer} · inner · `,
  ])
  const said = stdout.split(/\n── .*\n/).slice(2)
  const report = /the innermost agent .* tokens/
  assert.deepEqual(
    said.map((each) => each.replace(report, "(report)")),
    [
      "(goes on from 4 messages of its parent's conversation)\n\n> deep\n\n  task deeper\n    (report)\nthe outer\n",
      "\n> deeper\n\nthe innermost\n",
    ],
  )
})

test("session files are private", async (t) => {
  await using server = await serve(() => "ok")
  const { run, state } = await home(t)
  await run(["-p", "go", ...model], { env: server.env })
  const folder = join(state, "legwork/sessions")
  const modes = await Promise.all(
    [folder, ...(await readdir(folder)).map((name) => join(folder, name))].map(
      async (path) => (await stat(path)).mode & 0o077,
    ),
  )
  assert.ok(modes.length > 1)
  assert.deepEqual(new Set(modes), new Set([0]))
})

test("a state folder that cannot be made costs the session's file and nothing else", async (t) => {
  await using server = await serve(() => "ok")
  const { run, work } = await home(t, { "a.txt": "" })
  const ran = await run(["-p", "go", ...model], { env: { ...server.env, XDG_STATE_HOME: join(work, "a.txt") } })
  assert.deepEqual([ran.code, ran.stdout], [0, "ok\n"])
  assert.match(ran.stderr, /this session will not be kept/)
  assert.deepEqual(await readdir(work), ["a.txt"])
})

test("a damaged session goes on with what is whole, and says what was lost", async (t) => {
  await using server = await serve(({ messages }) => `${messages.length}`)
  const { run, state } = await home(t)
  const { sessionId } = JSON.parse((await run(["-p", "first", ...asJson], { env: server.env })).stdout)
  await writeFile(join(state, `legwork/sessions/${sessionId}.jsonl`), '\u0000garbage\n{"seq":', { flag: "a" })
  const ran = await run(["-r", sessionId, "-p", "second", ...asJson], { env: server.env })
  assert.equal(JSON.parse(ran.stdout).text, "3")
  assert.match(ran.stderr, /not readable|torn/)
})

test("doctor says what is there, what is missing, and how to get it", async (t) => {
  const { run, state } = await home(t)
  const ran = await run(["doctor", "--json"], { env: { ANTHROPIC_API_KEY: "sk-secret" } })
  const found = Object.fromEntries(
    JSON.parse(ran.stdout).map(({ what, state, said }: Record<string, string>) => [what, [state, said]]),
  )
  assert.match(found.node[1], /^v2[4-9]/)
  assert.match(found.ripgrep[1], /^ripgrep \d/)
  assert.match(found.git[1], /^git version/)
  assert.deepEqual(found.sessions, ["ok", join(state, "legwork")])
  assert.deepEqual(found.keys, ["ok", "ANTHROPIC_API_KEY"])
  assert.match(found.model[1], /^anthropic\/claude/)
  assert.ok(!ran.stdout.includes("sk-secret"))
  assert.equal(ran.code, 0)
  const none = await run(["doctor"])
  assert.match(none.stdout, /keys +none is set, so the offline model answers/)
  assert.match(none.stdout, /model +offline\/legwork/)
})

test("a state folder that leads nowhere costs the session's file and nothing else", async (t) => {
  await using server = await serve(() => "ok")
  const { run } = await home(t)
  const ran = await run(["-p", "go", ...model], { env: { ...server.env, XDG_STATE_HOME: "/proc/nope" } })
  assert.deepEqual([ran.code, ran.stdout], [0, "ok\n"])
  assert.match(ran.stderr, /this session will not be kept/)
})

test("a model that is asked for wins over the one that a session was begun with", async (t) => {
  await using server = await serve(({ model }) => `I am ${model}`)
  const { run } = await home(t)
  await run(["-p", "first", "--model", "anthropic/one"], { env: server.env })
  assert.equal(
    (await run(["-c", "-p", "second", "--model", "anthropic/two"], { env: server.env })).stdout,
    "I am two\n",
  )
  assert.equal((await run(["-c", "-p", "third"], { env: server.env })).stdout, "I am two\n")
})

test("output that cannot be written is said, without a stack", async (t) => {
  const { env, work } = await home(t)
  const full = openSync("/dev/full", "w")
  t.after(() => closeSync(full))
  const ran = spawnSync(bin, ["-p", "hi"], { cwd: work, env, stdio: ["ignore", full, "pipe"], encoding: "utf8" })
  assert.equal(ran.status, 74, ran.stderr)
  assert.match(ran.stderr, /the output cannot be written: .*ENOSPC/)
})
