import assert from "node:assert/strict"
import { test } from "node:test"
import type { Event } from "../../src/core/event.ts"
import {
  call,
  cut,
  errorEvent,
  type Fault,
  fail,
  type Reply,
  raw,
  rawCall,
  type Script,
  serve,
  status,
  steps,
  tries,
} from "../../src/testing.ts"
import { eventsOf, home } from "./binary.ts"

const models = ["anthropic/any", "openai-chat/any", "openai-responses/any"]
const bypass = ["--permission-mode", "bypass"]
const anthropic = ["-p", "go", "--model", "anthropic/any", ...bypass]
const streamed = [...anthropic, "--output-format", "stream-json"]
const asJson = [...anthropic, "--output-format", "json"]

/** A fault of the server that passes at once. */
const soon = { headers: { "retry-after-ms": "1" } }
const failuresIn = (events: Event[]) =>
  events.flatMap((event) => (event.type === "turn.failed" ? [[event.error.kind, event.error.status, event.wait]] : []))

const waits: Record<string, { said: string; shortest: number; longest: number }> = {
  "3 seconds": { said: "3", shortest: 3_000, longest: 3_000 },
  "two minutes": { said: "120", shortest: 120_000, longest: 120_000 },
  "a date": { said: new Date(Date.now() + 100_000).toUTCString(), shortest: 60_000, longest: 100_000 },
}

for (const [what, { said, shortest, longest }] of Object.entries(waits)) {
  test(`a 429 that asks for ${what} is obeyed and shown, and the wait can be stopped`, async (t) => {
    await using server = await serve(() => status(429, { retryAfter: said }))
    const { start } = await home(t)
    const running = start(streamed, { env: server.env })
    const failed = await running.event(({ type }) => type === "turn.failed")
    assert.ok(failed.type === "turn.failed" && failed.wait !== null)
    assert.ok(failed.wait >= shortest && failed.wait <= longest, `${failed.wait}`)
    running.child.kill("SIGINT")
    const ran = await running.done
    assert.deepEqual([ran.code, server.requests.length], [130, 1])
    assert.match(ran.stderr, /429: .*; trying again in \d/)
  })
}

test("a 429 that asks for no wait or a short one is tried again and forgotten", async (t) => {
  for (const fault of [{ retryAfter: "0" }, { headers: { "retry-after-ms": "30" } }]) {
    await using server = await serve(tries(status(429, fault), "there"))
    const { run } = await home(t)
    const ran = await run(streamed, { env: server.env })
    const events = eventsOf(ran)
    const [failure, ...others] = failuresIn(events)
    assert.deepEqual(others, [])
    assert.deepEqual(failure?.slice(0, 2), ["rate_limit", 429])
    const settled = events.at(-1)
    assert.deepEqual(settled?.type === "run.settled" && settled.outcome, { status: "completed", text: "there" })
  }
})

test("a 429 that says no time, or nonsense, is tried three times: it may be a spending cap", async (t) => {
  await Promise.all(
    [{}, { retryAfter: "soon, I hope" }].map(async (fault) => {
      await using server = await serve(() => status(429, { message: "slow down", ...fault }))
      const { run } = await home(t)
      const ran = await run(asJson, { env: server.env })
      const { status: said, error } = JSON.parse(ran.stdout)
      assert.deepEqual([ran.code, said, error.kind, error.status], [1, "failed", "rate_limit", 429])
      assert.match(error.message, /slow down/)
      assert.equal(server.requests.length, 3)
    }),
  )
})

test("a provider that is ill for a while is asked again, and every try is in the log", async (t) => {
  // The lost connection comes first: on a kept socket it would be taken for one that was closed in passing.
  const ill = [fail("network"), status(500, soon), status(502, soon), status(503, soon), status(529, soon)]
  await using server = await serve(
    steps(...ill.map((fault) => tries<Parameters<Script>[0]>(fault, [call("ls")])), "well again"),
  )
  const { run } = await home(t)
  const ran = await run(streamed, { env: server.env })
  assert.equal(ran.code, 0, ran.stderr)
  assert.deepEqual(
    failuresIn(eventsOf(ran)).map(([kind, status]) => [kind, status]),
    [
      ["network", undefined],
      ["overloaded", 500],
      ["overloaded", 502],
      ["overloaded", 503],
      ["overloaded", 529],
    ],
  )
  assert.equal(server.requests.length, 11)
  const asked = server.requests.map(({ raw }) => raw)
  for (let n = 0; n < 10; n += 2) assert.equal(asked[n], asked[n + 1], "a try again is the same request")
})

