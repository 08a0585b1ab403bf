import assert from "node:assert/strict"
import { test } from "node:test"
import { visibleWidth } from "@earendil-works/pi-tui"
import fc from "fast-check"
import type { Question, Reply } from "../../src/agent/permission.ts"
import { Dialog } from "../../src/cli/tui/question.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"

const [esc, enter, tab, up, down, pageDown] = ["\u001b", "\r", "\t", "\u001b[A", "\u001b[B", "\u001b[6~"]

const run: Question = {
  run: "r",
  call: "c",
  tool: "bash",
  input: {},
  path: ["main", "code"],
  access: { kind: "run", command: "cd a && rm -r b\u202e" },
  parts: ["cd a", "rm -r b\u202e"],
  always: [{ tool: "bash", pattern: "rm -r b", do: "allow" }],
}

const diff = (lines: number): Question => ({
  ...run,
  call: "write",
  tool: "edit",
  access: { kind: "write", path: "/w/a.txt", inside: true, guarded: false },
  parts: [],
  always: [],
  details: {
    kind: "diff",
    path: "a.txt",
    diff: `--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-\tone\u001b[31m\n${Array.from({ length: lines }, (_, at) => `+${at}\n`).join("")}`,
    added: lines,
    removed: 1,
  },
})

function stage(theme = themeOf({ colors: false, dark: true })) {
  const replies: [string, Reply][] = []
  const early: string[] = []
  let time = 0
  const dialog = new Dialog({
    theme,
    reply: (question, reply) => replies.push([question.call, reply]),
    now: () => time,
    rows: () => 20,
    early: (data) => early.push(data),
  })
  /** Types after a rest that is long enough. */
  const type = (...keys: string[]) => {
    for (const key of keys) {
      time += 300
      dialog.handleInput(key)
    }
  }
  const wait = (ms: number) => {
    time += ms
  }
  return { dialog, replies, early, type, wait }
}

test("nothing is shown and no key counts while nobody asks", () => {
  const { dialog, replies, type } = stage()
  type("y", enter)
  assert.deepEqual([dialog.render(80), dialog.waiting, replies], [[], 0, []])
})

test("a command is shown to the letter, with its parts, who asks, and what a yes for good would allow", () => {
  const { dialog } = stage()
  dialog.ask(run)
  assert.deepEqual(dialog.render(60), [
    "── permission ──────────────────────────────────────────────",
    "main > code wants to run a command:",
    "    cd a && rm -r b\\u{202e}",
    "which consists of:",
    "    cd a",
    "    rm -r b\\u{202e}",
    "always would allow:",
    "    bash(rm -r b)",
    "y once · a always · n no · d no, and why",
  ])
})

test("questions wait in a row and are counted; one that is withdrawn goes, wherever it stands", () => {
  const { dialog, replies, type } = stage()
  const [one, two, three] = ["1", "2", "3"].map((call): Question => ({ ...run, call })) as [
    Question,
    Question,
    Question,
  ]
  for (const each of [one, two, three, two]) dialog.ask(each)
  const title = () => dialog.render(24)[0]
  assert.deepEqual([dialog.waiting, title()], [3, "── permission · 1 of 3 ─"])
  dialog.withdraw(two)
  dialog.withdraw(two)
  assert.deepEqual([dialog.waiting, title()], [2, "── permission · 1 of 2 ─"])
  type("y")
  assert.deepEqual([dialog.waiting, title()], [1, "── permission ──────────"])
  type("n")
  assert.deepEqual(replies, [
    ["1", { allow: true }],
    ["3", { allow: false }],
  ])
})

test("one key answers: y once, a always, n or escape no; large letters and those of the kitty protocol too", () => {
  const answers = ["y", "Y", "a", "n", esc, "\u001b[121u"].map((key) => {
    const { dialog, replies, type } = stage()
    dialog.ask(run)
    type(key)
    return replies[0]?.[1]
  })
  assert.deepEqual(answers, [
    { allow: true },
    { allow: true },
    { allow: true, always: true },
    { allow: false },
    { allow: false },
    { allow: true },
  ])
})

test("enter, a paste, a key that is held down and an always that is not offered answer nothing", () => {
  const { dialog, replies, type } = stage()
  dialog.ask({ ...run, always: [] })
  type(enter, "\n", " ", "a", "yes", "\u001b[200~y\u001b[201~", "\u001b[121;1:2u")
  assert.deepEqual([replies, dialog.waiting], [[], 1])
  assert.equal(dialog.render(60).at(-1), "y once · n no · d no, and why")
})

test("what is being typed when a question appears answers nothing, however long it goes on, and is handed on", () => {
  const { dialog, replies, early, wait } = stage()
  dialog.ask(run)
  for (const key of ["m", "a", "y"]) {
    wait(200)
    dialog.handleInput(key)
  }
  assert.deepEqual([replies, early], [[], ["m", "a", "y"]])
  wait(300)
  dialog.handleInput("y")
  assert.deepEqual(replies, [["c", { allow: true }]])
})

