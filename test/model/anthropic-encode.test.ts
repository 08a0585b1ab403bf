import assert from "node:assert/strict"
import { test } from "node:test"
import type { ContentBlockParam, MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages"
import fc from "fast-check"
import type { Message, Part } from "../../src/core/message.ts"
import { createEncoder } from "../../src/model/anthropic-encode.ts"
import type { Request } from "../../src/model/model.ts"

const tools = [
  { name: "read", description: "Reads a file.", schema: { type: "object", properties: { path: { type: "string" } } } },
  { name: "ls", description: "Lists a folder.", schema: { type: "object" } },
]

const ask = (messages: Message[], more: Partial<Request> = {}): Request => ({
  system: "You are terse.",
  tools,
  messages,
  toolChoice: "auto",
  memo: {},
  ...more,
})
const encoder = () => createEncoder({ name: "claude-x", maxTokens: 8_000 })
const encode = (messages: Message[], more: Partial<Request> = {}): string => encoder()(ask(messages, more))

type Body = Omit<MessageCreateParamsStreaming, "messages"> & {
  temperature?: number
  top_p?: number
  messages: { role: "user" | "assistant"; content: ContentBlockParam[] }[]
}
const read = (text: string): Body => JSON.parse(text)
const sent = (messages: Message[]): Body["messages"] => read(unmarked(encode(messages))).messages

const mark = ',"cache_control":{"type":"ephemeral"}'
const unmarked = (text: string): string => text.replaceAll(mark, "")

const user = (text: string): Message => ({ role: "user", text })
const result = (call: string, text = "ok"): Message => ({ role: "result", call, name: "read", ok: true, text })
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts })
const call = (id: string, input: unknown = {}): Part => ({ type: "call", id, name: "read", input })
const text = (words: string): Part => ({ type: "text", text: words })
const block = (words: string): ContentBlockParam => ({ type: "text", text: words })

test("golden: a conversation with calls, results and thoughts, byte for byte", () => {
  const messages: Message[] = [
    user("What is in a.txt?"),
    assistant(
      { type: "reasoning", text: "Look.", by: "anthropic", proof: { signature: "c2ln" } },
      text("I look."),
      call("toolu_1", { path: "a.txt" }),
    ),
    { role: "result", call: "toolu_1", name: "read", ok: false, text: "no such file" },
    user("Then b.png."),
    assistant(
      { type: "reasoning", text: "", by: "anthropic", proof: { redacted: "b64==" } },
      call("toolu_2", { path: "b.png" }),
    ),
    {
      role: "result",
      call: "toolu_2",
      name: "read",
      ok: true,
      text: "an image",
      images: [{ mediaType: "image/png", data: "iVBO" }],
    },
  ]
  assert.equal(
    encode(messages, { temperature: 0.5, topP: 0.9 }),
    '{"model":"claude-x","max_tokens":8000,"stream":true,"temperature":0.5,"top_p":0.9,' +
      '"system":[{"type":"text","text":"You are terse.","cache_control":{"type":"ephemeral"}}],' +
      '"tools":[{"name":"read","description":"Reads a file.","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}},' +
      '{"name":"ls","description":"Lists a folder.","input_schema":{"type":"object"}}],' +
      '"messages":[{"role":"user","content":[{"type":"text","text":"What is in a.txt?"}]},' +
      '{"role":"assistant","content":[{"type":"thinking","thinking":"Look.","signature":"c2ln"},{"type":"text","text":"I look."},' +
      '{"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.txt"}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"no such file"}],"is_error":true},' +
      '{"type":"text","text":"Then b.png.","cache_control":{"type":"ephemeral"}}]},' +
      '{"role":"assistant","content":[{"type":"redacted_thinking","data":"b64=="},{"type":"tool_use","id":"toolu_2","name":"read","input":{"path":"b.png"}}]},' +
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_2","content":[{"type":"text","text":"an image"},' +
      '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBO"}}],"cache_control":{"type":"ephemeral"}}]}]}',
  )
})

test("thoughts that led to nothing are left out, as the provider refuses an answer that ends with one", () => {
  const thought = { type: "reasoning" as const, text: "hm", by: "anthropic", proof: { signature: "s" } }
  const hidden = { type: "reasoning" as const, text: "", by: "anthropic", proof: { redacted: "r" } }
  const parts: Part[] = [thought, { type: "text", text: "so" }, thought, hidden]
  const { messages } = JSON.parse(encode([user("hi"), { role: "assistant", parts }, user("go on")]))
  assert.deepEqual(messages[1].content, [
    { type: "thinking", thinking: "hm", signature: "s" },
    { type: "text", text: "so" },
  ])
})

