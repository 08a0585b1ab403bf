import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { filtered } from "../../src/core/filtered.ts"
import { type Assistant, callsOf, type Image, type Message, type Part } from "../../src/core/message.ts"
import { createEncoder } from "../../src/model/anthropic-encode.ts"
import { createPool } from "../../src/model/http.ts"
import type { Request } from "../../src/model/model.ts"
import type { OpenaiOptions } from "../../src/model/openai-attempt.ts"
import { chatEncoder } from "../../src/model/openai-chat-encode.ts"
import { responsesEncoder } from "../../src/model/openai-responses-encode.ts"
import { illegal } from "../../src/testing/illegal.ts"

const names = ["read", "grep", "bash", "task", "no such\ntool"]
const id = fc.constantFrom("a", "b", "c", "d.1", "d_1", "e")
const words = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom("", " \n", "one\ntwo", "\ud83e", "x".repeat(199), "x".repeat(300), "🦊".repeat(201)),
)
const images: fc.Arbitrary<Image[]> = fc.array(
  fc.record(
    { mediaType: fc.constantFrom("image/png", "image/tiff"), data: fc.constant("AAAA") },
    { noNullPrototype: true },
  ),
  { maxLength: 2 },
)
const maybeImages = fc.option(images, { nil: undefined }).map((images) => (images ? { images } : {}))

const call: fc.Arbitrary<Part> = fc
  .record({ id, name: fc.constantFrom(...names), input: fc.jsonValue({ maxDepth: 2 }), broken: fc.option(words) })
  .map(({ broken, ...rest }) => ({ type: "call", ...rest, ...(broken !== null && { broken }) }))
const thought: fc.Arbitrary<Part> = fc
  .record({
    text: words,
    by: fc.constantFrom("anthropic", "openai", "other"),
    proof: fc.constantFrom(
      { signature: "s" },
      { redacted: "r" },
      { id: "rs_1", summary: [], encrypted_content: "x" },
      { field: "reasoning_content" },
      undefined,
    ),
  })
  .map((thought) => ({ type: "reasoning", ...thought }))
const text: fc.Arbitrary<Part> = words.map((text) => ({ type: "text", text }))
const assistant: fc.Arbitrary<Message> = fc
  .array(fc.oneof({ weight: 3, arbitrary: call }, { weight: 1, arbitrary: thought }, { weight: 1, arbitrary: text }), {
    maxLength: 5,
  })
  .map((parts) => ({ role: "assistant", parts }))
const user: fc.Arbitrary<Message> = fc
  .tuple(words, maybeImages)
  .map(([text, images]) => ({ role: "user", text, ...images }))
const result = (call: fc.Arbitrary<string>): fc.Arbitrary<Message> =>
  fc
    .record({ call, name: fc.constantFrom(...names), ok: fc.boolean(), text: words, images: maybeImages })
    .map(({ images, ...rest }) => ({ role: "result", ...rest, ...images }))

/** An answer with a result for each of its calls, in any order. */
const turn: fc.Arbitrary<Message[]> = assistant.chain((answer) => {
  const ids = answer.role === "assistant" ? callsOf(answer.parts).map(({ id }) => id) : []
  return fc
    .tuple(...ids.map((id) => result(fc.constant(id))))
    .chain((results) =>
      fc.shuffledSubarray(results, { minLength: results.length }).map((results) => [answer, ...results]),
    )
})
/** Whole turns, and strays of every kind between them. */
const history: fc.Arbitrary<Message[]> = fc
  .array(
    fc.oneof(
      turn,
      fc.oneof(user, assistant, result(id)).map((stray) => [stray]),
    ),
    { maxLength: 10 },
  )
  .map((pieces) => pieces.flat())
const child = fc.record({ tools: fc.shuffledSubarray(names.slice(0, 4)), reasoning: fc.boolean() })

const holds = (check: (messages: Message[], child: { tools: string[]; reasoning: boolean }) => void): void =>
  fc.assert(fc.property(history, child, check), { numRuns: 500 })

const options: OpenaiOptions = {
  provider: "openai",
  name: "gpt-5",
  baseURL: "http://127.0.0.1",
  keyVariable: "OPENAI_API_KEY",
  pool: createPool({ env: {} }),
}
const encoders = {
  anthropic: createEncoder({ name: "claude-x", maxTokens: 8_000 }),
  chat: chatEncoder(options),
  responses: responsesEncoder(options),
}

