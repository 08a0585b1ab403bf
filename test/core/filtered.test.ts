import assert from "node:assert/strict"
import { test } from "node:test"
import { filtered } from "../../src/core/filtered.ts"
import type { Image, Message, Part } from "../../src/core/message.ts"

const user = (text: string): Message => ({ role: "user", text })
const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts })
const text = (words: string): Part => ({ type: "text", text: words })
const thought = (words: string): Part => ({
  type: "reasoning",
  text: words,
  by: "anthropic",
  proof: { signature: "s" },
})
const call = (id: string, name: string, input: unknown = {}): Part => ({ type: "call", id, name, input })
const result = (id: string, name: string, words = `${id} done`): Message => ({
  role: "result",
  call: id,
  name,
  ok: true,
  text: words,
})
const failed = (id: string, name: string, words: string): Message =>
  ({ ...result(id, name, words), ok: false }) as Message
const image: Image = { mediaType: "image/png", data: "AAAA" }
const withImages = (message: Message, ...images: Image[]): Message => ({ ...message, images }) as Message

const parting = (own: string): Message =>
  user(
    `What stands above is another agent's conversation, for background only. You are a subagent ${own}. Your task comes next.`,
  )
const separator = parting("with tools of your own: read, grep")
const summary = (...lines: string[]): Message =>
  user(["Calls that are left out here, each with the start of its result:", ...lines].join("\n"))

/** What a child that can read and grep, on the same model, is shown. */
const shown = (...messages: Message[]): Message[] => filtered(messages, { tools: ["read", "grep"], reasoning: true })
/** What it is told of one call of bash with this result. */
const told = (words: string): Message[] => shown(assistant(call("a", "bash")), result("a", "bash", words))

test("what needs no change is kept as it is, the very same objects", () => {
  const messages = [
    user("find the bug"),
    assistant(thought("hm"), text("I look."), call("a", "read", { path: "x.ts" }), call("b", "grep")),
    result("a", "read"),
    failed("b", "grep", "no such folder"),
    withImages(user(""), image),
    assistant(text("Found it.")),
  ]
  const made = shown(...messages)
  assert.deepEqual(made, [...messages, separator])
  for (const [index, message] of messages.entries()) assert.equal(made[index], message)
})

test("without a history there is nothing to set apart", () => {
  assert.deepEqual(shown(), [])
})

test("a history of which nothing is left is none", () => {
  assert.deepEqual(shown(user(" \n"), assistant(thought("hm"), call("a", "task")), result("z", "read")), [])
})

test("of several calls in one answer the supported stay, and the others are summed up after their results", () => {
  assert.deepEqual(
    shown(
      user("go"),
      assistant(
        text("I look."),
        call("a", "bash", { command: "npm test" }),
        call("b", "read", { path: "x.ts" }),
        call("c", "write", { path: "y.ts", content: "long" }),
        call("d", "grep", { pattern: "z" }),
      ),
      result("a", "bash", "12 passing"),
      result("b", "read"),
      failed("c", "write", "read it first"),
      result("d", "grep"),
    ),
    [
      user("go"),
      assistant(text("I look."), call("b", "read", { path: "x.ts" }), call("d", "grep", { pattern: "z" })),
      result("b", "read"),
      result("d", "grep"),
      summary("- bash (npm test): 12 passing", "- write (y.ts) failed: read it first"),
      separator,
    ],
  )
})

test("an answer of nothing but unsupported calls goes, and its summary stands in its place", () => {
  assert.deepEqual(
    shown(
      user("go"),
      assistant(call("a", "bash", { command: "ls" }), call("b", "bash", { command: "pwd" })),
      result("a", "bash", "x.ts"),
      result("b", "bash", "/w"),
      user("and now?"),
    ),
    [user("go"), summary("- bash (ls): x.ts", "- bash (pwd): /w"), user("and now?"), separator],
  )
})

test("each answer has a summary of its own", () => {
  assert.deepEqual(
    shown(
      assistant(call("a", "bash")),
      result("a", "bash", "one"),
      assistant(text("Next."), call("b", "bash")),
      result("b", "bash", "two"),
    ),
    [summary("- bash: one"), assistant(text("Next.")), summary("- bash: two"), separator],
  )
})

test("the words beside an unsupported call stay", () => {
  assert.deepEqual(shown(assistant(text("I run it."), call("a", "bash")), result("a", "bash")), [
    assistant(text("I run it.")),
    summary("- bash: a done"),
    separator,
  ])
})

test("a call without a result goes", () => {
  assert.deepEqual(shown(assistant(call("a", "read"), call("b", "read")), result("b", "read")), [
    assistant(call("b", "read")),
    result("b", "read"),
    separator,
  ])
})

test("an unsupported call without a result goes without a word", () => {
  assert.deepEqual(shown(user("go"), assistant(text("I run it."), call("a", "bash"))), [
    user("go"),
    assistant(text("I run it.")),
    separator,
  ])
})

