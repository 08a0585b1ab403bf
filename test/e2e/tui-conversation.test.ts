import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, fail, serve, stall, steps, tries } from "../../src/testing.ts"
import { latch, until } from "./behind.ts"
import { home } from "./binary.ts"
import { done, keys, screen, stopped, talk } from "./screen.ts"

const answer = `# What was found

Some *words* with \`code\` and [a link](https://example.org/retry).

\`\`\`ts
const most: number = 3
\`\`\`

| place | what |
|-------|------|
| 重试  | 🚀 三次 |
| retry | 3    |

- one
- two
`

test("an answer is shown as what its Markdown means: heading, code, table, link, list", async (t) => {
  const { type, see, rows } = await talk(t, () => answer, { rows: 40 })
  type("what is there?\r")
  await see(done)
  const from = rows().indexOf("What was found")
  assert.deepEqual(rows().slice(from, from + 17), [
    "What was found",
    "",
    "Some words with code and a link (https://example.org/retry).",
    "",
    "```ts",
    "  const most: number = 3",
    "```",
    "",
    "┌───────┬─────────┐",
    "│ place │ what    │",
    "├───────┼─────────┤",
    "│ 重试  │ 🚀 三次 │",
    "├───────┼─────────┤",
    "│ retry │ 3       │",
    "└───────┴─────────┘",
    "",
    "- one",
  ])
})

test("an answer is seen while it comes", async (t) => {
  const { type, see } = await talk(t, () => stall({ at: "before-stop", of: "the first half of it", pings: 0 }))
  type("go\r")
  await see("the first half of it")
  await see("answering · ")
  type(keys.escape)
  await see(stopped)
})

test("a call shows its tool, its object and a short result; one that failed says so", async (t) => {
  const script = steps(
    [call("read", { path: "a.txt" }), call("grep", { pattern: "nothing" }), call("read", { path: "b.txt" })],
    "that was all",
  )
  const { type, see, rows } = await talk(t, script, { files: { "a.txt": "alpha\n" } })
  type("go\r")
  await see(done)
  const calls = rows().filter((row) => /^[●✗] /.test(row))
  assert.deepEqual(calls, ["● read a.txt", "● grep nothing", "✗ read b.txt"])
})

test("an edit shows what it changed, and the list of things to do stands where it was written", async (t) => {
  const todos = [
    { content: "read it", status: "completed" },
    { content: "mend it", status: "in_progress" },
    { content: "test it", status: "pending" },
  ]
  const script = steps(
    [call("read", { path: "a.txt" }), call("todo_write", { todos })],
    [call("edit", { path: "a.txt", old_string: "alpha", new_string: "beta" })],
    "mended",
  )
  const args = ["--permission-mode", "acceptEdits"]
  const { type, see, rows, place } = await talk(t, script, { args, files: { "a.txt": "one\nalpha\ntwo\n" } })
  type("go\r")
  await see(done)
  const shown = rows().map((row) => row.trim())
  const list = shown.indexOf("● todo_write")
  assert.deepEqual(shown.slice(list, list + 4), ["● todo_write", "└ [x] read it", "[>] mend it", "[ ] test it"])
  const edit = shown.indexOf("● edit a.txt")
  assert.deepEqual(
    shown.slice(edit).filter((row) => /^(└ )?[-+]/.test(row)),
    ["└ +1 -1", "-alpha", "+beta"],
  )
  assert.equal(await place.file("a.txt"), "one\nbeta\ntwo\n")
})

test("Chinese and emoji keep their columns, in what is typed, asked and answered", async (t) => {
  const { type, see, rows } = await talk(t, () => `${"宽".repeat(50)}🚀`, { columns: 40 })
  type("你好 🚀 家")
  await see("你好 🚀 家")
  type("\r")
  await see(done)
  const lines = rows().filter((row) => /宽|🚀/.test(row))
  assert.deepEqual(lines, ["> 你好 🚀 家", "宽".repeat(20), "宽".repeat(20), `${"宽".repeat(10)}🚀`])
})

test("what is typed while it works is heard between two turns, and is on the screen at once", async (t) => {
  const gate = latch()
  const script = steps<Asked>(
    async () => {
      await gate.wait
      return [call("ls", {})]
    },
    ({ messages }) => `heard ${messages.filter(({ role }) => role === "user").map(({ text }) => text)}`,
  )
  const { type, see, server } = await talk(t, script)
  type("first\r")
  await until(() => server.pending > 0)
  type("second\r")
  await see(/second/)
  gate.open()
  await see("heard first,second")
})

test("what a model or a tool says cannot move the cursor, colour the screen or ring", async (t) => {
  const nasty = "a\u001b[2Jb\u001b]0;title\u0007c\u0007d"
  const script = steps([call("read", { path: "nasty.txt" })], nasty)
  const { type, see, sent, text } = await talk(t, script, { files: { "nasty.txt": nasty } })
  type("go\r")
  await see(done)
  assert.doesNotMatch(sent(), /\u001b\[2Jb|\]0;title|\u0007d/)
  assert.match(text(), /^abcd$/m)
})

test("a provider that fails is told of by word, with its reason, and asked again", async (t) => {
  const script = tries(fail("overloaded", "busy just now", { retryAfter: 2_000 }), "here I am")
  const { type, see } = await talk(t, script)
  type("go\r")
  await see(/ retrying: .*busy just now/)
  await see("here I am")
  await see(done)
})

test("a failure that does not pass says what it is, and the conversation goes on", async (t) => {
  const { type, see } = await talk(t, (_, n) => (n === 0 ? fail("bad_request", "no such thing") : "better"))
  type("go\r")
  await see(/failed: .*no such thing/)
  type("and now?\r")
  await see("better")
})

test("a session that is gone on with shows what was said before", async (t) => {
  await using server = await serve(({ messages }) => `answer ${messages.length}`)
  const place = await home(t, {})
  const args = ["--model", "anthropic/any"]
  const first = screen(t, place, server.env, args)
  await first.see("ready")
  first.type("the first question\r")
  await first.see("answer 1")
  await first.see(done)
  first.type("/exit\r")
  assert.equal(await first.exit, 0)
  const again = screen(t, place, server.env, [...args, "-c"])
  await again.see("the first question")
  await again.see("answer 1")
  again.type("the second\r")
  await again.see("answer 3")
})

test("a first prompt on the command line is sent by itself", async (t) => {
  await using server = await serve(({ last }) => `heard ${last}`)
  const { see } = screen(t, await home(t), server.env, ["--model", "anthropic/any", "look around"])
  await see("heard look around")
})