test("that no tool may be called is said last, so that all before it stays as it was", () => {
  const free = encode([user("hi")])
  assert.equal(encode([user("hi")], { toolChoice: "none" }), `${free.slice(0, -1)},"tool_choice":{"type":"none"}}`)
  assert.ok(!encode([user("hi")], { toolChoice: "none", tools: [] }).includes("tool"))
})

test("effort is a budget for thoughts, below the limit of the answer and without a temperature", () => {
  const thinking = (effort: "low" | "medium" | "high", maxTokens: number) => {
    const body = read(createEncoder({ name: "m", maxTokens })(ask([user("hi")], { effort, temperature: 1, topP: 1 })))
    return [body.thinking, body.temperature, body.top_p]
  }
  const enabled = (budget_tokens: number) => [{ type: "enabled", budget_tokens }, undefined, undefined]
  assert.deepEqual(thinking("low", 64_000), enabled(4_096))
  assert.deepEqual(thinking("medium", 64_000), enabled(12_288))
  assert.deepEqual(thinking("high", 64_000), enabled(24_576))
  assert.deepEqual(thinking("high", 8_000), enabled(6_000))
  assert.deepEqual(thinking("high", 1_000), [undefined, 1, 1])
})

test("without a system prompt the tools carry the mark, and with neither there is none", () => {
  const body = read(encode([user("hi")], { system: " \n" }))
  assert.equal(body.system, undefined)
  assert.deepEqual(
    body.tools?.map(({ cache_control }) => cache_control),
    [undefined, { type: "ephemeral" }],
  )
  const bare = read(encode([user("hi")], { system: "", tools: [] }))
  assert.deepEqual([bare.system, bare.tools], [undefined, undefined])
})

test("system prompt and tools are written anew when they change", () => {
  const make = encoder()
  const memo = {}
  const messages = [user("hi")]
  const first = make(ask(messages, { memo }))
  assert.equal(make(ask(messages, { memo, tools: [...tools] })), first)
  assert.equal(read(make(ask(messages, { memo, tools: tools.slice(1) }))).tools?.length, 1)
  assert.deepEqual(read(unmarked(make(ask(messages, { memo, system: "other" })))).system, [block("other")])
})

test("what cannot be sent is left out or said in words", () => {
  assert.deepEqual(
    sent([
      user(""),
      user("look"),
      {
        role: "user",
        text: " ",
        images: [
          { mediaType: "image/gif", data: "R0lG" },
          { mediaType: "image/tiff", data: "SUkq" },
        ],
      },
      assistant(),
      assistant(text(" \n")),
      assistant({ type: "reasoning", text: "only a thought", by: "anthropic", proof: { signature: "s" } }),
      user("again"),
      assistant(
        { type: "reasoning", text: "not ours", by: "openai", proof: { signature: "s" } },
        { type: "reasoning", text: "not signed", by: "anthropic" },
        text("yes"),
        { type: "call", id: "a", name: "read", input: { path: "guess" }, broken: '{"path":' },
        { type: "call", id: "b|1.2", name: "no such tool!", input: ["x"] },
      ),
      { role: "result", call: "a", name: "read", ok: true, text: "" },
      { role: "result", call: "b|1.2", name: "no such tool!", ok: false, text: "\t" },
    ]),
    [
      {
        role: "user",
        content: [
          block("look"),
          { type: "image", source: { type: "base64", media_type: "image/gif", data: "R0lG" } },
          block("[An image of type image/tiff, not shown]"),
          block("again"),
        ],
      },
      {
        role: "assistant",
        content: [
          block("yes"),
          { type: "tool_use", id: "a", name: "read", input: {} },
          { type: "tool_use", id: "b_1_2", name: "no_such_tool_", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: [block("(no output)")] },
          { type: "tool_result", tool_use_id: "b_1_2", content: [block("(no output)")], is_error: true },
        ],
      },
    ],
  )
})

