import assert from "node:assert/strict"
import { test } from "node:test"
import type { Definition } from "../../src/agents/definition.ts"
import { shortened, slug } from "../../src/agents/definition.ts"
import { lookup } from "../../src/agents/lookup.ts"
import { defineAgent } from "../../src/agents/parse.ts"

const agent = (name: string, more: Partial<Record<string, unknown>> = {}, path: string | null = null): Definition =>
  defineAgent({ name, description: "d", prompt: "p", ...more }, { path, scope: "user" })

const builtIn = ["explore", "plan", "code", "general"].map((name) => agent(name))
const found = (agents: readonly Definition[], name: string) => lookup(agents, name).agent

test("an agent is found by its id, its name and the name of its file, whatever the case", () => {
  const reviewer = agent("Code Reviewer", {}, "/agents/rev.md")
  const agents = [...builtIn, reviewer]
  for (const name of ["code-reviewer", "Code Reviewer", "CODE REVIEWER", "code_reviewer", "rev", "REV", " rev "])
    assert.equal(found(agents, name), reviewer, name)
})

test("the names that other systems have for built-in agents find ours", () => {
  const names = ["Explore", "EXPLORE", "Plan", "general-purpose", "General Purpose", "general_purpose"]
  assert.deepEqual(
    names.map((name) => found(builtIn, name)?.id),
    ["explore", "explore", "plan", "general", "general", "general"],
  )
})

test("an exact match wins over one that ignores case, and over an alias", () => {
  const [lower, upper] = [agent("tester"), { ...agent("Tester"), id: "tester-2" }]
  assert.equal(found([lower, upper], "Tester"), upper)
  assert.equal(found([upper, lower], "tester"), lower)
  const own = agent("general-purpose")
  assert.equal(found([...builtIn, own], "general-purpose"), own)
})

test("names in every script are found", () => {
  const agents = [agent("Проверка Кода"), agent("コードレビュー"), agent("Straße"), agent("Ｆｕｌｌ Width")]
  assert.deepEqual(
    ["проверка кода", "コードレビュー", "STRAße", "full width"].map((name) => found(agents, name)?.id),
    agents.map(({ id }) => id),
  )
})

test("an unknown name is answered with those that there are, the nearest first", () => {
  assert.deepEqual(lookup(builtIn, "paln"), {
    error: 'there is no agent named "paln"; there are plan, explore, code, general',
  })
  assert.deepEqual(lookup(builtIn, "nothing like it"), {
    error: 'there is no agent named "nothing like it"; there are explore, plan, code, general',
  })
  assert.deepEqual(lookup([], "x"), { error: 'there is no agent named "x"; there are none to choose from' })
  assert.deepEqual(lookup(builtIn, "\u001b[2J"), {
    error: 'there is no agent named "\\u001b[2J"; there are explore, plan, code, general',
  })
})

test("hidden and degraded agents are found and not listed", () => {
  const agents = [agent("plan"), agent("secret", { hidden: true }), agent("half", { description: "" })]
  assert.equal(found(agents, "secret"), agents[1])
  assert.equal(found(agents, "half"), agents[2])
  assert.deepEqual(lookup(agents, "x"), { error: 'there is no agent named "x"; there are plan' })
})

test("a long list is cut, and says so", () => {
  const many = Array.from({ length: 60 }, (_, at) => agent(`number-${at}`))
  const { error = "" } = lookup(many, "zzzzzzzz") as { error?: string }
  assert.match(error, /^there is no agent named "zzzzzzzz"; there are number-0, .*number-39 and 20 more$/)
})

test("an id is lower case, with letters of any script, digits, dots and dashes", () => {
  const names = [
    "Code Reviewer",
    "a_b/c",
    "v2.1",
    "--x--",
    "..hidden",
    "Ｆｕｌｌ",
    "हिन्दी",
    "🚀",
    "İstanbul",
    "x".repeat(300),
  ]
  assert.deepEqual(names.map(slug), [
    ...["code-reviewer", "a-b-c", "v2.1", "x", "hidden", "full", "हिन्दी", "", "i̇stanbul", "x".repeat(100)],
  ])
})

test("a short description ends before the examples, at most at 300 characters", () => {
  assert.equal(shortened("Use it to test. Examples:\n<example>user: hi</example>"), "Use it to test.")
  assert.equal(shortened("Use it to test:\n\n- <example>user: hi</example>"), "Use it to test")
  assert.equal(shortened("Use it\n  for\n  this, for example: that"), "Use it for this, for example: that")
  assert.equal(shortened("<example>only this</example>"), "only this")
  assert.equal(shortened("word ".repeat(100)), `${"word ".repeat(59)}word…`)
  assert.equal(shortened("語".repeat(400)), `${"語".repeat(299)}…`)
  assert.equal(shortened("😀".repeat(300)).isWellFormed(), true)
  assert.equal(shortened(""), "")
})
