import assert from "node:assert/strict"
import { test } from "node:test"
import { visibleWidth } from "@earendil-works/pi-tui"
import fc from "fast-check"
import type { Fact } from "../../src/core/event.ts"
import { noUsage } from "../../src/core/usage.ts"
import { call, opened, said, screen, session, turn, used } from "./talk.ts"

const text = (words: string) => ({ type: "text" as const, text: words })
const settled = (outcome: Extract<Fact, { type: "run.settled" }>["outcome"]): Fact => ({
  type: "run.settled",
  outcome,
  ms: 3_200,
})
const thought = { type: "reasoning" as const, text: "Where is it?", by: "m" }
const squeezed: Fact & { type: "run.compacted" } = {
  type: "run.compacted",
  from: 0,
  before: 9_000,
  after: 900,
  usage: noUsage(),
  cost: 0,
  ms: 1,
}
const done = settled({ status: "completed", text: "It is here." })

test("the user's words are marked, the model's are Markdown", () => {
  assert.deepEqual(screen([...said("where is\nit?"), turn(thought, text("It is **here**:\n\n- a\n- b")), done]), [
    "> where is",
    "  it?",
    "",
    "It is here:",
    "",
    "- a",
    "- b",
  ])
})

test("an answer is shown while it comes, and stays where it was when it is there", () => {
  const { emit, open } = session()
  const conversation = open()
  emit(...said("go"), { type: "turn.delta", kind: "text", text: "It is" })
  assert.deepEqual(conversation.render(60), ["> go", "", "It is"])
  conversation.note("  a note")
  emit({ type: "turn.delta", kind: "text", text: " here." })
  assert.deepEqual(conversation.render(60), ["> go", "", "It is here.", "", "  a note"])
  emit(turn(text("It is here.")))
  assert.deepEqual(conversation.render(60), ["> go", "", "It is here.", "", "  a note"])
})

test("what had come of an answer that was stopped stays, as it has been read", () => {
  const stopped = { type: "run.stopped", status: "cancelled", why: "stopped by the user" } as const
  const failed = { type: "turn.failed", error: { kind: "network", message: "stopped" }, wait: null } as const
  assert.deepEqual(
    screen([
      ...said("go"),
      { type: "turn.delta", kind: "text", text: "It is" },
      stopped,
      { ...failed, usage: noUsage(), cost: 0 },
      settled({ status: "cancelled", text: "" }),
    ]),
    ["> go", "", "It is", "", "■ stopped: stopped by the user; say what to do instead, or", "  that it may go on"],
  )
})

test("what had come of an answer that failed is gone, and when it is tried again is said", () => {
  assert.deepEqual(
    screen([
      ...said("go"),
      { type: "turn.delta", kind: "text", text: "It is" },
      {
        type: "turn.failed",
        error: { kind: "rate_limit", message: "too many requests" },
        wait: 3_000,
        usage: noUsage(),
        cost: 0,
      },
    ]),
    ["> go", "", "↻ rate limited: too many requests; trying again in 3.0s"],
  )
})

test("what had come of an answer that was stopped stays, with a word on why and what next", () => {
  assert.deepEqual(
    screen(
      [
        ...said("go"),
        { type: "turn.delta", kind: "text", text: "It is" },
        { type: "run.stopped", status: "cancelled", why: "by the user" },
        settled({ status: "cancelled", text: "" }),
      ],
      { width: 80 },
    ),
    ["> go", "", "It is", "", "■ stopped: by the user; say what to do instead, or that it may go on"],
  )
})

test("a failure says what to do, and so does a limit", () => {
  const failed = settled({ status: "failed", text: "", error: { kind: "authentication", message: "the key is wrong" } })
  assert.deepEqual(screen([...said("go"), failed, ...said("again"), settled({ status: "max_turns", text: "" })]), [
    "> go",
    "",
    "✗ failed: the key is wrong",
    "  set the key of this provider and start again, or take",
    "  another model with /model",
    "",
    "> again",
    "",
    "■ its turns are used up; a word from you gives it as many",
    "  again",
  ])
})

test("words that it has not heard yet stand at the end and say so", () => {
  const { emit, open } = session()
  const conversation = open()
  emit(...said("go"), turn(call("ls", { path: "src" })), { type: "mail.sent", text: "and lib" })
  assert.deepEqual(conversation.render(60), ["> go", "", "○ ls src", "", "> and lib", "  (not heard yet)"])
  emit({ type: "call.ended", id: "c", ok: true, text: "a.ts", ms: 1 }, { type: "mail.read" })
  assert.deepEqual(conversation.render(60), ["> go", "", "● ls src", "  └ a.ts", "", "> and lib"])
})

