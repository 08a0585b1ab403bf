import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Assistant, callsOf, type Image, type Message, type Part } from "../../src/core/message.ts"
import { createEncoder } from "../../src/model/anthropic-encode.ts"
import type { Request } from "../../src/model/model.ts"
import { chatEncoder } from "../../src/model/openai-chat-encode.ts"
import { responsesEncoder } from "../../src/model/openai-responses-encode.ts"
import { illegal } from "../../src/testing/illegal.ts"

const encoders = {
  anthropic: () => createEncoder({ name: "claude-x", maxTokens: 8_000 }),
  chat: () => chatEncoder({ provider: "openai", name: "gpt-5" }),
  responses: () => responsesEncoder({ provider: "openai", name: "gpt-5" }),
}
const formats = ["anthropic", "chat", "responses"] as const
type Format = (typeof formats)[number]

const reader = { name: "read", description: "Reads a file.", schema: { type: "object" } }

const ask = (messages: readonly Message[], more: Partial<Request> = {}): Request => ({
  system: "You are terse.",
  tools: [reader],
  messages,
  toolChoice: "auto",
  memo: {},
  ...more,
})
const fresh = (format: Format, messages: readonly Message[], more: Partial<Request> = {}): string =>
  encoders[format]()(ask(messages, more))

const user = (text: string): Message => ({ role: "user", text })
const result = (call: string, text = "ok"): Message => ({ role: "result", call, name: "read", ok: true, text })
const says = (...parts: Part[]): Assistant => ({ role: "assistant", parts })
const text = (words: string): Part => ({ type: "text", text: words })
const call = (id: string, input: unknown = {}): Part => ({ type: "call", id, name: "read", input })
const turn = (id: string): Message[] => [says(call(id)), result(id)]

const placeholder = "(forked here)"
/** A parent's messages, the last of which holds the call, and what its fork says after them. */
function forkOf(parent: readonly Message[], task: string): { messages: Message[]; inherited: number } {
  const last = parent.at(-1)
  const calls = last?.role === "assistant" ? callsOf(last.parts) : []
  return {
    messages: [...parent, ...calls.map(({ id }) => result(id, placeholder)), user(task)],
    inherited: parent.length,
  }
}

/** The request without the end of its list, which the next one goes on from. */
const opened = (body: string): string => body.replace(/\]\}$/, "")
const mark = ',"cache_control":{"type":"ephemeral"}'
const unmarked = (body: string): string => body.replaceAll(mark, "")
const marksIn = (body: string): number => body.split('"cache_control"').length - 1

/** Which of the messages carry a mark on their last block. */
const markedIn = (body: string): number[] =>
  (JSON.parse(body).messages as { content: { cache_control?: unknown }[] }[]).flatMap(({ content }, i) =>
    content.at(-1)?.cache_control ? [i] : [],
  )

const histories: [string, Message[], { parent: number[]; fork: number[] }][] = [
  ["one thing was said", [user("a")], { parent: [0], fork: [0, 2] }],
  ["two things were said", [user("a"), ...turn("1")], { parent: [0, 2], fork: [0, 2, 4] }],
  ["much was said", [user("a"), ...turn("1"), ...turn("2"), ...turn("3")], { parent: [4, 6], fork: [4, 6, 8] }],
  [
    "what the user said was merged",
    [user("a"), user("b"), ...turn("1"), user("c"), user("d"), ...turn("2"), user("e")],
    { parent: [2, 4], fork: [2, 4, 6] },
  ],
  [
    "answers with nothing in them were left out",
    [user("a"), says(), ...turn("1"), says(text(" ")), user("b"), ...turn("2"), says()],
    { parent: [2, 4], fork: [2, 4, 6] },
  ],
  ["the user had said nothing", [says(text("hello"))], { parent: [0, 2], fork: [0, 2, 4] }],
]

for (const [when, before, { parent, fork }] of histories) {
  test(`a fork's first request to Anthropic has the marks of its parent's last, and one more, where ${when}`, () => {
    for (const calls of [[call("x")], [text("I send three."), call("x"), call("y"), call("z")]]) {
      const asked = fresh("anthropic", before)
      const { messages, inherited } = forkOf([...before, says(...calls)], "do it")
      const forked = fresh("anthropic", messages, { inherited })
      assert.deepEqual([markedIn(asked), markedIn(forked)], [parent, fork])
      assert.ok(forked.startsWith(opened(asked)))
      assert.equal(marksIn(forked), 1 + fork.length)
    }
  })
}