test("calls without results, results without calls and doubles are repaired", () => {
  assert.deepEqual(
    sent([
      assistant(text("hello"), call("1"), call("2"), call("2")),
      user("wait"),
      result("2"),
      result("2", "again"),
      result("9", "lost"),
      assistant(call("2"), call("3")),
      assistant(text("done")),
    ]),
    [
      { role: "user", content: [block("(no message)")] },
      {
        role: "assistant",
        content: [
          block("hello"),
          { type: "tool_use", id: "1", name: "read", input: {} },
          { type: "tool_use", id: "2", name: "read", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "1",
            content: [block("no result: the call was cut off")],
            is_error: true,
          },
          { type: "tool_result", tool_use_id: "2", content: [block("ok")] },
          block("wait"),
          block("[The result of read, whose call is not shown]\nlost"),
        ],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "3", name: "read", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "3",
            content: [block("no result: the call was cut off")],
            is_error: true,
          },
        ],
      },
      { role: "assistant", content: [block("done")] },
      { role: "user", content: [block("(no message)")] },
    ],
  )
  assert.deepEqual(sent([]), [{ role: "user", content: [block("(no message)")] }])
})

test("half a surrogate pair is replaced, a whole one and the words for one are kept", () => {
  const odd = `😀 \\ud800 \\\\ud800 \ud83d cut`
  const content = sent([user(odd), assistant(call("1", { path: odd, "\udc00": 1 }))])
  const mended = odd.toWellFormed()
  assert.deepEqual(content[0]?.content, [block(mended)])
  assert.deepEqual(content[1]?.content, [
    { type: "tool_use", id: "1", name: "read", input: { path: mended, "\ufffd": 1 } },
  ])
})

test("a key named __proto__ in arguments comes back as it was", () => {
  const input = JSON.parse('{"__proto__":{"evil":true},"path":"a"}')
  assert.ok(
    encode([user("hi"), assistant(call("1", input))]).includes('"input":{"__proto__":{"evil":true},"path":"a"}'),
  )
})

const words = fc.oneof(fc.constantFrom("", " ", "hi", "\ud800", "ü😀"), fc.string())
const id = fc.constantFrom("1", "2", "3", "4|x", "4_x", "")
const image = fc.record({ mediaType: fc.constantFrom("image/png", "image/svg+xml"), data: fc.constant("aGk=") })
const images = fc.array(image, { minLength: 1, maxLength: 2 })
const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: words }),
  fc.record({ type: fc.constant("call" as const), id, name: fc.constantFrom("read", "", "a b"), input: fc.anything() }),
  fc.record(
    {
      type: fc.constant("reasoning" as const),
      text: words,
      by: fc.constantFrom("anthropic", "openai"),
      proof: fc.constantFrom({ signature: "s" }, { redacted: "r" }, { signature: "" }, null, 5),
    },
    { requiredKeys: ["type", "text", "by"] },
  ),
)
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text: words, images }, { requiredKeys: ["role", "text"] }),
  fc.record({ role: fc.constant("assistant" as const), parts: fc.array(part, { maxLength: 4 }) }),
  fc.record(
    { role: fc.constant("result" as const), call: id, name: words, ok: fc.boolean(), text: words, images },
    { requiredKeys: ["role", "call", "name", "ok", "text"] },
  ),
)

/** What the provider demands of every list of messages. */
function assertLegal(messages: Body["messages"]): void {
  const ids = new Set<string>()
  messages.forEach(({ role, content }, i) => {
    assert.equal(role, i % 2 === 0 ? "user" : "assistant")
    assert.ok(content.length > 0)
    assert.ok(content.every((block) => block.type !== "text" || block.text.trim() !== ""))
    const calls = content.flatMap((block) => (block.type === "tool_use" ? [block] : []))
    for (const { id, name, input } of calls) {
      assert.match(id, /^[a-zA-Z0-9_-]+$/)
      assert.match(name, /^[a-zA-Z0-9_-]{1,128}$/)
      assert.ok(typeof input === "object" && input !== null && !Array.isArray(input))
      assert.ok(!ids.has(id))
      ids.add(id)
    }
    const next = messages[i + 1]?.content ?? []
    if (role === "assistant") {
      const answered = next.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []))
      assert.deepEqual(
        answered,
        calls.map(({ id }) => id),
      )
      assert.ok(next.slice(0, calls.length).every(({ type }) => type === "tool_result"))
      assert.ok(content.some(({ type }) => type === "text" || type === "tool_use"))
    }
  })
  assert.ok(messages[0]?.content.every(({ type }) => type !== "tool_result"))
  assert.equal(messages.at(-1)?.role, "user")
}

/** Every place where a block may carry a mark. */
const marks = (body: Body): number =>
  JSON.stringify(body).split(mark).length - 1 - (JSON.stringify(body.system)?.includes(mark) ? 1 : 0)

