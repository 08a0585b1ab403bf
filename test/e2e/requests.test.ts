import assert from "node:assert/strict"
import { mkdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import type { Usage } from "../../src/core/usage.ts"
import type { Sent } from "../../src/requests.ts"
import { type Asked, call, type Reply, serve, status, steps, tries } from "../../src/testing.ts"
import { type Home, home } from "./binary.ts"

const mark = ',"cache_control":{"type":"ephemeral"}'
const turnsIn = ({ messages }: Asked) => messages.filter(({ role }) => role === "assistant").length
const bytes = (value: unknown) => (value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value)))

function shared(one: string, other: string): { bytes: number; percent: number } {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  const differs = a.findIndex((byte, i) => byte !== b[i])
  const same = differs < 0 ? a.length : differs
  return { bytes: same, percent: Math.floor((same / a.length) * 1000) / 10 }
}

type About = { run: string; model: string; parent?: Asked }

/** The table, measured on what the server received. */
const measured = (received: readonly Asked[], usages: readonly Usage[], { run, model, parent }: About): Sent[] =>
  received.map((asked, i) => {
    const { raw, body, format } = asked
    const all = body as Record<string, unknown> & { messages?: unknown[] }
    const told = format === "chat" ? bytes(all.messages?.[0]) : 0
    const before = received[i - 1]?.raw
    const parts = {
      system: bytes(all.system ?? all.instructions) + told,
      tools: bytes(all.tools),
      messages: bytes(all.messages ?? all.input) - told,
    }
    const size = Buffer.byteLength(raw)
    const plain = before !== undefined && shared(raw.replaceAll(mark, ""), before.replaceAll(mark, ""))
    return {
      type: "request",
      run,
      number: i + 1,
      model,
      form: "wire",
      bytes: size,
      ...parts,
      settings: size - parts.system - parts.tools - parts.messages,
      before: plain ? { ...plain, marked: shared(raw, before).bytes } : null,
      parent: parent && i === 0 ? shared(raw, parent.raw) : null,
      usage: usages[i]!,
    }
  })

const usage = (n: number): Usage => ({ input: n, output: 2, cacheRead: 10 * n, cacheWrite: 3 * n, reasoning: 0 })

type Row = { type: string; run: string; system?: string; tools?: object[] }

const factsOf = async ({ run }: Home, session: string): Promise<Row[]> => {
  const { stdout } = await run(["sessions", "show", session, "--json"])
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
}
const runsOf = async (place: Home, session: string): Promise<string[]> =>
  (await factsOf(place, session)).flatMap(({ type, run }) => (type === "run.opened" ? [run] : []))
const requestsOf = async ({ run }: Home, session: string, ...more: string[]): Promise<Sent[]> =>
  JSON.parse((await run(["sessions", "show", session, "--requests", "--json", ...more])).stdout)

const begin = async ({ run }: Home, model: string, env: object, ...more: string[]): Promise<string> =>
  JSON.parse(
    (await run(["-p", "read a.txt – schön", "--model", model, "--output-format", "json", ...more], { env: { ...env } }))
      .stdout,
  ).sessionId

for (const model of ["anthropic/any", "openai-chat/gpt-5", "openai-responses/gpt-5", "openai-chat/gpt-4.1"]) {
  test(`the requests of ${model} are shown as they were received, to the byte`, async (t) => {
    await using server = await serve(
      steps<Asked>(
        { reasoning: "hmm", text: 'I say "look" 🐘', calls: [call("read", { file_path: "a.txt" })], usage: usage(1) },
        tries<Asked>(status(503, { retryAfter: "0", message: "not now" }), {
          calls: [call("ls", { path: "." }), call("read", { file_path: "none" })],
          usage: usage(2),
        }),
        { text: "it says – alpha\\", usage: usage(3) },
        { text: "as I said", usage: usage(4) },
      ),
    )
    const place = await home(t, { "a.txt": 'alpha "],"messages":[{"\u2028\\\n' })
    const session = await begin(place, model, server.env)
    await place.run(["-c", "-p", "sure?", "--model", model], { env: server.env })
    assert.deepEqual(server.refused, [])
    const answered = server.requests.filter((_, i) => i !== 1)
    assert.equal(answered.length, 4)
    const { run } = (await factsOf(place, session))[1]!
    const table = measured(answered, [1, 2, 3, 4].map(usage), { run, model })
    const shown = await requestsOf(place, session)
    const [failed] = shown.splice(1, 1)
    assert.deepEqual(shown, table)
    assert.ok(failed?.type === "failed")
    assert.deepEqual([failed.run, failed.error.status], [run, 503])
    assert.match(failed.error.message, /not now/)
  })
}

/** The main agent forks; the fork looks at a file and reports. */
const forking = (asked: Asked): Reply => {
  const forked = asked.messages.some(({ text }) => text.includes("(forked here)"))
  const turn = turnsIn(asked)
  if (forked) return turn === 2 ? [call("read", { file_path: "a.txt" })] : { text: "it is alpha", usage: usage(5) }
  if (turn === 0) return [call("ls", { path: "." })]
  return turn === 1 ? [call("task", { prompt: "look at a.txt", context: "fork" })] : "the fork says alpha"
}