test("the next question in the row appears anew: a second y at once is not for it", () => {
  const { dialog, replies, type, wait } = stage()
  dialog.ask(run)
  dialog.ask({ ...run, call: "next" })
  type("y")
  wait(299)
  dialog.handleInput("y")
  assert.deepEqual([replies.length, dialog.waiting], [1, 1])
})

test("a no can carry a word; escape goes back to the choice, and without a word it is just a no", () => {
  const { dialog, replies, type } = stage()
  dialog.ask(run)
  dialog.ask({ ...run, call: "next" })
  type("d", "x", esc)
  assert.equal(dialog.render(60).at(-1), "y once · a always · n no · d no, and why")
  type(tab, ..."yes, git")
  assert.deepEqual(dialog.render(40).slice(-2), [
    `no, because: yes, git\u001b[7m \u001b[27m${" ".repeat(18)}`,
    "enter says no · esc goes back",
  ])
  type(enter, "d", enter)
  assert.deepEqual(replies, [
    ["c", { allow: false, word: "yes, git" }],
    ["next", { allow: false }],
  ])
})

test("a word that is being typed for a question does not go to the next when the first is withdrawn", () => {
  const { dialog, replies, type } = stage()
  dialog.ask(run)
  dialog.ask({ ...run, call: "next" })
  type("d", "b", "a")
  dialog.withdraw(run)
  type(enter)
  assert.deepEqual([replies, dialog.waiting], [[], 1])
})

test("a change is shown as a diff, and a long one is scrolled through within its height", () => {
  const { dialog, type } = stage()
  dialog.ask(diff(9))
  const title = "── permission ──────────────────────────────────────────"
  const keys = "y once · n no · d no, and why"
  assert.deepEqual(dialog.render(56), [
    title,
    "main > code wants to write:",
    "    /w/a.txt",
    "    @@ -1,1 +1,1 @@",
    "    -→   one\\x1b[31m",
    ...[0, 1, 2, 3].map((at) => `    +${at}`),
    "↕ 5 lines below (up, down, pgup, pgdn)",
    keys,
  ])
  type(down)
  assert.equal(dialog.render(56)[9], "↕ 1 line above, 4 lines below (up, down, pgup, pgdn)")
  type(pageDown, pageDown, up, down, down)
  assert.deepEqual(dialog.render(56), [
    title,
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((at) => `    +${at}`),
    "↕ 5 lines above (up, down, pgup, pgdn)",
    keys,
  ])
})

test("a long line goes on in the next with a mark in the margin, and no letter of it is lost", () => {
  const { dialog } = stage()
  dialog.ask({ ...run, parts: [], always: [], access: { kind: "run", command: "echo 你好你好你好  && true\nls" } })
  assert.deepEqual(dialog.render(18), [
    "── permission ────",
    "main > code wants",
    "to run a command:",
    "    echo 你好你好",
    "  ↪ 你好  && true",
    "    ls",
    "y once · n no · d",
    "no, and why",
  ])
})

test("reading and writing outside of the project or what is guarded, and tools and agents, say so", () => {
  const accesses: Question["access"][] = [
    { kind: "read", path: "/etc/hosts", inside: false },
    { kind: "write", path: "/w/.git/config", inside: true, guarded: true },
    { kind: "write", path: "/x", inside: false, guarded: false },
    { kind: "fetch", url: "https://a.example/" },
    { kind: "agent", name: "explore" },
    { kind: "none" },
  ]
  const shown = accesses.map((access) => {
    const { dialog } = stage()
    dialog.ask({ ...run, parts: [], always: [], path: ["main"], tool: "task", input: { prompt: "go" }, access })
    return dialog.render(60).slice(1, -1)
  })
  const input = ["    {", '      "prompt": "go"', "    }"]
  assert.deepEqual(shown, [
    ["main wants to read outside the project:", "    /etc/hosts"],
    ["main wants to write a guarded file:", "    /w/.git/config"],
    ["main wants to write outside the project:", "    /x"],
    ["main wants to fetch a page:", "    https://a.example/"],
    ["main wants to start an agent:", "    explore", ...input],
    ["main wants to use a tool:", "    task", ...input],
  ])
})

test("with colours the same letters are shown", () => {
  const [plain, coloured] = [stage(), stage(themeOf({ colors: true, dark: true }))]
  for (const { dialog } of [plain, coloured]) dialog.ask(diff(3))
  const lines = coloured.dialog.render(60)
  assert.equal(lines[5], "    \u001b[38;5;114m+0\u001b[39m")
  assert.deepEqual(
    lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "")),
    plain.dialog.render(60),
  )
})

test("law: every line fits, whatever is asked and however narrow it is", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.integer({ min: 8, max: 90 }), (text, width) => {
      const { dialog } = stage()
      dialog.ask({ ...run, path: ["main", text], parts: [text, text], access: { kind: "run", command: text } })
      assert.deepEqual(
        dialog.render(width).filter((line) => visibleWidth(line) > width),
        [],
      )
    }),
    { numRuns: 200 },
  )
})
