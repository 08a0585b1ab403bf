import assert from "node:assert/strict"
import { test } from "node:test"
import type { Details } from "../../src/core/access.ts"
import { call, opened, said, screen, session, turn, used } from "./talk.ts"

const lines = (n: number) => Array.from({ length: n }, (_, at) => `line ${at + 1}`).join("\n")
const command = (more: Partial<Extract<Details, { kind: "command" }>>): Details => ({
  kind: "command",
  command: "npm test",
  exit: 0,
  signal: null,
  timedOut: false,
  ...more,
})

test("a call is a line, with the beginning of its result below it", () => {
  assert.deepEqual(screen(used("grep", { pattern: "permit" }, { text: lines(15) })), [
    "● grep permit",
    "  └ line 1",
    "    line 2",
    "    line 3",
    "    … +12 lines",
  ])
})

test("one line too many is shown instead of counted", () => {
  assert.deepEqual(screen(used("ls", { path: "src" }, { text: lines(4) })), [
    "● ls src",
    "  └ line 1",
    "    line 2",
    "    line 3",
    "    line 4",
  ])
})

test("a failed call has its reason", () => {
  const failed = { ok: false, text: "there is no folder src; there is lib" }
  assert.deepEqual(screen(used("ls", { path: "src" }, failed)), [
    "✗ ls src",
    "  └ failed: there is no folder src; there is lib",
  ])
})

test("a command has its exit code and the end of its output", () => {
  assert.deepEqual(screen(used("bash", { command: "npm test" }, { text: lines(5), details: command({}) })), [
    "● bash npm test",
    "  └ exit code 0",
    "    … +2 lines",
    "    line 3",
    "    line 4",
    "    line 5",
  ])
})

test("a command that did not end by itself says how it ended", () => {
  const fates = [
    command({ exit: 1 }),
    command({ exit: null, signal: "SIGKILL" }),
    command({ exit: null, timedOut: true }),
  ]
  assert.deepEqual(
    fates.map((details) => screen(used("bash", { command: "a" }, { ok: false, text: "out\n\nit ended", details }))),
    ["exit code 1", "killed by SIGKILL", "timed out"].map((fate) => ["✗ bash a", `  └ ${fate}`, "    out"]),
  )
})

test("while a command runs the end of its output is shown, without what was written over", () => {
  assert.deepEqual(
    screen([
      turn(call("bash", { command: "npm i" })),
      { type: "call.started", id: "c", name: "bash" },
      { type: "call.delta", id: "c", text: `${lines(5)}\n10%\r20` },
      { type: "call.delta", id: "c", text: "%\n" },
    ]),
    ["◐ bash npm i", "  └ … +3 lines", "    line 4", "    line 5", "    20%"],
  )
})

test("a call that waits for a person says so", () => {
  const access = { kind: "run" as const, command: "rm x" }
  assert.deepEqual(screen([turn(call("bash", { command: "rm x" })), { type: "gate.asked", call: "c", access }]), [
    "? bash rm x",
    "  └ waits for your permission",
  ])
})

test("a call whose run ended before it did says so", () => {
  const stopped = { type: "run.settled" as const, outcome: { status: "cancelled" as const, text: "" }, ms: 1 }
  assert.deepEqual(screen([turn(call("ls", {})), stopped]).slice(0, 2), ["■ ls", "  └ did not come to its end"])
})

test("an edit shows its change, bounded", () => {
  const body = Array.from({ length: 20 }, (_, at) => `+new ${at}`)
  const diff = ["--- a.ts", "+++ a.ts", "@@ -1,2 +1,1 @@", " same", "-old", "@@ -9,0 +9,20 @@", ...body, ""].join("\n")
  const details = { kind: "diff" as const, path: "a.ts", diff, added: 20, removed: 1 }
  const edit = used("edit", { file_path: "a.ts" }, { text: "done", details })
  assert.deepEqual(screen(edit), [
    "● edit a.ts",
    "  └ +20 -1",
    "     same",
    "    -old",
    "    ⋮",
    ...body.slice(0, 9).map((line) => `    ${line}`),
    "    … +11 lines",
  ])
  assert.equal(screen(edit, { colors: true })[3], "    \u001b[38;5;203m-old\u001b[39m")
  assert.equal(screen(edit, { detail: "all" }).at(-1), "    +new 19")
})

test("a to-do list is shown as boxes", () => {
  const details: Details = {
    kind: "todo",
    items: [
      { content: "look", status: "completed" },
      { content: "mend", status: "in_progress" },
      { content: "test", status: "pending" },
    ],
  }
  assert.deepEqual(screen(used("todo_write", { todos: [] }, { text: "", details })), [
    "● todo_write",
    "  └ [x] look",
    "    [>] mend",
    "    [ ] test",
  ])
})

test("a page has its status and size, and a result that is an image is named", () => {
  const details = { kind: "page" as const, url: "http://a.b", status: 200, bytes: 1234 }
  assert.deepEqual(screen(used("web_fetch", { url: "http://a.b" }, { text: lines(9), details })), [
    "● web_fetch http://a.b",
    "  └ status 200, 1234 bytes",
  ])
  const image = { type: "call.ended" as const, id: "c", ok: true, text: "", ms: 1 }
  const images = [{ mediaType: "image/png", data: "" }]
  assert.deepEqual(screen([turn(call("read", { path: "a.png" })), { ...image, images }]), [
    "● read a.png",
    "  └ (an image, image/png)",
  ])
})

test("a task shows its child while it works and how it ended, whatever becomes of the child later", () => {
  const { emit, child, open } = session()
  const conversation = open()
  emit(...said("go"), turn(call("task", { prompt: "look", description: "find auth files" })))
  child(opened(1), ...said("look"))
  assert.equal(conversation.render(80).at(-1), "  └ [explore] find auth files (a1) - at work")
  const error = { kind: "network" as const, message: "the line is dead" }
  child({ type: "run.settled", outcome: { status: "failed", text: "", error }, ms: 3_200 })
  emit({ type: "call.ended", id: "c", ok: false, text: "failed", ms: 1, details: { kind: "task", run: "a1" } })
  const ended = [
    "> go",
    "",
    "✗ task find auth files",
    "  └ [explore] find auth files (a1) - failed: the line is dead (0 tools, 3.2s)",
  ]
  assert.deepEqual(conversation.render(80), ended)
  child(...said("again"))
  assert.deepEqual(conversation.render(90), ended)
})

test("where everything is shown a call has all that it was given, to 200 lines", () => {
  const all = (events: Parameters<typeof screen>[0]) => screen(events, { detail: "all" }).slice(2) // below the system prompt
  const rows = all(used("write", { path: "a", content: lines(300) }, { text: lines(300) }))
  assert.deepEqual(
    [rows.slice(0, 4), rows.slice(201, 204), rows.slice(-2)],
    [
      ["● write a", "    path: a", "    content:", "    line 1"],
      ["    … +102 lines", "  └ line 1", "    line 2"],
      ["    line 200", "    … +100 lines"],
    ],
  )
  const broken = { type: "call" as const, id: "c", name: "ls", input: {}, broken: "{oh" }
  assert.deepEqual(all([turn(broken)]), ["○ ls", "    (not JSON) {oh"])
})