test("law: any list of messages becomes one that the provider accepts", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), (messages) => {
      const body = encode(messages)
      assertLegal(read(body).messages)
      assert.ok(body.isWellFormed() && !/(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(body))
      const users = read(body).messages.filter(({ role }) => role === "user")
      assert.equal(marks(read(body)), Math.min(2, users.length))
      for (const { content } of users.slice(-2)) assert.ok(JSON.stringify(content.at(-1)).includes(mark))
    }),
    { numRuns: 300 },
  )
})

test("law: growing by any steps gives the same bytes as all at once", () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 12 }), fc.array(fc.nat({ max: 12 })), (messages, stops) => {
      const make = encoder()
      const memo = {}
      for (const stop of [...stops].sort((a, b) => a - b)) make(ask(messages.slice(0, stop), { memo }))
      assert.equal(make(ask(messages, { memo })), encode(messages))
    }),
    { numRuns: 300 },
  )
})

test("law: after messages were replaced nothing of the old ones is left", () => {
  const lists = fc.array(message, { maxLength: 8 })
  fc.assert(
    fc.property(lists, lists, fc.nat({ max: 8 }), (before, after, kept) => {
      const make = encoder()
      const memo = {}
      make(ask(before, { memo }))
      const replaced = [...after, ...before.slice(kept)]
      assert.equal(make(ask(replaced, { memo })), encode(replaced))
      const shrunk = before.slice(0, kept)
      assert.equal(make(ask(shrunk, { memo })), encode(shrunk))
    }),
    { numRuns: 300 },
  )
})

/** Conversations as the loop makes them: calls are answered before anything else is said. */
const turn = fc.record({
  says: fc.string({ minLength: 1 }).filter((said) => said.trim() !== ""),
  calls: fc.nat({ max: 3 }),
  mail: fc.array(fc.string(), { maxLength: 2 }),
})

test("law: each request is the last one and what is new, but for the marks", () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
      const make = encoder()
      const memo = {}
      const messages: Message[] = [user("begin")]
      let last = unmarked(make(ask(messages, { memo })))
      let next = 0
      for (const { says, calls, mail } of turns) {
        const ids = Array.from({ length: calls }, () => `call_${next++}`)
        messages.push(assistant(text(says), ...ids.map((id) => call(id, { id }))))
        for (const id of ids) messages.push(result(id))
        for (const each of mail) messages.push(user(each))
        const now = unmarked(make(ask(messages, { memo })))
        assert.ok(now.startsWith(last.slice(0, -"]}".length)))
        last = now
      }
    }),
  )
})

test("the mark of the last request is found again in the next", () => {
  const make = encoder()
  const memo = {}
  const messages = [user("begin")]
  const first = make(ask(messages, { memo }))
  messages.push(assistant(call("1")), result("1"))
  const second = make(ask(messages, { memo }))
  messages.push(assistant(call("2")), result("2"))
  const third = make(ask(messages, { memo }))
  assert.ok(second.startsWith(first.slice(0, -"]}".length)))
  assert.equal(unmarked(third).startsWith(unmarked(second).slice(0, -"]}".length)), true)
  const upTo = second.slice(second.indexOf('"tool_result"'), -"]}".length)
  assert.ok(third.includes(upTo))
})

test("history is written as JSON once, however many requests there are", () => {
  let written = 0
  const input = { toJSON: () => ({ written: ++written }) }
  const make = encoder()
  const memo = {}
  const messages: Message[] = [user("begin"), assistant(call("1", input)), result("1")]
  for (let i = 0; i < 5; i++) {
    make(ask(messages, { memo }))
    messages.push(user("more"))
  }
  assert.equal(written, 1)
})

test("models that decide for themselves how much to think are told the effort, older ones a budget", () => {
  const body = (name: string) =>
    read(createEncoder({ name, maxTokens: 32_000 })(ask([user("hi")], { effort: "high", temperature: 1 })))
  const told = (name: string) => [body(name).thinking?.type, body(name).output_config, body(name).temperature]
  for (const name of ["claude-sonnet-5-5", "claude-opus-4-6", "claude-opus-4-8", "claude-mythos-5"]) {
    assert.deepEqual(told(name), ["adaptive", { effort: "high" }, undefined], name)
  }
  const older = ["claude-3-7-sonnet-latest", "claude-opus-4-20250514", "claude-sonnet-4-5", "claude-haiku-4-5-20251001"]
  for (const name of [...older, "kimi-k3"]) assert.deepEqual(told(name), ["enabled", undefined, undefined], name)
})