for (const format of ["anthropic", "chat", "responses"] as const) {
  test(`whatever the history and the tools, the ${format} API takes the child's first request`, () => {
    holds((messages, child) => {
      const request: Request = {
        system: "You look things up.",
        tools: child.tools.map((name) => ({ name, description: "A tool.", schema: { type: "object" } })),
        messages: [...filtered(messages, child), { role: "user", text: "look" }],
        toolChoice: "auto",
        memo: {},
      }
      assert.equal(illegal(format, JSON.parse(encoders[format](request))), undefined)
    })
  })
}

test("the history itself is never changed", () => {
  holds((messages, child) => {
    const before = structuredClone(messages)
    filtered(frozen(messages), frozen(child))
    assert.deepEqual(messages, before)
  })
})

test("every call that is left has a tool, an id of its own, and its one result right after its answer", () => {
  holds((messages, child) => {
    const left = filtered(messages, child)
    const calls = left.filter(isAssistant).flatMap(({ parts }) => callsOf(parts))
    assert.deepEqual(
      calls.filter(({ name }) => !child.tools.includes(name)),
      [],
    )
    assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length)
    const wanted = left.flatMap((message, index) => {
      if (!isAssistant(message)) return []
      return callsOf(message.parts).map(({ id }, nth) => ({ call: id, at: index + 1 + nth }))
    })
    assert.deepEqual(
      left.flatMap((message, at) => (message.role === "result" ? [{ call: message.call, at }] : [])),
      wanted,
    )
  })
})

test("every answered call is still there if the child has its tool, and every other is told in a line", () => {
  holds((messages, child) => {
    const left = filtered(messages, child)
    const answered = [...new Set(messages.flatMap((_, index) => callAnsweredBy(messages, index)))]
    const supported = answered.filter(({ name }) => child.tools.includes(name)).map(({ id }) => id)
    const kept = left.filter(isAssistant).flatMap(({ parts }) => callsOf(parts).map(({ id }) => id))
    assert.deepEqual(kept.toSorted(), [...new Set(supported)].sort())
    const summaries = left.slice(0, -1).filter((message) => message.role === "user" && !messages.includes(message))
    const lines = summaries.flatMap((message) => (message.role === "user" ? message.text.split("\n").slice(1) : []))
    assert.equal(lines.length, answered.length - kept.length)
  })
})

test("no message is empty, and no answer ends with a thought or has one that may not go along", () => {
  holds((messages, child) => {
    for (const message of filtered(messages, child)) {
      if (message.role === "user") assert.ok(/\S/.test(message.text) || message.images?.length)
      if (!isAssistant(message)) continue
      assert.ok(message.parts.some((part) => part.type === "call" || (part.type === "text" && /\S/.test(part.text))))
      assert.notEqual(message.parts.at(-1)?.type, "reasoning")
      if (!child.reasoning) assert.ok(message.parts.every(({ type }) => type !== "reasoning"))
    }
  })
})

test("what is not new is shared with the parent", () => {
  holds((messages, child) => {
    const answers = messages.filter(isAssistant)
    const owners = new Map(answers.flatMap((answer) => answer.parts.map((part) => [part, answer] as const)))
    for (const message of filtered(messages, child)) {
      if (message.role === "result") assert.ok(messages.includes(message))
      if (!isAssistant(message)) continue
      const [owner, ...others] = new Set(message.parts.map((part) => owners.get(part)))
      assert.deepEqual(others, [])
      assert.ok(owner === message || owner!.parts.length > message.parts.length)
    }
  })
})

const isAssistant = (message: Message): message is Assistant => message.role === "assistant"

/** By its plain meaning: the call of the last answer before a result that has its id. */
function callAnsweredBy(messages: Message[], index: number): Extract<Part, { type: "call" }>[] {
  const result = messages[index]
  if (result?.role !== "result") return []
  for (const message of messages.slice(0, index).reverse()) {
    if (!isAssistant(message)) continue
    for (const part of message.parts) if (part.type === "call" && part.id === result.call) return [part]
  }
  return []
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}
