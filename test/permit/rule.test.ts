import assert from "node:assert/strict"
import { test } from "node:test"
import { ownName } from "../../src/agents/names.ts"
import { readRule, ruleText } from "../../src/permit/rule.ts"

/** Each rule as people write it, and what it says here; undefined if nobody can read it. */
const table: [string, string[] | undefined][] = [
  ["bash", ["bash"]],
  ["Bash", ["bash"]],
  ["bash(*)", ["bash"]],
  ["Bash( * )", ["bash"]],
  ["bash(git log *)", ["bash(git log *)"]],
  [" Bash ( git log * ) ", ["bash(git log *)"]],
  ["Bash(npm run test:*)", ["bash(npm run test:*)"]],
  ["bash(echo (a) b)", ["bash(echo (a) b)"]],
  ["bash(echo 'a\nb')", ["bash(echo 'a\nb')"]],
  ["PowerShell(rm *)", ["bash(rm *)"]],
  ["edit(src/**)", ["edit(src/**)"]],
  ["Write(src/**)", ["write(src/**)"]],
  ["MultiEdit(a)", ["edit(a)"]],
  ["editFiles(a)", ["edit(a)", "write(a)"]],
  ["Read(~/notes/**)", ["read(~/notes/**)"]],
  ["Read(//etc/**)", ["read(//etc/**)"]],
  ["Grep", ["grep"]],
  ["LS(a)", ["ls(a)"]],
  ["WebFetch", ["web_fetch"]],
  ["WebFetch(domain:example.com)", ["web_fetch(domain:example.com)"]],
  ["WebFetch(domain:*.example.com)", ["web_fetch(domain:*.example.com)"]],
  ["web_fetch(https://example.com/**)", ["web_fetch(https://example.com/**)"]],
  ["web_fetch(example.com)", ["web_fetch(domain:example.com)"]],
  ["WebSearch", ["web_search"]],
  ["task(code)", ["task(code)"]],
  ["Agent(code, explore)", ["task(code)", "task(explore)"]],
  ["mcp__github", ["mcp__github__*"]],
  ["mcp__github__*", ["mcp__github__*"]],
  ["mcp__github__get_issue", ["mcp__github__get_issue"]],
  ["mcp__github__get_*", ["mcp__github__get_*"]],
  ["*", ["*"]],
  ["deploy", ["deploy"]],
  ["Skill(commit)", ["skill(commit)"]],
  ["BashOutput", []],
  ["", undefined],
  ["()", undefined],
  ["Bash()", undefined],
  ["Bash(:*)", undefined],
  ["Bash(git log", undefined],
  ["Bash git log", undefined],
  ["Bsah(git log)", undefined],
  ["web_*", undefined],
  ["WebFetch(domain:)", undefined],
  ["WebFetch(domain:exa*mple.com)", undefined],
  ["WebFetch(https://exa*mple.com/)", undefined],
  ["WebFetch(https://me@example.com/)", undefined],
  ["WebFetch(what is this)", undefined],
  ["Agent(a, , b)", undefined],
  ["bash(a\0b)", undefined],
  [`bash(${"a".repeat(5_000)})`, undefined],
]

for (const [text, expected] of table) {
  test(`the rule ${JSON.stringify(text.slice(0, 60))}`, () => {
    const read = readRule(text, "ask", ownName)
    assert.deepEqual(read?.map(ruleText), expected)
    assert.ok(read === undefined || read.every((rule) => rule.do === "ask"))
  })
}