test("the open call that starts the child goes, and so does its answer if it said nothing else", () => {
  const open = call("a", "task", { prompt: "look" })
  assert.deepEqual(shown(user("go"), assistant(thought("a child"), open, call("b", "task"))), [user("go"), separator])
  assert.deepEqual(shown(user("go"), assistant(text("I send one."), open)), [
    user("go"),
    assistant(text("I send one.")),
    separator,
  ])
})

test("the open call goes also when the child could make it itself", () => {
  assert.deepEqual(filtered([user("go"), assistant(call("a", "task"))], { tools: ["task"], reasoning: true }), [
    user("go"),
    parting("with tools of your own: task"),
  ])
})

test("a result without a call goes", () => {
  assert.deepEqual(shown(result("a", "read"), user("go"), result("b", "bash"), assistant(text("Yes."))), [
    user("go"),
    assistant(text("Yes.")),
    separator,
  ])
})

test("a result before its call is no result of it", () => {
  assert.deepEqual(shown(result("a", "read"), assistant(text("I look."), call("a", "read"))), [
    assistant(text("I look.")),
    separator,
  ])
})

test("of two results of one call the first counts", () => {
  assert.deepEqual(shown(assistant(call("a", "read")), result("a", "read", "first"), result("a", "read", "second")), [
    assistant(call("a", "read")),
    result("a", "read", "first"),
    separator,
  ])
})

test("of two calls with one id in an answer the first counts", () => {
  assert.deepEqual(
    shown(assistant(call("a", "read", { path: "x" }), call("a", "read", { path: "y" })), result("a", "read")),
    [assistant(call("a", "read", { path: "x" })), result("a", "read"), separator],
  )
  assert.deepEqual(shown(assistant(call("a", "bash"), call("a", "read")), result("a", "bash")), [
    summary("- bash: a done"),
    separator,
  ])
})

test("a result belongs to the last answer before it that has its id", () => {
  assert.deepEqual(
    shown(
      assistant(text("One."), call("a", "read")),
      assistant(text("Two."), call("a", "read")),
      assistant(text("Three.")),
      result("a", "read"),
    ),
    [
      assistant(text("One.")),
      assistant(text("Two."), call("a", "read")),
      result("a", "read"),
      assistant(text("Three.")),
      separator,
    ],
  )
})

test("an id that was used before is not used again: the later call is summed up", () => {
  assert.deepEqual(
    shown(
      assistant(call("a", "read", { path: "x" })),
      result("a", "read", "one"),
      assistant(call("a", "read", { path: "y" }), call("b", "read")),
      result("a", "read", "two"),
      result("b", "read"),
    ),
    [
      assistant(call("a", "read", { path: "x" })),
      result("a", "read", "one"),
      assistant(call("b", "read")),
      result("b", "read"),
      summary("- read (y): two"),
      separator,
    ],
  )
})

test("results follow their answer at once, in the order of the calls", () => {
  assert.deepEqual(
    shown(
      assistant(call("a", "read"), call("b", "bash"), call("c", "grep"), call("d", "bash")),
      user("hurry"),
      result("d", "bash"),
      result("c", "grep"),
      result("b", "bash"),
      result("a", "read"),
    ),
    [
      assistant(call("a", "read"), call("c", "grep")),
      result("a", "read"),
      result("c", "grep"),
      summary("- bash: b done", "- bash: d done"),
      user("hurry"),
      separator,
    ],
  )
})

test("thoughts go along with the same model only", () => {
  const messages = [
    assistant(thought("hm"), text("I look."), thought("there"), call("a", "read")),
    result("a", "read"),
    assistant(thought("done"), text("Yes.")),
  ]
  assert.deepEqual(shown(...messages), [...messages, separator])
  assert.deepEqual(filtered(messages, { tools: ["read", "grep"], reasoning: false }), [
    assistant(text("I look."), call("a", "read")),
    result("a", "read"),
    assistant(text("Yes.")),
    separator,
  ])
})

test("a thought that leads to nothing any more goes", () => {
  assert.deepEqual(
    shown(
      assistant(thought("hm"), text("I run it."), thought("now"), call("a", "bash"), text(" ")),
      result("a", "bash"),
    ),
    [assistant(thought("hm"), text("I run it.")), summary("- bash: a done"), separator],
  )
})

test("an answer of thoughts and blanks alone goes", () => {
  assert.deepEqual(shown(user("go"), assistant(), assistant(thought("hm")), assistant(thought("hm"), text("\n "))), [
    user("go"),
    separator,
  ])
})

test("users' messages without words and images go", () => {
  assert.deepEqual(shown(user(""), user(" \n\t"), withImages(user(" ")), withImages(user(""), image), user("go")), [
    withImages(user(""), image),
    user("go"),
    separator,
  ])
})

test("images of users and of supported results stay, others are named", () => {
  assert.deepEqual(
    shown(
      withImages(user("this"), image),
      assistant(call("a", "read"), call("b", "screenshot"), call("c", "screenshot"), call("d", "screenshot")),
      withImages(result("a", "read"), image),
      withImages(result("b", "screenshot", "taken"), image),
      withImages(result("c", "screenshot", " "), image, image),
      withImages(result("d", "screenshot", "none")),
    ),
    [
      withImages(user("this"), image),
      assistant(call("a", "read")),
      withImages(result("a", "read"), image),
      summary("- screenshot: taken [image]", "- screenshot: [2 images]", "- screenshot: none"),
      separator,
    ],
  )
})

