import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Message } from "../../src/core/message.ts"
import { createPool } from "../../src/model/http.ts"
import type { OpenaiOptions } from "../../src/model/openai-attempt.ts"
import { chatEncoder } from "../../src/model/openai-chat-encode.ts"
import { responsesEncoder } from "../../src/model/openai-responses-encode.ts"
import { messages, reader, request, turns } from "./openai-wire.ts"

const options = (over: Partial<OpenaiOptions> = {}): OpenaiOptions => ({
  provider: "openai",
  name: "gpt-5",
  baseURL: "http://127.0.0.1",
  keyVariable: "OPENAI_API_KEY",
  pool: createPool({ env: {} }),
  ...over,
})

const talk: Message[] = [
  { role: "user", text: "look", images: [{ mediaType: "image/png", data: "AAAA" }] },
  {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "hm", by: "moon", proof: { field: "reasoning_content" } },
      { type: "reasoning", text: "not of this provider", by: "star", proof: { field: "reasoning_content" } },
      {
        type: "reasoning",
        text: "hm",
        by: "openai",
        proof: { id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "sealed" },
      },
      { type: "text", text: "I look." },
      { type: "call", id: "c1", name: "read", input: { path: "a" } },
      { type: "call", id: "c2", name: "read", input: {}, broken: '{"path":' },
    ],
  },
  {
    role: "result",
    call: "c1",
    name: "read",
    ok: true,
    text: "an A",
    images: [{ mediaType: "image/png", data: "BBBB" }],
  },
  { role: "result", call: "c2", name: "read", ok: false, text: "not JSON" },
  { role: "assistant", parts: [{ type: "text", text: "It is an A." }] },
]

test("a chat request has these bytes", () => {
  const body = chatEncoder(options({ provider: "moon", name: "kimi", maxTokens: 100 }))(
    request({ messages: talk, tools: [reader], temperature: 0, topP: 0.5, effort: "low", toolChoice: "none" }),
  )
  assert.equal(
    body,
    '{"model":"kimi","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"temperature":0,"top_p":0.5,"reasoning_effort":"low",' +
      '"tools":[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],' +
      '"messages":[{"role":"system","content":"Be brief."},' +
      '{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]},' +
      '{"role":"assistant","content":"I look.","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"a\\"}"}},{"id":"c2","type":"function","function":{"name":"read","arguments":"{}"}}]},' +
      '{"role":"tool","tool_call_id":"c1","content":"an A"},' +
      '{"role":"tool","tool_call_id":"c2","content":"Error: not JSON"},' +
      '{"role":"user","content":[{"type":"text","text":"The images of read (c1):"},{"type":"image_url","image_url":{"url":"data:image/png;base64,BBBB"}}]},' +
      '{"role":"assistant","content":"It is an A."}],"tool_choice":"none"}',
  )
})

test("a responses request has these bytes", () => {
  const body = responsesEncoder(options({ maxTokens: 100 }))(
    request({ messages: talk, tools: [reader], temperature: 0, topP: 0.5, effort: "high", toolChoice: "none" }),
  )
  assert.equal(
    body,
    '{"model":"gpt-5","stream":true,"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":100,"temperature":0,"top_p":0.5,"reasoning":{"effort":"high","summary":"auto"},"instructions":"Be brief.",' +
      '"tools":[{"type":"function","name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]},"strict":false}],' +
      '"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,AAAA"}]},' +
      '{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"sealed"},' +
      '{"type":"message","role":"assistant","content":"I look."},' +
      '{"type":"function_call","call_id":"c1","name":"read","arguments":"{\\"path\\":\\"a\\"}"},' +
      '{"type":"function_call","call_id":"c2","name":"read","arguments":"{}"},' +
      '{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"an A"},{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,BBBB"}]},' +
      '{"type":"function_call_output","call_id":"c2","output":"Error: not JSON"},' +
      '{"type":"message","role":"assistant","content":"It is an A."}],"tool_choice":"none"}',
  )
})

test("without tools there is neither a list of tools nor a choice among them", () => {
  const chat = JSON.parse(chatEncoder(options({ maxTokens: 5 }))(request({ toolChoice: "none" })))
  assert.deepEqual(chat, {
    model: "gpt-5",
    stream: true,
    stream_options: { include_usage: true },
    max_completion_tokens: 5,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hello" },
    ],
  })
  const responses = JSON.parse(responsesEncoder(options())(request({ toolChoice: "none", system: "" })))
  assert.deepEqual(responses, {
    model: "gpt-5",
    stream: true,
    store: false,
    include: ["reasoning.encrypted_content"],
    input: [{ type: "message", role: "user", content: "hello" }],
  })
})

test("a model that does not think is not asked for sealed thoughts", () => {
  for (const name of ["gpt-4o", "gpt-4.1-mini", "chatgpt-4o-latest", "gpt-5-chat-latest"]) {
    assert.equal("include" in JSON.parse(responsesEncoder(options({ name }))(request())), false, name)
  }
})