test("golden: a fork's first request to Anthropic, byte for byte", () => {
  const before = [user("a"), ...turn("1")]
  const { messages, inherited } = forkOf([...before, says(call("x"), call("y"))], "do it")
  const waiting = (id: string) =>
    `{"type":"tool_result","tool_use_id":"${id}","content":[{"type":"text","text":"${placeholder}"}]}`
  assert.equal(
    fresh("anthropic", messages, { inherited }),
    '{"model":"claude-x","max_tokens":8000,"stream":true,' +
      `"system":[{"type":"text","text":"You are terse."${mark}}],` +
      '"tools":[{"name":"read","description":"Reads a file.","input_schema":{"type":"object"}}],' +
      `"messages":[{"role":"user","content":[{"type":"text","text":"a"${mark}}]},` +
      '{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"read","input":{}}]},' +
      `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"ok"}]${mark}}]},` +
      '{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"read","input":{}},{"type":"tool_use","id":"y","name":"read","input":{}}]},' +
      `{"role":"user","content":[${waiting("x")},${waiting("y")},{"type":"text","text":"do it"${mark}}]}]}`,
  )
})

test("with the mark on the tools, for want of a system prompt, a fork's marks are still four", () => {
  const before = [user("a"), ...turn("1"), ...turn("2")]
  const { messages, inherited } = forkOf([...before, says(call("x"))], "do it")
  const forked = fresh("anthropic", messages, { inherited, system: "" })
  assert.equal(marksIn(forked), 4)
  assert.ok(forked.startsWith(opened(fresh("anthropic", before, { system: "" }))))
})

test("from its own first answer on a fork has its marks where every run has them", () => {
  const encode = encoders.anthropic()
  const memo = {}
  const { messages, inherited } = forkOf([user("a"), ...turn("1"), says(call("x"))], "do it")
  const marked = (more: Message[]) => {
    messages.push(...more)
    return markedIn(encode(ask(messages, { memo, inherited })))
  }
  assert.deepEqual(marked([]), [0, 2, 4])
  assert.deepEqual(marked([user("hurry")]), [0, 2, 4])
  assert.deepEqual(marked([says(text(""))]), [0, 2, 4], "an answer that is left out is none")
  assert.deepEqual(marked(turn("y")), [4, 6])
  assert.deepEqual(marked(turn("z")), [6, 8])
})

test("a run whose inherited messages do not end with an answer has its marks where every run has them", () => {
  const messages = [user("a"), ...turn("1"), ...turn("2"), user("You have other tools."), user("do it")]
  for (const inherited of [0, 1, 3, 5, 6, 9]) {
    assert.equal(fresh("anthropic", messages, { inherited }), fresh("anthropic", messages))
  }
})

/** A history that counts how often it is read in order to be written. */
function counted({ name, turns }: { name: string; turns: number }): { messages: Message[]; reads(): number } {
  let reads = 0
  const long = "history ".repeat(2_000)
  const watched = <T extends object>(rest: T) => ({
    ...rest,
    get text() {
      reads++
      return long
    },
  })
  const input = {
    toJSON() {
      reads++
      return { path: long }
    },
  }
  const said = Array.from({ length: turns }, (_, i): Message[] => [
    says(watched({ type: "text" as const }), call(`${name}${i}`, input)),
    watched({ role: "result" as const, call: `${name}${i}`, name: "read", ok: true }),
    watched({ role: "user" as const }),
  ])
  return { messages: [watched({ role: "user" as const }), ...said.flat()], reads: () => reads }
}

