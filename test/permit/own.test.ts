import assert from "node:assert/strict"
import { test } from "node:test"
import type { Verdict } from "../../src/agent/scope.ts"
import type { Access } from "../../src/core/access.ts"
import { judgeOwn } from "../../src/permit/own.ts"
import { allow, place, rules } from "./desk.ts"

const denied = (rule: string): Verdict => ({
  do: "deny",
  why: `this agent's rule ${rule} denies it; go on without it, and say so`,
})
const own = (texts: string[]) => (tool: string, access: Access) => judgeOwn({ tool, access }, rules(...texts), place)
const shell = (texts: string[]) => (command: string) => own(texts)("bash", { kind: "run", command })

test("the last rule that counts decides, and where none does it is allowed", async () => {
  const judged = own(["deny edit", "allow edit(docs/**)", "ask edit(docs/api/**)"])
  const write = (path: string) => judged("edit", { kind: "write", path, inside: true, guarded: false })
  assert.deepEqual(await write("/w/a"), denied("edit"))
  assert.deepEqual(await write("/w/docs/a"), allow)
  assert.deepEqual(await write("/w/docs/api/a"), { do: "ask", ruled: true })
  assert.deepEqual(await judged("read", { kind: "read", path: "/w/a", inside: true }), allow)
})

test("a word for all tools counts for each, until another says otherwise", async () => {
  const judged = own(["deny *", "allow read", "allow bash(git log *)"])
  assert.deepEqual(await judged("todo_write", { kind: "none" }), denied("*"))
  assert.deepEqual(await judged("grep", { kind: "read", path: "/w/a", inside: true }), allow)
  assert.deepEqual(await judged("bash", { kind: "run", command: "git log -1" }), allow)
  assert.deepEqual(await judged("bash", { kind: "run", command: "git diff" }), denied("*"))
})

test("a star stands for folders too, as it does where such rules come from", async () => {
  const judged = own(["deny edit", "allow edit(docs/*)", "allow edit(*.mdx)", "deny edit(docs/*/secret.md)"])
  const write = async (path: string) => (await judged("edit", { kind: "write", path, inside: true, guarded: false })).do
  assert.equal(await write("/w/docs/a/b.md"), "allow")
  assert.equal(await write("/w/a/b/c.mdx"), "allow")
  assert.equal(await write("/w/docs/a/b/secret.md"), "deny")
  assert.equal(await write("/w/a/b.md"), "deny")
})

const commands: [string, string[], Verdict][] = [
  ["git log", ["ask bash", "allow bash(git log *)"], allow],
  ["git log | cat", ["ask bash", "allow bash(git log *)"], { do: "ask", ruled: true, parts: ["git log", "cat"] }],
  ["git log; git diff", ["ask bash", "allow bash(git log *)", "allow bash(git diff*)"], allow],
  ["timeout 5 git log", ["deny bash", "allow bash(git log *)"], allow],
  ["cd sub && git log", ["deny bash", "allow bash(git log *)"], allow],
  ["git log && rm x", ["deny bash", "allow bash(git *)"], denied("bash")],
  ["bash -c 'rm x'", ["allow bash", "deny bash(rm *)"], denied("bash(rm *)")],
  ["find . -exec rm {} +", ["allow bash", "deny bash(rm *)"], denied("bash(rm *)")],
  ["rm x", ["deny bash(rm *)", "allow bash"], allow],
  ["$x y", ["allow bash", "deny bash(rm *)"], { do: "ask", ruled: true, parts: ["$x y"] }],
  ["$x y", ["deny bash(rm *)", "allow bash"], allow],
  ["$x y", ["deny bash", "allow bash(git *)"], denied("bash")],
  ["PATH=/x git log", ["deny bash", "allow bash(git log *)"], denied("bash")],
  ["git log 'open", ["ask bash", "allow bash(git log *)"], { do: "ask", ruled: true }],
  ["echo x > a", ["deny edit", "allow bash"], denied("edit")],
  ["echo x > docs/a", ["deny edit", "allow edit(docs/**)"], allow],
  ['echo x > "$f"', ["ask edit", "allow edit(docs/**)"], { do: "ask", ruled: true, parts: ['echo x > "$f"'] }],
  ["cat .env", ["deny read(.env)"], denied("read(.env)")],
  ["cat a", ["deny *", "allow bash"], allow],
  ["npm test", ["deny read", "allow bash"], allow],
  ["rm a", ["deny edit", "allow bash"], denied("edit")],
  ["rm docs/a", ["deny edit", "allow edit(docs/**)"], allow],
]

for (const [command, texts, expected] of commands) {
  test(`${command} under ${texts.join(", ")}`, async () => assert.deepEqual(await shell(texts)(command), expected))
}