test("what the engine and hooks say, a shorter conversation and another model have a line each", () => {
  assert.deepEqual(
    screen(
      [
        ...said("go"),
        { type: "run.told", reason: "turns", text: "This is\nyour last turn." },
        { type: "hook.ran", event: "Stop", said: { notes: ["tests pass", "all of them"] } },
        squeezed,
        { type: "model.chosen", model: "other" },
        { type: "run.compacting", text: "It was" },
      ],
      { width: 80 },
    ),
    [
      "> go",
      "",
      "· told: This is your last turn.",
      "· tests pass; all of them",
      "· the conversation was made shorter: from 9.0k tokens to about 900 tokens",
      "· from here on with the model other",
      "↻ making the conversation shorter …",
    ],
  )
})

test("the result of an agent in the background is a line when it is heard", () => {
  const { emit, child, open } = session()
  const conversation = open()
  emit(...said("go"), turn(call("task", { prompt: "look", description: "find auth files" })))
  child(opened(1, { behind: true }), ...said("look"))
  const details = { kind: "task" as const, run: "a1" }
  emit({ type: "call.ended", id: "c", ok: true, text: "async_launched", ms: 1, details }, turn(text("I wait.")), done)
  child(turn(text("In auth.ts.")), done)
  emit({ type: "mail.sent", text: "In auth.ts.\n\nagent a1", from: "a1" }, { type: "mail.read" })
  assert.deepEqual(conversation.render(70), [
    "> go",
    "",
    "● task find auth files",
    "  └ [explore] find auth files (a1) - at work in the background",
    "",
    "I wait.",
    "",
    "◂ heard: [explore] find auth files (a1) - done (0 tools, 3.2s)",
  ])
})

test("the transcript of an agent has its prompts, thoughts, whole calls, and what its parent got", () => {
  const { emit, child, open } = session()
  emit(...said("go"), turn(call("task", { prompt: "look" })))
  child(opened(1), ...said("look"))
  const conversation = open({ run: "a1", detail: "all" })
  child(
    { type: "turn.delta", kind: "reasoning", text: "Where" },
    turn(thought, call("grep", { pattern: "auth", path: "src" }, "g")),
    { type: "call.ended", id: "g", ok: true, text: "1\n2\n\n3\n4\n5\n6", ms: 1 },
    turn(text("In auth.ts.")),
    done,
  )
  const ended = "In auth.ts.\n\nagent a1 · completed"
  emit({ type: "call.ended", id: "c", ok: true, text: ended, ms: 1, details: { kind: "task", run: "a1" } })
  const shown = [
    "+ system prompt (2 lines, 23 characters)",
    "",
    "> look",
    "",
    "~ thought: Where is it?",
    "",
    "● grep src",
    "    pattern: auth",
    "    path: src",
    "  └ 1",
    "    2",
    "",
    "    3",
    "    4",
    "    5",
    "    6",
    "",
    "In auth.ts.",
    "",
    "◂ returned to its parent:",
    "  In auth.ts.",
    "",
    "  agent a1 · completed",
  ]
  const trimmed = (rows: string[]) => rows.map((row) => row.trimEnd())
  assert.deepEqual(trimmed(conversation.render(60)), shown)
  assert.deepEqual(trimmed(open({ run: "a1", detail: "all" }).render(60)), shown)
})

test("a conversation that is opened later shows what was said and done before", () => {
  const { emit, open } = session()
  const failing = { ok: false, text: "1\n2\n3\n4\n5\n\nexit code 1" }
  emit(...said("go"), ...used("bash", { command: "npm test" }, failing), turn(text("It fails."), call("ls", {}, "d")))
  emit({ type: "mail.sent", text: "mend it" }, { type: "turn.delta", kind: "text", text: "I" })
  assert.deepEqual(open().render(60), [
    "> go",
    "",
    "✗ bash npm test",
    "  └ exit code 1",
    "    … +2 lines",
    "    3",
    "    4",
    "    5",
    "",
    "It fails.",
    "",
    "○ ls",
    "",
    "I",
    "",
    "> mend it",
    "  (not heard yet)",
  ])
})

test("of the calls of a turn those that have ended are told from the others, also by whoever comes later", () => {
  const { emit, open } = session()
  emit(...said("go"), turn(call("ls", { path: "a" }, "1"), call("ls", { path: "b" }, "2")))
  emit({ type: "call.ended", id: "1", ok: true, text: "a.ts", ms: 1 })
  assert.deepEqual(open().render(60), ["> go", "", "● ls a", "  └ a.ts", "○ ls b"])
  emit(settled({ status: "cancelled", text: "" }))
  const ended = ["> go", "", "● ls a", "  └ a.ts", "■ ls b", "  └ did not come to its end"]
  assert.deepEqual(open().render(60).slice(0, 6), ended)
})