test("a provider that stays ill is asked eight times, then the run fails with its reason", async (t) => {
  await using server = await serve(() => status(503, { message: "try tomorrow", ...soon }))
  const { run } = await home(t)
  const ran = await run(asJson, { env: server.env })
  assert.deepEqual([ran.code, server.requests.length], [1, 8])
  const { error } = JSON.parse(ran.stdout)
  assert.deepEqual(error, { kind: "overloaded", message: "anthropic said 503: try tomorrow", status: 503 })
})

test("what no other try would cure is told at once, each in its own words, and never with the key", async (t) => {
  const cases: [fault: Fault, kind: string, words: RegExp][] = [
    [status(400, { message: "max_tokens: too large" }), "bad_request", /max_tokens: too large/],
    [status(401, { message: "bad key sk-secret-1" }), "authentication", /check ANTHROPIC_API_KEY/],
    [status(403, { message: "not yours" }), "authentication", /not yours.*check ANTHROPIC_API_KEY/],
    [status(404, { message: "no such model" }), "not_found", /has no model "any".*check its name and the base URL/],
    [status(413, { message: "too large" }), "context_overflow", /the conversation is too long for any/],
    [
      status(400, { message: "prompt is too long: 9 tokens > 8 maximum" }),
      "context_overflow",
      /conversation is too long/,
    ],
    [errorEvent("authentication", "bad key sk-secret-1"), "authentication", /check ANTHROPIC_API_KEY/],
  ]
  for (const [fault, kind, words] of cases) {
    await using server = await serve(() => fault)
    const { run } = await home(t)
    const ran = await run(asJson, { env: { ...server.env, ANTHROPIC_API_KEY: "sk-secret-1" } })
    const { error } = JSON.parse(ran.stdout)
    assert.deepEqual([ran.code, error.kind, server.requests.length], [1, kind, 1])
    assert.match(error.message, words)
    assert.ok(ran.stderr.includes(`failed: ${error.message}`) && !/^\s+at /m.test(ran.stderr), ran.stderr)
    assert.ok(!`${ran.stdout}${ran.stderr}`.includes("sk-secret-1"))
  }
})

/** Half of an answer, each ending in another way, with a command in it that must never run. */
const broken: ((of: Reply) => Fault)[] = [
  (of) => cut("mid-event", { of }),
  (of) => cut("mid-utf8", { of }),
  (of) => cut("mid-call", { of }),
  (of) => cut("before-stop", { of, how: "end" }),
  (of) => errorEvent("overloaded", undefined, { of, at: "mid-call" }),
  () => raw("data: {half an event\n\n"),
]

test("of an answer that breaks off nothing is acted on or kept, and the next try is", async (t) => {
  const wrong: Reply = { text: "Nie — so nicht.", calls: [call("bash", { command: "echo wrong >> trace" })] }
  const right = (n: number): Reply => ({
    text: `part ${n}`,
    calls: [call("bash", { command: `echo right ${n} >> trace` })],
  })
  await Promise.all(
    models.map(async (model) => {
      const turns = broken.map((fault, n) => tries<Parameters<Script>[0]>(fault(wrong), right(n)))
      await using server = await serve(steps(...turns, ({ messages }) => JSON.stringify(messages)))
      const { run, file } = await home(t)
      const ran = await run(["-p", "go", "--model", model, ...bypass, "--output-format", "stream-json"], {
        env: server.env,
      })
      assert.equal(ran.code, 0, ran.stderr)
      const events = eventsOf(ran)
      assert.equal(failuresIn(events).length, broken.length, model)
      assert.equal(await file("trace"), broken.map((_, n) => `right ${n}\n`).join(""))
      const settled = events.at(-1)
      assert.ok(settled?.type === "run.settled" && !/so nicht|wrong/.test(settled.outcome.text), model)
      assert.deepEqual(server.refused, [])
    }),
  )
})