for (const model of ["anthropic/any", "openai-chat/any"]) {
  test(`a fork of ${model} shares all but the closing bytes with its parent's last request`, async (t) => {
    await using server = await serve(forking)
    const place = await home(t, { "a.txt": "alpha\n" })
    const session = await begin(place, model, server.env)
    assert.deepEqual(server.refused, [])
    const [main, child] = await runsOf(place, session)
    const [one, two, first, second, last] = server.requests as [Asked, Asked, Asked, Asked, Asked]
    const shown = await requestsOf(place, session)
    const usages = shown.map((each) => (each.type === "request" ? each.usage : assert.fail()))
    assert.deepEqual(shown, [
      ...measured([one, two, last], usages.slice(0, 3), { run: main!, model }),
      ...measured([first, second], usages.slice(3), { run: child!, model, parent: two }),
    ])
    const { parent } = shown[3] as Extract<Sent, { type: "request" }>
    assert.equal(parent?.bytes, Buffer.byteLength(two.raw) - "]}".length)
    assert.deepEqual(await requestsOf(place, session, "--run", child!.slice(0, 6)), shown.slice(3))
    const facts = (await place.run(["sessions", "show", session, "--json", "--run", child!])).stdout.trim().split("\n")
    assert.deepEqual(
      facts.map((line) => JSON.parse(line).run),
      [undefined, ...facts.slice(1).map(() => child)],
    )
  })
}

test("people see the requests in columns, and a fork's own words without those of its parent", async (t) => {
  await using server = await serve(forking)
  const place = await home(t, { "a.txt": "alpha\n" })
  const session = await begin(place, "anthropic/any", server.env)
  const [main, child] = await runsOf(place, session)
  const { stdout } = await place.run(["sessions", "show", session, "--requests"])
  const tables = stdout.split("\n── ").slice(1)
  const lines = tables.map((each) => each.split("\n").slice(1, 4))
  assert.match(tables[0]!, new RegExp(`^${main} · main · anthropic/any · completed · `))
  assert.match(tables[1]!, new RegExp(`^agent ${child} from main · fork · anthropic/any · completed · `))
  const [titles, first, second] = lines[1]!
  assert.match(
    titles!,
    /^# +bytes +system +tools +messages +settings +as before +as parent +cache read +cache write +input +output$/,
  )
  assert.match(first!, /^1( +[\d,]+){5} +– +[\d,]+ +\d\d\.\d %( +[\d,]+){4}$/)
  assert.match(second!, /^2( +[\d,]+){5} +[\d,]+ +9\d\.\d % +– +50 +15 +5 +2$/)
  assert.deepEqual(new Set(lines[1]!.map((line) => line.length)), new Set([titles!.length]))
  assert.match(stdout, /cache marks do not count/)
  const said = (await place.run(["sessions", "show", session, "--run", child!])).stdout
  assert.equal(said.split("\n── ").length, 2)
  assert.match(said, /\n\(goes on from 4 messages of its parent's conversation\)\n/)
  assert.match(said, /\n> look at a\.txt\n/)
  for (const line of ["> read a.txt – schön", "  ls .", "    (forked here)"])
    assert.ok(!said.includes(`\n${line}`), line)
})

test("a run that is not there is refused with those that are; so is the beginning of several", async (t) => {
  await using server = await serve(forking)
  const place = await home(t, { "a.txt": "alpha\n" })
  const session = await begin(place, "anthropic/any", server.env)
  const [main, child] = await runsOf(place, session)
  const all = `${main} (main), ${child} (fork)`
  for (const more of [[], ["--requests"], ["--json"]]) {
    const unknown = await place.run(["sessions", "show", session, "--run", "zzz", ...more])
    const message = `legwork: there is no run "zzz" in this session; there are ${all}\n`
    assert.deepEqual([unknown.code, unknown.stdout, unknown.stderr], [2, "", message])
  }
  const several = await place.run(["sessions", "show", session, "--run", ""])
  assert.deepEqual(
    [several.code, several.stderr],
    [2, `legwork: several runs begin with "": ${all}; write more of it\n`],
  )
})

test("settings, limits and the tuning of an agent are in what is shown, as they were in what was sent", async (t) => {
  const agent = "---\nname: warm\ndescription: d\ntools: read\nmaxTurns: 1\ntemperature: 0.3\n---\nx\n"
  await using server = await serve((asked) => {
    if (asked.system.startsWith("x"))
      return asked.last.includes("all your turns") ? "no more" : [call("read", { file_path: "a.txt" })]
    return turnsIn(asked) === 0 ? [call("task", { prompt: "p", subagent_type: "warm" })] : "done"
  })
  const place = await home(t, {
    "a.txt": "a\n",
    ".legwork/agents/warm.md": agent,
    ".legwork/settings.json": '{"effort":"low"}',
  })
  const model = "openai-chat/any"
  const session = await begin(place, model, server.env)
  const [first, one, two, last] = server.requests as [Asked, Asked, Asked, Asked]
  assert.deepEqual(
    [first, one, two].map(({ body }) => [body.reasoning_effort, body.temperature, body.tool_choice]),
    [
      ["low", undefined, undefined],
      ["low", 0.3, undefined],
      ["low", 0.3, "none"],
    ],
  )
  const shown = await requestsOf(place, session)
  const usages = shown.map((each) => (each.type === "request" ? each.usage : assert.fail()))
  const [main, child] = [shown[0]!.run, shown[2]!.run]
  assert.deepEqual(shown, [
    ...measured([first, last], usages.slice(0, 2), { run: main, model }),
    ...measured([one, two], usages.slice(2), { run: child, model, parent: first }),
  ])
})

test("a conversation that was made shorter is shown as sent, and whole where people read it", async (t) => {
  const isSummary = ({ system }: Asked) => system.startsWith("You shorten the conversation")
  await using server = await serve((asked) => {
    if (isSummary(asked)) return { text: "three files were read", usage: usage(100) }
    const n = asked.messages.filter(({ text }) => text.includes("line of")).length
    return {
      text: "thinking aloud ".repeat(200),
      calls: [call("read", { file_path: `${n}.txt` })],
      usage: usage(9),
    }
  })
  const place = await home(t, { "0.txt": "line of 0\n", "1.txt": "line of 1\n", "2.txt": "line of 2\n" })
  const folder = join(place.env.XDG_CONFIG_HOME!, "legwork")
  await mkdir(folder, { recursive: true })
  const settings = { providers: { anthropic: { models: { any: { window: 9_000 } } } } }
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings))
  const model = "anthropic/any"
  const session = await begin(place, model, server.env, "--max-turns", "8")
  assert.deepEqual(server.refused, [])
  const shown = await requestsOf(place, session)
  const asked = shown.filter(({ type }) => type === "request")
  const answered = server.requests.filter((each) => !isSummary(each))
  assert.ok(answered.length < server.requests.length)
  assert.deepEqual(
    asked,
    measured(
      answered,
      answered.map(() => usage(9)),
      { run: shown[0]!.run, model },
    ),
  )
  const short = shown.filter((each) => each.type === "compacted")
  assert.deepEqual(
    short.map(({ run, before, after, usage }) => [run, before > after, usage]),
    short.map(() => [shown[0]!.run, true, usage(100)]),
  )
  const line = /\ncompacted: \d\.\dk → \d\.\dk tokens \(its summary took 1,400 tokens in, 2 out\)\n/
  assert.match((await place.run(["sessions", "show", session, "--requests"])).stdout, line)
  const said = (await place.run(["sessions", "show", session])).stdout
  assert.match(said, line)
  assert.equal(said.split("thinking aloud \n").length - 1, answered.length)
  assert.ok(!said.includes("three files were read"))
})