test("a call with broken arguments stays if supported, and is told by what came of it if not", () => {
  const broken = (id: string, name: string): Part => ({ type: "call", id, name, input: {}, broken: '{"path":\n"x' })
  assert.deepEqual(
    shown(
      assistant(broken("a", "read"), broken("b", "write")),
      failed("a", "read", "not whole JSON"),
      failed("b", "write", "not whole JSON"),
    ),
    [
      assistant(broken("a", "read")),
      failed("a", "read", "not whole JSON"),
      summary('- write ({"path": "x) failed: not whole JSON'),
      separator,
    ],
  )
})

test("a child without tools is told everything in words", () => {
  assert.deepEqual(
    filtered([user("go"), assistant(text("I look."), call("a", "read", { path: "x" })), result("a", "read")], {
      tools: [],
      reasoning: true,
    }),
    [user("go"), assistant(text("I look.")), summary("- read (x): a done"), parting("without any tools")],
  )
})

test("the tools are named in the order given, each once", () => {
  assert.deepEqual(filtered([user("go")], { tools: ["write", "bash", "write"], reasoning: true }), [
    user("go"),
    parting("with tools of your own: write, bash"),
  ])
})

test("up to 200 characters of a result are told whole, of longer ones the first 200", () => {
  assert.deepEqual(told("x".repeat(200)), [summary(`- bash: ${"x".repeat(200)}`), separator])
  assert.deepEqual(told(`${"x".repeat(200)}\n\n`), [summary(`- bash: ${"x".repeat(200)}`), separator])
  assert.deepEqual(told("x".repeat(201)), [summary(`- bash: ${"x".repeat(200)}…`), separator])
})

test("a wide character at the cut is told whole or not at all, and counts as one", () => {
  assert.deepEqual(told(`${"x".repeat(199)}🦊y`), [summary(`- bash: ${"x".repeat(199)}🦊…`), separator])
  assert.deepEqual(told(`${"x".repeat(200)}🦊`), [summary(`- bash: ${"x".repeat(200)}…`), separator])
  assert.deepEqual(told("🦊".repeat(200)), [summary(`- bash: ${"🦊".repeat(200)}`), separator])
  assert.deepEqual(told(`x${"🦊".repeat(200)}`), [summary(`- bash: x${"🦊".repeat(199)}…`), separator])
})

test("a result of many lines is told on one, so that it cannot look like two", () => {
  assert.deepEqual(told("\n one\r\n\n- bash: two\u2028three\t four \n"), [
    summary("- bash: one - bash: two three four"),
    separator,
  ])
})

test("a result without words is told as such", () => {
  assert.deepEqual(told(" \n"), [summary("- bash: (no output)"), separator])
})

test("what a call was on is its first words, short and on one line", () => {
  const on = (input: unknown) => shown(assistant(call("a", "bash", input)), result("a", "bash", "ok"))[0]
  assert.deepEqual(on({ timeout: 5, command: "npm\n test", cwd: "/w" }), summary("- bash (npm test): ok"))
  assert.deepEqual(on({ command: "x".repeat(81) }), summary(`- bash (${"x".repeat(80)}…): ok`))
  assert.deepEqual(on(["ls", "pwd"]), summary("- bash (ls): ok"))
  assert.deepEqual(on("ls"), summary("- bash (ls): ok"))
  for (const input of [{}, { deep: { command: "ls" } }, { command: "" }, null, undefined, 7])
    assert.deepEqual(on(input), summary("- bash: ok"))
})

test("a name that a model made up stays on its line", () => {
  assert.deepEqual(shown(assistant(call("a", "no\nsuch")), failed("a", "no\nsuch", "there is no such tool")), [
    summary("- no such failed: there is no such tool"),
    separator,
  ])
})

test("a history that was filtered before stays as it was, with the new reader's tools at its end", () => {
  const once = shown(
    user("go"),
    assistant(text("I look."), call("a", "read"), call("b", "bash")),
    result("a", "read"),
    result("b", "bash"),
  )
  assert.deepEqual(shown(...once), [...once, separator])
  assert.deepEqual(filtered([...once, user("look")], { tools: ["grep"], reasoning: true }), [
    user("go"),
    assistant(text("I look.")),
    summary("- read: a done"),
    summary("- bash: b done"),
    separator,
    user("look"),
    parting("with tools of your own: grep"),
  ])
})

test("a long history takes no longer a message than a short one", () => {
  const long = "a line of output\n".repeat(3_000)
  const messages = Array.from({ length: 40_000 }, (_, index): Message[] => [
    assistant(call(`a${index}`, "read"), call(`b${index}`, "bash")),
    result(`a${index}`, "read", long),
    result(`b${index}`, "bash", long),
  ]).flat()
  const from = performance.now()
  assert.equal(filtered(messages, { tools: ["read"], reasoning: true }).length, 120_001)
  // Looking through the history again for every message would take minutes.
  assert.ok(performance.now() - from < 5_000)
})
