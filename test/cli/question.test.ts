import assert from "node:assert/strict"
import { test } from "node:test"
import type { Question } from "../../src/agent/permission.ts"
import { questionLines, replyIn } from "../../src/cli/plain/question.ts"

const question: Question = {
  run: "r",
  call: "c",
  tool: "bash",
  input: {},
  path: ["main", "code"],
  access: { kind: "run", command: "cd a && rm -r b\u202e" },
}

test("a question says who asks and for what, to the letter, with the parts of a command and the rule of a yes for good", () => {
  assert.deepEqual(questionLines(question), ["main > code wants to run cd a && rm -r b\\u{202e}"])
  const rules = [{ tool: "bash", pattern: "rm -r b", do: "allow" as const }]
  assert.deepEqual(questionLines({ ...question, parts: ["cd a", "rm -r b\u202e"], always: rules }), [
    "main > code wants to run cd a && rm -r b\\u{202e}",
    "  which consists of:",
    "    cd a",
    "    rm -r b\\u{202e}",
    "  (always would allow: bash(rm -r b))",
  ])
})

test("a change to a file is shown as a diff, and of a long one the beginning", () => {
  const access = { kind: "write", path: "/w/a.txt", inside: true, guarded: false } as const
  const diff = "--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\u001b[31m\n"
  const details = { kind: "diff", path: "a.txt", diff, added: 1, removed: 1 } as const
  assert.deepEqual(questionLines({ ...question, access, details }), [
    "main > code wants to write /w/a.txt",
    "    @@ -1,1 +1,1 @@",
    "    -one",
    "    +two\\x1b[31m",
  ])
  const long = `--- a\n+++ a\n${"+x\n".repeat(50)}`
  const lines = questionLines({ ...question, access, details: { ...details, diff: long } })
  assert.deepEqual([lines.length, lines.at(-1)], [42, "    (and 10 lines more)"])
})

test("anything but a yes is a no", () => {
  const replies = ["y", "Yes", "a", "always", "n", "no use git mv", "", "maybe later", "always but not now"].map(
    replyIn,
  )
  assert.deepEqual(replies, [
    { allow: true },
    { allow: true },
    { allow: true, always: true },
    { allow: true, always: true },
    { allow: false },
    { allow: false, word: "use git mv" },
    { allow: false },
    { allow: false, word: "maybe later" },
    { allow: false, word: "always but not now" },
  ])
})
