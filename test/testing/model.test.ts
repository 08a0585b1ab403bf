import assert from "node:assert/strict"
import test from "node:test"
import type { Message } from "../../src/core/message.ts"
import { noUsage } from "../../src/core/usage.ts"
import type { Delta, Listen, Request } from "../../src/model/model.ts"
import { call, fail, type Reply, rawCall, scripted, steps } from "../../src/testing.ts"

const request = (messages: Message[] = [{ role: "user", text: "hello" }]): Request => ({
  system: "be brief",
  tools: [],
  messages,
  toolChoice: "auto",
  memo: {},
})

function listening(signal = new AbortController().signal): Listen & { deltas: Delta[] } {
  const deltas: Delta[] = []
  return { signal, deltas, delta: (delta) => deltas.push(delta), failed: () => assert.fail("it makes no second try") }
}

test("text comes word by word, and whole in the answer", async () => {
  const listen = listening()
  const answer = await scripted(() => "Two words").stream(request(), listen)
  assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "Two words" }], stop: "end", usage: noUsage() })
  assert.deepEqual(listen.deltas, [
    { kind: "text", text: "Two" },
    { kind: "text", text: " words" },
  ])
})

test("calls get ids that are new in their conversation", async () => {
  const model = scripted(() => [call("read", { path: "a" }), call("ls"), call("read", { path: "b" }, "mine")])
  const before: Message[] = [
    { role: "user", text: "go" },
    { role: "assistant", parts: [{ type: "call", id: "call_2_1", name: "ls", input: {} }] },
    { role: "result", call: "call_2_1", name: "ls", ok: true, text: "" },
  ]
  const answer = await model.stream(request(before), listening())
  assert.deepEqual(answer, {
    ok: true,
    parts: [
      { type: "call", id: "call_2_2", name: "read", input: { path: "a" } },
      { type: "call", id: "call_2_3", name: "ls", input: {} },
      { type: "call", id: "mine", name: "read", input: { path: "b" } },
    ],
    stop: "calls",
    usage: noUsage(),
  })
})

test("arguments that are not JSON are broken, and no arguments are none", async () => {
  const calls = [rawCall("read", '{"path":', "a"), rawCall("ls", "", "b"), rawCall("ls", '{"all":true}', "c")]
  const answer = await scripted(() => calls).stream(request(), listening())
  assert.deepEqual(answer.ok && answer.parts, [
    { type: "call", id: "a", name: "read", input: {}, broken: '{"path":' },
    { type: "call", id: "b", name: "ls", input: {} },
    { type: "call", id: "c", name: "ls", input: { all: true } },
  ])
})

test("a reply may give everything: parts, reasoning, text, calls, stop and usage", async () => {
  const listen = listening()
  const reply: Reply = {
    parts: [{ type: "redacted", data: "secret" }],
    reasoning: "let me think",
    text: "so",
    calls: [call("ls", {}, "x")],
    stop: "length",
    usage: { output: 7 },
  }
  assert.deepEqual(await scripted(() => reply).stream(request(), listen), {
    ok: true,
    parts: [
      { type: "reasoning", text: "", by: "scripted", proof: "secret" },
      { type: "reasoning", text: "let me think", by: "scripted" },
      { type: "text", text: "so" },
      { type: "call", id: "x", name: "ls", input: {} },
    ],
    stop: "length",
    usage: { ...noUsage(), output: 7 },
  })
  assert.deepEqual(listen.deltas.at(0), { kind: "reasoning", text: "let" })
})

test("a failure is an answer, and passing ones may be tried again", async () => {
  const answers = [fail("rate_limit", "slow down", { status: 429, retryAfter: 3_000 }), fail("authentication")]
  const model = scripted((_, n) => answers[n]!)
  assert.deepEqual(await model.stream(request(), listening()), {
    ok: false,
    error: { kind: "rate_limit", message: "slow down", status: 429 },
    retry: true,
    retryAfter: 3_000,
    usage: noUsage(),
  })
  assert.deepEqual(await model.stream(request(), listening()), {
    ok: false,
    error: { kind: "authentication", message: "the key is not valid" },
    retry: false,
    usage: noUsage(),
  })
})