test("thoughts of another provider, without a seal, or with nothing after them are not sent", () => {
  const seal = { id: "rs_1", summary: [], encrypted_content: "x" }
  const thoughts: Message[] = [
    {
      role: "assistant",
      parts: [
        { type: "reasoning", text: "a", by: "other", proof: seal },
        { type: "reasoning", text: "b", by: "openai" },
        { type: "reasoning", text: "c", by: "openai", proof: { id: "rs_2", summary: [] } },
        { type: "text", text: "so" },
        { type: "reasoning", text: "d", by: "openai", proof: seal },
      ],
    },
  ]
  assert.deepEqual(JSON.parse(responsesEncoder(options())(request({ messages: thoughts }))).input, [
    { type: "message", role: "assistant", content: "so" },
  ])
})

for (const [format, encoder, list] of [
  ["chat", chatEncoder, "messages"],
  ["responses", responsesEncoder, "input"],
] as const) {
  /** The request without the end of its list, which the next one goes on from. */
  const opened = (body: string) => body.replace(/\](,"tool_choice":"none")?\}$/, "")

  test(`each ${format} request is the last one plus what is new, and the same as from scratch`, () => {
    fc.assert(
      fc.property(turns, fc.array(fc.constantFrom("auto" as const, "none" as const)), (all, choices) => {
        const encode = encoder(options())
        const memo = {}
        let before = ""
        for (let length = 0; length <= all.length; length++) {
          const now = request({
            messages: all.slice(0, length).flat(),
            tools: [reader],
            memo,
            toolChoice: choices[length] ?? "auto",
          })
          const body = encode(now)
          assert.equal(body, encoder(options())({ ...now, memo: {} }))
          assert.ok(body.startsWith(opened(before)))
          before = body
        }
      }),
    )
  })

  test(`a ${format} request follows any change of the messages, also in the middle`, () => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 4 }), fc.nat(), (lists, seed) => {
        const encode = encoder(options())
        const memo = {}
        const [first = []] = lists
        const mixed = lists.map((list, i) => [...first.slice(0, (seed + i) % (first.length + 1)), ...list])
        for (const each of mixed) {
          assert.equal(encode(request({ messages: each, memo })), encoder(options())(request({ messages: each })))
        }
      }),
    )
  })

  test(`a turn with its results adds to the ${format} request and changes nothing before it`, () => {
    const encode = encoder(options())
    const memo = {}
    let before = ""
    for (const length of [1, 4, 5]) {
      const body = encode(request({ messages: talk.slice(0, length), memo }))
      assert.ok(body.startsWith(opened(before)))
      before = body
    }
  })

  test(`nothing is encoded twice for ${format}`, () => {
    const encode = encoder(options())
    const memo = {}
    let reads = 0
    const watched = {
      role: "user" as const,
      get text() {
        reads++
        return "hello"
      },
    }
    encode(request({ messages: [watched], memo }))
    const once = reads
    encode(request({ messages: [watched, { role: "user", text: "more" }], memo }))
    assert.ok(once > 0)
    assert.equal(reads, once)
  })

  test(`whatever the messages, a ${format} request has one result right after each call and no other`, () => {
    fc.assert(
      fc.property(messages, (all) => {
        const wire = JSON.parse(encoder(options())(request({ messages: all, system: "" })))[list] as Wire[]
        assertPaired(wire)
        const said = all.flatMap((message) => (message.role === "user" ? [message.text.toWellFormed()] : []))
        assert.deepEqual(
          wire.filter(({ role }) => role === "user").map(({ content }) => content),
          said,
        )
      }),
    )
  })
}

test("a call without a result gets one that says so, and a result that came late is used", () => {
  const cut: Message[] = [
    {
      role: "assistant",
      parts: [
        { type: "call", id: "a", name: "read", input: {} },
        { type: "call", id: "b", name: "read", input: {} },
      ],
    },
    { role: "user", text: "go on" },
    { role: "result", call: "b", name: "read", ok: true, text: "late" },
    { role: "result", call: "b", name: "read", ok: true, text: "again" },
    { role: "result", call: "z", name: "read", ok: true, text: "of nothing" },
  ]
  assert.deepEqual(JSON.parse(chatEncoder(options())(request({ messages: cut, system: "" }))).messages.slice(1), [
    { role: "tool", tool_call_id: "a", content: "Error: no result: the call was cut off" },
    { role: "tool", tool_call_id: "b", content: "late" },
    { role: "user", content: "go on" },
  ])
})

type Wire = {
  type?: string
  role?: string
  content?: unknown
  call_id?: string
  tool_call_id?: string
  tool_calls?: { id: string }[]
}

/** Both formats: calls of one answer, then their results in the same order, and nothing between. */
function assertPaired(wire: Wire[]): void {
  const due: string[] = []
  for (const item of wire) {
    const result = item.type === "function_call_output" ? item.call_id : item.tool_call_id
    if (result !== undefined) {
      assert.equal(result, due.shift())
      continue
    }
    const calls = item.type === "function_call" ? [item.call_id ?? ""] : (item.tool_calls ?? []).map(({ id }) => id)
    const answers = item.role === "assistant" || item.type === "reasoning" || calls.length > 0
    assert.ok(
      due.length === 0 || (answers && item.tool_calls === undefined),
      "something stands between a call and its result",
    )
    assert.equal(new Set([...due, ...calls]).size, due.length + calls.length)
    due.push(...calls)
  }
  assert.deepEqual(due, [])
}