for (const format of formats) {
  test(`16 forks use what was written for their parent, in ${format}`, () => {
    const encode = encoders[format]()
    const memo = {}
    const { messages, reads } = counted({ name: "c", turns: 32 })
    const asked = encode(ask(messages, { memo }))
    assert.ok(asked.length > 2_000_000)
    const once = reads()
    const parent = [...messages, says(...Array.from({ length: 16 }, (_, i) => call(`task${i}`)))]
    const forks = Array.from({ length: 16 }, (_, i) => ({ ...forkOf(parent, `task ${i}`), memo: {}, from: memo }))
    for (const { messages, ...fork } of forks) assert.ok(encode(ask(messages, fork)).startsWith(opened(asked)))
    for (const { messages, ...fork } of forks) encode(ask([...messages, ...turn("own")], fork))
    encode(ask([...parent, ...forks.map((_, i) => result(`task${i}`)), user("go on")], { memo }))
    assert.equal(reads(), once)
  })

  test(`what a fork and its parent say after they parted is written once, whoever is asked between, in ${format}`, () => {
    const encode = encoders[format]()
    const memo = {}
    const before = [user("a")]
    encode(ask(before, { memo }))
    const parent = [...before, says(call("x"))]
    const runs = [
      { messages: [...parent, result("x")], memo },
      ...["one", "two"].map((task) => ({ ...forkOf(parent, task), memo: {}, from: memo })),
    ].map((run, i) => ({ run, own: counted({ name: `own${i}`, turns: 2 }) }))
    for (const { run, own } of runs) encode(ask([], { ...run, messages: [...run.messages, ...own.messages] }))
    const once = runs.map(({ own }) => own.reads())
    for (const { run, own } of runs)
      encode(ask([], { ...run, messages: [...run.messages, ...own.messages, user("more")] }))
    assert.deepEqual(
      runs.map(({ own }) => own.reads()),
      once,
    )
  })

  test(`a run that adds to what its parent has not answered leaves the parent as it was, in ${format}`, () => {
    const encode = encoders[format]()
    const memo = {}
    const before = [user("a"), says(call("x"), call("y")), result("x")]
    encode(ask(before, { memo }))
    const other = [...before, result("y", "other"), user("b")]
    assert.equal(encode(ask(other, { memo: {}, from: memo })), fresh(format, other))
    for (const more of [[], [user("c")], [result("y"), user("c")]]) {
      assert.equal(encode(ask([...before, ...more], { memo })), fresh(format, [...before, ...more]))
    }
  })

  test(`a fork that begins after its parent went on uses what was written up to where they part, in ${format}`, () => {
    const encode = encoders[format]()
    const memo = {}
    const { messages, reads } = counted({ name: "c", turns: 32 })
    const asked = encode(ask(messages, { memo }))
    const once = reads()
    const parent = [...messages, says(call("x"))]
    const grown = [...parent, result("x", "started"), user("go on"), ...turn("y")]
    encode(ask(grown, { memo }))
    const { messages: forked, inherited } = forkOf(parent, "do it")
    assert.ok(encode(ask(forked, { inherited, memo: {}, from: memo })).startsWith(opened(asked)))
    encode(ask([...grown, user("on and on")], { memo }))
    assert.equal(reads(), once)
  })

  test(`tools are written once for all requests and forks, and anew when they are others, in ${format}`, () => {
    let written = 0
    const schema = { type: "object", toJSON: () => ({ type: "object", written: ++written }) }
    const tools = [reader, { name: "ls", description: "Lists a folder.", schema }]
    const encode = encoders[format]()
    const memo = {}
    const first = encode(ask([user("a")], { memo, tools }))
    assert.ok(first.includes('"written":1'))
    assert.equal(encode(ask([user("a")], { memo, tools: [...tools] })), first)
    const { messages, inherited } = forkOf([user("a"), says(call("x"))], "do it")
    assert.ok(encode(ask(messages, { inherited, memo: {}, from: memo, tools })).startsWith(opened(first)))
    assert.ok(!encode(ask([user("a")], { memo, tools: [reader] })).includes('"written"'))
    const other = encode(ask([user("a")], { memo, tools: [{ ...tools[1]! }], temperature: 0.5 }))
    assert.ok(other.includes('"written":2') && other.includes('"temperature":0.5'))
  })
}

const words = fc.oneof(fc.constantFrom("", " ", "\ud800", "ü😀", '"]}'), fc.string())
const spoken = fc.string({ minLength: 1 }).filter((said) => said.trim() !== "")
const images = fc.constantFrom<(Image[] | undefined)[]>(undefined, [{ mediaType: "image/png", data: "aGk=" }])
const thought: fc.Arbitrary<Part> = fc.constantFrom(
  { type: "reasoning", text: "hm", by: "anthropic", proof: { signature: "s" } },
  { type: "reasoning", text: "hm", by: "openai", proof: { id: "rs_1", summary: [], encrypted_content: "x" } },
  { type: "reasoning", text: "hm", by: "openai", proof: { field: "reasoning_content" } },
)
const mail = fc.array(
  fc.tuple(words, images).map(([text, images]): Message => ({ role: "user", text, ...(images && { images }) })),
  { maxLength: 2 },
)
const heard = fc.record({ ok: fc.boolean(), text: words, images, input: fc.dictionary(fc.string(), fc.jsonValue()) })