test("what its parent got is shown once, when it got it", () => {
  const { emit, child, open } = session()
  emit(...said("go"), turn(call("task", { prompt: "look" })))
  child(opened(1), ...said("look"), turn(text("In auth.ts.")), done)
  const conversation = open({ run: "a1", detail: "all" })
  const before = ["+ system prompt (2 lines, 23 characters)", "", "> look", "", "In auth.ts."]
  assert.deepEqual(conversation.render(60), before)
  const details = { kind: "task" as const, run: "a1" }
  emit({ type: "call.ended", id: "c", ok: true, text: "In auth.ts.", ms: 1, details })
  assert.deepEqual(conversation.render(60), [...before, "", "◂ returned to its parent:", "  In auth.ts."])
})

test("of an agent that is sent behind its parent gets the result as mail, and not what its call ends with", () => {
  const { emit, child, open } = session()
  emit(...said("go"), turn(call("task", { prompt: "look" })))
  child(opened(1), ...said("look"), { type: "run.moved", behind: true })
  const conversation = open({ run: "a1", detail: "all" })
  const details = { kind: "task" as const, run: "a1" }
  emit({ type: "call.ended", id: "c", ok: true, text: "async_launched", ms: 1, details })
  child(turn(text("In auth.ts.")), done)
  emit({ type: "mail.sent", text: "In auth.ts.", from: "a1" })
  assert.deepEqual(conversation.render(60).slice(2), [
    "> look",
    "",
    "In auth.ts.",
    "",
    "◂ returned to its parent:",
    "  In auth.ts.",
  ])
})

test("what a run knows from elsewhere is folded: a parent's conversation, results, a summary", () => {
  const { emit, child, open } = session()
  emit(...said("go"), turn(text("I look."), call("task", { prompt: "look" })))
  child(opened(1, { history: { as: "fork" } }), ...said("look"))
  emit({ type: "call.ended", id: "c", ok: true, text: "async_launched", ms: 1 })
  emit({ type: "mail.sent", text: "In auth.ts.", from: "a1" }, { type: "mail.read" })
  assert.deepEqual(open({ run: "a1" }).render(60), [
    "· knows 2 messages of the conversation that it came from",
    "+ what it was told it is (2 lines, 23 characters)",
    "",
    "> look",
  ])
  assert.deepEqual(open().render(60).slice(-1), ["◂ heard: results of agents in the background"])
  emit(turn(text("There.")), { ...squeezed, from: 4, summary: "It was looked for." }, ...said("and now?"))
  assert.deepEqual(open().render(60), [
    "+ what came before was summed up (5 lines, 128 characters)",
    "",
    "> go",
    "",
    "There.",
    "",
    "> and now?",
  ])
})

test("events of other runs leave a conversation as it is", () => {
  const { emit, child, open } = session()
  const conversation = open()
  emit(...said("go"))
  child(opened(1), ...said("look"), turn(text("In auth.ts.")), done)
  assert.deepEqual(conversation.render(60), ["> go"])
})

test("blocks that are finished are not rendered again, until all is to be forgotten", () => {
  const { emit, open } = session()
  const conversation = open()
  emit(...said("go"), turn(text("It is here.")))
  const before = conversation.render(60)
  before.push("spoiled")
  assert.deepEqual(conversation.render(60), ["> go", "", "It is here."])
  conversation.invalidate()
  assert.deepEqual(conversation.render(60), ["> go", "", "It is here."])
  assert.deepEqual(conversation.render(8), ["> go", "", "It is", "here."])
})

test("nothing that is said or done steers the terminal", () => {
  const evil = "a\u001b]0;title\u0007b\u001b[2Jc\u0007\u202e"
  const events = [
    ...said(evil),
    ...used("bash", { command: evil }, { text: evil }),
    ...used(evil, {}, { ok: false, text: evil }),
    turn(text(evil)),
    settled({ status: "failed", text: "", error: { kind: "internal", message: evil } }),
  ]
  for (const detail of ["brief", "all"] as const)
    assert.doesNotMatch(screen(events, { detail }).join("\n"), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
})

test("every row fits, whatever is said and however narrow the screen is", () => {
  const piece = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 80 }),
    fc.constantFrom(
      "你好世界",
      "👩‍👩‍👧",
      "- a\n  - b\n    - c",
      "| a | b |\n|---|---|\n| 1 | 2 |",
      "```ts\nconst a\n```",
      "\t\tx",
      "> q",
    ),
  )
  const words = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("\n"))
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 90 }), fc.constantFrom("brief", "all"), (said_, width, detail) => {
      const diff = { kind: "diff" as const, path: "a", diff: `@@ -1 +1 @@\n-${said_}\n+b`, added: 1, removed: 1 }
      const events = [
        ...said(said_),
        ...used("ls", { path: said_ }, { text: said_ }),
        ...used("edit", { path: said_ }, { text: said_, details: diff }),
        turn(text(said_)),
      ]
      const rows = screen(events, { width, detail: detail as "brief" | "all", colors: true })
      assert.deepEqual(
        rows.filter((row) => visibleWidth(row) > width),
        [],
      )
    }),
    { numRuns: 60 },
  )
})