test("an answer cut at the token limit goes on once; an empty and a refused one are asked about once", async (t) => {
  const cases: [script: Script, code: number, text: string, requests: number][] = [
    [steps({ text: "one ", stop: "length" }, "two"), 0, "one two", 2],
    [() => ({ text: "and on ", stop: "length" }), 0, "and on and on ", 2],
    [() => "", 0, "(no summary)", 2],
    [() => ({ text: "I will not.", stop: "refusal" }), 1, "I will not.", 2],
  ]
  for (const [script, code, text, requests] of cases) {
    await using server = await serve(script)
    const { run } = await home(t)
    const ran = await run(asJson, { env: server.env })
    assert.deepEqual([ran.code, JSON.parse(ran.stdout).text, server.requests.length], [code, text, requests])
  }
})

test("arguments that are broken, deep, of wrong types or unknown are each that call's result, in all formats", async (t) => {
  const calls = [
    rawCall("read", '{"file_path": "a.t'),
    rawCall("read", `{"file_path": ${"[".repeat(100_000)}${"]".repeat(100_000)}}`),
    call("read", { file_path: 7 }),
    call("read", { file_path: "a.txt", colour: "red" }),
    rawCall("ls", '{"__proto__": {"path": "/"}}'),
    call("Read", { file_path: "a.txt" }),
    call("nothing"),
    call("read", { file_path: "a.txt" }),
  ]
  const words = [
    /not whole JSON/,
    /not whole JSON|do not fit/,
    /do not fit read:\n.*expected string, received number/,
    /do not fit read:\n.*"colour"/,
    /do not fit ls:\n.*"__proto__"/,
    /there is no tool named "Read"/,
    /there is no tool named "nothing"/,
    /^ *1\talpha/m,
  ]
  for (const model of models) {
    await using server = await serve(steps(calls, "coped"))
    const { run } = await home(t, { "a.txt": "alpha\n" })
    const ran = await run(["-p", "go", "--model", model, ...bypass], { env: server.env })
    assert.deepEqual([ran.code, ran.stdout], [0, "coped\n"], ran.stderr)
    const results = server.requests[1]!.messages.filter(({ role }) => role === "result")
    assert.equal(results.length, words.length)
    for (const [n, word] of words.entries()) assert.match(results[n]!.text, word)
    assert.deepEqual(server.refused, [])
  }
})

test("a name that no provider would take back is told to the model, and the conversation stays legal", async (t) => {
  for (const model of models) {
    await using server = await serve(steps([call(""), call("functions.read", {}), call("ls")], "coped"))
    const { run } = await home(t)
    const ran = await run(["-p", "go", "--model", model, ...bypass], { env: server.env })
    assert.deepEqual([ran.stdout, server.refused], ["coped\n", []], model)
  }
})

test("the same mistake three times in a row ends the run", async (t) => {
  await using server = await serve(() => [call("read", { file: "a.txt" })])
  const { run } = await home(t)
  const ran = await run(asJson, { env: server.env })
  const { error } = JSON.parse(ran.stdout)
  assert.deepEqual([ran.code, error.kind, server.requests.length], [1, "bad_calls", 3])
  assert.match(error.message, /made the same mistake 3 times: read: /)
})

test("two hundred calls in one turn, ids used twice among them, have one result each, in order", async (t) => {
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n + 1}`)
  // Every id stands twice, on different calls.
  const calls = lines.map((_, n) => call("read", { file_path: "a.txt", offset: n + 1, limit: 1 }, `id_${n >> 1}`))
  for (const model of models) {
    await using server = await serve(steps(calls, "done"))
    const { run } = await home(t, { "a.txt": `${lines.join("\n")}\n` })
    const ran = await run(["-p", "go", "--model", model], { env: server.env })
    assert.equal(ran.stdout, "done\n", ran.stderr)
    const results = server.requests[1]!.messages.filter(({ role }) => role === "result")
    assert.deepEqual(
      results.map(({ text }) => /\t(line \d+)$/m.exec(text)?.[1]),
      lines,
    )
    assert.equal(new Set(results.map(({ call }) => call)).size, 200)
    assert.deepEqual(server.refused, [])
  }
})

test("nothing that a provider says can steer the terminal", async (t) => {
  const steer = "\u001b]0;title\u0007\u001b[2Jred\u009b31m\r"
  const script = tries<Parameters<Script>[0]>(status(500, { message: steer, ...soon }), steer)
  await using server = await serve(script)
  const { run } = await home(t)
  const ran = await run(anthropic, { env: server.env })
  assert.equal(ran.stdout.trim(), "red31m")
  assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(ran.stderr), JSON.stringify(ran.stderr))
})
