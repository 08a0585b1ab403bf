import assert from "node:assert/strict"
import { test } from "node:test"
import { call, serve, status, steps } from "../../src/testing.ts"
import { eventsOf, home } from "./binary.ts"

const formats = [
  { model: "anthropic/any", format: "anthropic" },
  { model: "openai/any", format: "chat" },
  { model: "openai-chat/any", format: "chat" },
  { model: "openai-responses/any", format: "responses" },
]

for (const { model, format } of formats) {
  test(`${model} reads, writes and answers over HTTP`, async (t) => {
    await using server = await serve(
      steps(
        { text: "Let me look.", calls: [call("read", { file_path: "a.txt" }), call("grep", { pattern: "alpha" })] },
        [call("write", { file_path: "b.txt", content: "beta\n" }), call("bash", { command: "cat a.txt b.txt" })],
        "All done.",
      ),
    )
    const { run, file } = await home(t, { "a.txt": "alpha\n" })
    const ran = await run(["-p", "go", "--model", model, "--permission-mode", "bypass"], { env: server.env })
    assert.deepEqual([ran.code, ran.stdout], [0, "All done.\n"], ran.stderr)
    assert.equal(await file("b.txt"), "beta\n")
    assert.deepEqual(server.refused, [])
    assert.deepEqual(
      server.requests.map((asked) => asked.format),
      [format, format, format],
    )
    const results = server.requests[2]!.messages.filter(({ role }) => role === "result").map(({ text }) => text)
    assert.match(results[0]!, /^ *1\talpha$/m)
    assert.match(results[1]!, /a\.txt/)
    assert.match(results[3]!, /alpha\nbeta/)
  })
}

test("json output is one object with everything in it", async (t) => {
  await using server = await serve(
    steps([call("bash", { command: "touch x" })], { text: "could not", usage: { input: 1_000_000, output: 10 } }),
  )
  const { run } = await home(t)
  const args = ["-p", "go", "--model", "anthropic/claude-sonnet-4-5", "--output-format", "json"]
  const ran = await run(args, { env: server.env })
  assert.equal(ran.code, 0, ran.stderr)
  const { sessionId, durationMs, runs, usage, cost, refused, ...rest } = JSON.parse(ran.stdout)
  assert.deepEqual(rest, { status: "completed", text: "could not", toolCalls: 1 })
  assert.match(sessionId, /^\d{8}-\d{6}-[0-9a-f]{16}$/)
  assert.ok(Number.isInteger(durationMs) && durationMs >= 0)
  assert.equal(runs.length, 1)
  assert.deepEqual(
    { ...runs[0], id: "", usage: 0, cost: 0 },
    {
      id: "",
      agent: "main",
      model: "anthropic/claude-sonnet-4-5",
      depth: 0,
      parent: null,
      status: "completed",
      toolCalls: 1,
      usage: 0,
      cost: 0,
    },
  )
  assert.ok(usage.input >= 1_000_000 && cost >= 3)
  assert.deepEqual(
    refused.map((each: { what: string }) => each.what),
    ["run touch x"],
  )
  assert.match(ran.stderr, /refused: run touch x/)
})

test("an unknown price is unknown, not nothing", async (t) => {
  await using server = await serve(() => "hello")
  const { run } = await home(t)
  const ran = await run(["-p", "go", "--model", "anthropic/any", "--output-format", "json"], { env: server.env })
  assert.equal(JSON.parse(ran.stdout).cost, null)
  assert.match(ran.stderr, /cost unknown/)
})

test("stream-json prints the events themselves, flat and in order", async (t) => {
  await using server = await serve(steps([call("read", { file_path: "a.txt" })], "two words"))
  const { run } = await home(t, { "a.txt": "alpha\n" })
  const ran = await run(["-p", "go", "--model", "anthropic/any", "--output-format", "stream-json"], { env: server.env })
  const events = eventsOf(ran)
  assert.deepEqual(
    events.map(({ type }) => type).filter((type, n, all) => type !== all[n - 1]),
    [
      "run.opened",
      "mail.sent",
      "tools.offered",
      "mail.read",
      "turn.ended",
      "call.started",
      "call.ended",
      "turn.delta",
      "turn.ended",
      "run.settled",
    ],
  )
  assert.ok(events.every(({ seq, at, run }, n) => seq === n + 1 && at > 0 && run === events[0]!.run))
  const settled = events.at(-1)
  assert.deepEqual(settled?.type === "run.settled" && settled.outcome, { status: "completed", text: "two words" })
})

test("the prompt may come from standard input, alone or as an addition", async (t) => {
  await using server = await serve(({ last }) => `heard: ${last}`)
  const { run } = await home(t)
  const model = ["--model", "anthropic/any"]
  assert.equal((await run(["-p", ...model], { env: server.env, input: "from a pipe" })).stdout, "heard: from a pipe\n")
  assert.equal(
    (await run(["-p", "review this", ...model], { env: server.env, input: "a diff" })).stdout,
    "heard: review this\n\n<stdin>\na diff\n</stdin>\n",
  )
  assert.equal((await run([...model, "no option needed"], { env: server.env })).stdout, "heard: no option needed\n")
})