test("a script that throws fails the request with its words", async () => {
  const thrown = scripted(() => {
    throw new Error("expected two tools")
  })
  const circular: { self?: unknown } = {}
  circular.self = circular
  const unspeakable = scripted(() => [call("read", circular)])
  const first = await thrown.stream(request(), listening())
  const second = await unspeakable.stream(request(), listening())
  assert.deepEqual(first, {
    ok: false,
    error: { kind: "internal", message: "the script threw: expected two tools" },
    retry: false,
    usage: noUsage(),
  })
  assert.match(second.ok ? "" : second.error.message, /^the script threw: Converting circular structure/)
})

test("requests are kept as they were, without the memo", async () => {
  const model = scripted(() => "ok")
  const messages: Message[] = [{ role: "user", text: "first" }]
  await model.stream({ ...request(messages), effort: "low" }, listening())
  messages.push({ role: "user", text: "later" })
  assert.deepEqual(model.requests, [
    { system: "be brief", tools: [], messages: [{ role: "user", text: "first" }], toolChoice: "auto", effort: "low" },
  ])
})

const cancelled = {
  ok: false,
  error: { kind: "network", message: "the request was cancelled" },
  retry: false,
  usage: noUsage(),
}

test("an abort ends the request at once, also while the script still thinks", async () => {
  const control = new AbortController()
  const model = scripted(() => new Promise<Reply>(() => {}))
  const answer = model.stream(request(), listening(control.signal))
  control.abort()
  assert.deepEqual(await answer, cancelled)
})

test("an abort between two words keeps the rest unsaid", async () => {
  const control = new AbortController()
  const said: string[] = []
  const listen: Listen = {
    signal: control.signal,
    failed: () => {},
    delta({ text }) {
      said.push(text)
      if (said.length === 2) control.abort()
    },
  }
  assert.deepEqual(await scripted(() => "one two three").stream(request(), listen), cancelled)
  assert.deepEqual(said, ["one", " two"])
})

test("a request that was cancelled before it began is not asked", async () => {
  const model = scripted(() => assert.fail("nobody should ask"))
  assert.deepEqual(await model.stream(request(), listening(AbortSignal.abort())), cancelled)
  assert.deepEqual(model.requests, [])
})

test("no listener stays on the signal", async () => {
  const control = new AbortController()
  let added = 0
  const { signal } = control
  const { addEventListener, removeEventListener } = signal
  signal.addEventListener = (...all: Parameters<AbortSignal["addEventListener"]>) => {
    added++
    addEventListener.apply(signal, all)
  }
  signal.removeEventListener = (...all: Parameters<AbortSignal["removeEventListener"]>) => {
    added--
    removeEventListener.apply(signal, all)
  }
  await scripted(() => "ok").stream(request(), listening(signal))
  assert.equal(added, 0)
})

test("what a model is can be chosen", () => {
  const model = scripted(() => "", { id: "my/model", images: false, window: 10, cost: ({ output }) => output * 2 })
  const { id, images, window } = model
  assert.deepEqual({ id, images, window }, { id: "my/model", images: false, window: 10 })
  assert.equal(model.cost({ ...noUsage(), output: 4 }), 8)
})

test("steps follow the conversation, not the order of requests", async () => {
  const model = scripted(steps("first", [call("ls")], ({ messages }: Request) => `third after ${messages.length}`))
  const turn: Message = { role: "assistant", parts: [] }
  const user: Message = { role: "user", text: "go on" }
  const said = async (messages: Message[]) => {
    const answer = await model.stream(request(messages), listening())
    return answer.ok ? answer.parts : answer.error
  }
  assert.deepEqual(await said([user, turn, user, turn, user]), [{ type: "text", text: "third after 5" }])
  assert.deepEqual(await said([user]), [{ type: "text", text: "first" }])
  assert.deepEqual(await said([user, turn, user]), [{ type: "call", id: "call_2_1", name: "ls", input: {} }])
  assert.deepEqual(await said([user, turn, user, turn, user, turn, user]), {
    kind: "bad_request",
    message: "the script has 3 steps and this is request 4: add a step",
  })
})