test("where a model is not asked in a format of ours, sizes are of Legwork's own form", async (t) => {
  const place = await home(t, { "a.txt": "alpha\n" })
  const session = await begin(place, "offline/legwork", {})
  const shown = await requestsOf(place, session)
  const [first] = shown
  assert.ok(first?.type === "request")
  const facts = await factsOf(place, session)
  const { system } = facts.find(({ type }) => type === "run.opened")!
  const { tools } = facts.find(({ type }) => type === "tools.offered")!
  const body = { system, tools, messages: [{ role: "user", text: "read a.txt – schön" }] }
  assert.deepEqual(
    [first.form, first.bytes, first.system, first.tools, first.messages],
    ["own", bytes(body), bytes(system), bytes(body.tools), bytes(body.messages)],
  )
  const { stdout } = await place.run(["sessions", "show", session, "--requests"])
  assert.match(stdout, /own form/)
})

test("a session of an older version, whose folder is gone, is shown without the tools that nobody wrote down", async (t) => {
  await using server = await serve(() => ({ text: "ok", usage: usage(1) }))
  const place = await home(t, { "sub/a": "" })
  const model = "anthropic/any"
  const session = await begin(place, model, server.env, "--cwd", "sub")
  await rm(join(place.work, "sub"), { recursive: true })
  const file = join(place.state, `legwork/sessions/${session}.jsonl`)
  const lines = (await readFile(file, "utf8")).split("\n")
  await writeFile(file, lines.filter((line) => !line.includes('"tools.offered"')).join("\n"))
  const { tools: _, ...body } = server.requests[0]!.body
  const raw = JSON.stringify(body)
  const shown = await requestsOf(place, session)
  assert.deepEqual(shown, measured([{ ...server.requests[0]!, body, raw }], [usage(1)], { run: shown[0]!.run, model }))
  assert.ok(shown[0]?.type === "request" && shown[0].tools === 0)
})