test("an input that stays open does not hold up a prompt", async (t) => {
  await using server = await serve(({ last }) => `heard: ${last}`)
  const { start } = await home(t)
  const running = start(["-p", "go", "--model", "anthropic/any"], { env: server.env, input: { open: true } })
  assert.equal((await running.done).stdout, "heard: go\n")
})

test("the system prompt has the project's instructions, and the working folder is the one asked for", async (t) => {
  await using server = await serve(() => "ok")
  const { run, work } = await home(t, { "sub/AGENTS.md": "Always say please." })
  await run(["-p", "go", "--model", "anthropic/any", "--cwd", "sub"], { env: server.env })
  assert.match(server.requests[0]!.system, /Always say please\./)
  assert.ok(server.requests[0]!.system.includes(`Working folder: ${work}/sub`))
})

test("the turn limit ends with 53 and a summary", async (t) => {
  await using server = await serve(({ body }) => ("tool_choice" in body ? "so far" : [call("ls", {})]))
  const { run } = await home(t)
  const ran = await run(["-p", "go", "--model", "anthropic/any", "--max-turns", "2", "--output-format", "json"], {
    env: server.env,
  })
  assert.equal(ran.code, 53)
  const { status, text } = JSON.parse(ran.stdout)
  assert.deepEqual([status, text], ["max_turns", "so far"])
  assert.equal(server.requests.length, 3)
})

test("a provider that says no is one plain message and exit 1, and the key is never shown", async (t) => {
  await using server = await serve(() => status(401, { message: "invalid x-api-key: sk-secret-123" }))
  const { run } = await home(t)
  const env = { ...server.env, ANTHROPIC_API_KEY: "sk-secret-123" }
  const ran = await run(["-p", "go", "--model", "anthropic/any", "--output-format", "json"], { env })
  assert.equal(ran.code, 1)
  const { status: said, error } = JSON.parse(ran.stdout)
  assert.deepEqual([said, error.kind], ["failed", "authentication"])
  assert.match(error.message, /ANTHROPIC_API_KEY/)
  assert.ok(!`${ran.stdout}${ran.stderr}`.includes("sk-secret-123"))
  assert.equal(server.requests.length, 1)
})

test("wrong usage ends with 2 and says what to do", async (t) => {
  const { run } = await home(t)
  const cases: [string[], RegExp][] = [
    [["-p"], /there is nothing to do; say what/],
    [["-p", "x", "--output-format", "xml"], /Allowed choices are text, json, stream-json/],
    [["-p", "x", "--permission-mode", "yolo"], /Allowed choices are default, acceptEdits, plan, bypass/],
    [["-p", "x", "--max-turns", "many"], /--max-turns: must be a whole number/],
    [["-p", "x", "--nonsense"], /unknown option '--nonsense'/],
    [["-p", "x", "--model", "anthropic/any"], /ANTHROPIC_API_KEY/],
    [["-p", "x", "--model", "antropic/any"], /anthropic/],
    [["-p", "x", "-c"], /there is no session of .* to go on with/],
    [["-p", "x", "-c", "-r", "y"], /exclude each other/],
    [["-p", "x", "-r", "20260101-000000-0000000000000000"], /session/],
    [["-p", "x", "-r", "../../etc/passwd"], /session/],
    [["-p", "x", "--cwd", "/no/such/folder"], /\/no\/such\/folder/],
  ]
  for (const [args, message] of cases) {
    const ran = await run(args)
    assert.deepEqual([ran.code, ran.stdout], [2, ""], `${args.join(" ")}: ${ran.stderr}`)
    assert.match(ran.stderr, message)
    assert.ok(!/^\s+at /m.test(ran.stderr), `no stack: ${ran.stderr}`)
  }
})

test("help teaches, and the version is the package's", async (t) => {
  const { run } = await home(t)
  const help = await run(["--help"])
  assert.equal(help.code, 0)
  for (const word of ["Examples:", "--output-format", "stream-json", "sessions", "doctor", "Exit codes"])
    assert.ok(help.stdout.includes(word), word)
  const { default: manifest } = await import("../../package.json", { with: { type: "json" } })
  assert.equal((await run(["--version"])).stdout, `${manifest.version}\n`)
})

test("without a key the offline model searches with the real tools and says what it is", async (t) => {
  const { run } = await home(t, {
    "src/permit.ts": "// decides\nexport function permit(call) {\n  return rules.allow(call)\n}\n",
    "test/permit.test.ts": 'test("permit refuses by default", () => {})\n',
    "other.txt": "nothing of interest\n",
  })
  const ran = await run(["-p", "how are calls permitted, and where is that tested?"])
  assert.equal(ran.code, 0)
  assert.match(ran.stdout, /^src\/permit\.ts:2: export function permit\(call\) \{$/m)
  assert.match(ran.stdout, /^test\/permit\.test\.ts:1: /m)
  assert.ok(!ran.stdout.includes("other.txt"))
  assert.match(ran.stderr, /no key is set, so the offline model answers/)
})

test("at the turn limit the offline model still tells what its children found", async (t) => {
  const { run } = await home(t, { "src/permit.ts": "export function permit() {}\n" })
  const ran = await run(["-p", "where is permit?", "--max-turns", "1"])
  assert.equal(ran.code, 53)
  assert.match(ran.stdout, /^src\/permit\.ts:1: export function permit\(\) \{\}$/m)
})