/** Turns as the loop makes them: calls are answered before anything else is said. Each call has an id of its own. */
const talk = (name: string, spoken: fc.Arbitrary<string>): fc.Arbitrary<Message[]> =>
  fc
    .array(fc.record({ thought: fc.option(thought), spoken, results: fc.array(heard, { maxLength: 3 }), mail }), {
      maxLength: 4,
    })
    .map((turns) =>
      turns.flatMap(({ thought, spoken, results, mail }, n): Message[] => [
        says(
          ...(thought ? [thought] : []),
          text(spoken),
          ...results.map(({ input }, i) => call(`${name}|${n}.${i}`, input)),
        ),
        ...results.map(({ ok, text, images }, i): Message => {
          const of = { role: "result" as const, call: `${name}|${n}.${i}`, name: "read", ok, text }
          return { ...of, ...(images && { images }) }
        }),
        ...mail,
      ]),
    )

const parents = fc
  .tuple(mail, talk("p", words), fc.option(thought), words, fc.integer({ min: 1, max: 16 }))
  .map(([mail, turns, thought, said, calls]): Message[] => [
    ...mail,
    ...turns,
    says(
      ...(thought ? [thought] : []),
      text(said),
      ...Array.from({ length: calls }, (_, i) => call(`task${i}`, { prompt: said.toWellFormed() })),
    ),
  ])
const families = fc.record({
  parent: parents,
  tasks: fc.uniqueArray(words, { minLength: 2, maxLength: 5 }),
  own: talk("own", spoken),
  memory: fc.constantFrom("none", "parent", "parent that went on"),
})

const firstDifference = (a: string, b: string): number => {
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}

for (const format of formats) {
  const assertSent = (body: string) => {
    assert.equal(illegal(format, JSON.parse(body)), undefined)
    assert.ok(marksIn(body) <= 4)
  }

  test(`law: a fork's request begins with its parent's last and siblings part after the results, in ${format}`, () => {
    fc.assert(
      fc.property(families, ({ parent, tasks, own, memory }) => {
        const encode = encoders[format]()
        const memo = {}
        const before = parent.slice(0, -1)
        const asked = encode(ask(before, { memo }))
        const answered = forkOf(parent, "go on").messages
        if (memory === "parent that went on") encode(ask([...answered, ...own], { memo }))
        const from = memory !== "none" && { from: memo }
        const forks = tasks.map((task) => ({ ...forkOf(parent, task), memo: {}, ...from }))
        const bodies = forks.map(({ messages, ...fork }) => {
          const body = encode(ask(messages, fork))
          assertSent(body)
          assert.ok(body.startsWith(opened(asked)))
          assert.equal(body, fresh(format, messages, { inherited: fork.inherited }))
          return body
        })
        const [first = ""] = bodies
        const parting = first.lastIndexOf(placeholder) + placeholder.length
        for (const other of bodies.slice(1)) assert.ok(firstDifference(first, other) >= parting)
        assert.equal(encode(ask([...answered, ...own], { memo })), fresh(format, [...answered, ...own]))
      }),
    )
  })

  test(`law: a fork grows like every run, whatever its parent and siblings do, in ${format}`, () => {
    fc.assert(
      fc.property(families, ({ parent, tasks, own, memory }) => {
        const encode = encoders[format]()
        const memo = {}
        encode(ask(parent.slice(0, -1), { memo }))
        const from = memory !== "none" && { from: memo }
        const forks = tasks.map((task) => ({ ...forkOf(parent, task), memo: {}, last: "", ...from }))
        const ends = [...own.keys()].filter((i) => own[i]?.role === "assistant")
        for (const end of [...ends, own.length]) {
          for (const fork of forks) {
            const messages = [...fork.messages, ...own.slice(0, end)]
            const { inherited } = fork
            const body = encode(ask(messages, { inherited, memo: fork.memo, ...from }))
            assertSent(body)
            assert.equal(body, fresh(format, messages, { inherited }))
            assert.ok(unmarked(body).startsWith(opened(unmarked(fork.last))))
            fork.last = body
          }
          encode(ask([...forkOf(parent, "go on").messages, ...own.slice(0, end)], { memo }))
        }
      }),
    )
  })
}
