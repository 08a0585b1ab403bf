import assert from "node:assert/strict"
import { test } from "node:test"
import { masking } from "../src/secrets.ts"

const mask = masking({
  SOME_API_KEY: "correct-horse",
  LONGER_TOKEN: "correct-horse-battery",
  PATH: "/usr/bin",
  A_KEY: "no",
})
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789"

test("the values of secrets in the environment are hidden, the longest first, and nothing else of it", () => {
  assert.equal(mask("a correct-horse-battery b correct-horse c /usr/bin no"), "a [secret] b [secret] c /usr/bin no")
})

test("what has the form of a key is hidden, whoever it belongs to", () => {
  const key = `-----BEGIN OPENSSH PRIVATE KEY-----\n${letters.repeat(3)}\n-----END OPENSSH PRIVATE KEY-----`
  for (const secret of [
    `sk-ant-api03-${letters}`,
    `sk-proj-${letters}`,
    `ghp_${letters.slice(0, 36)}`,
    `github_pat_${letters.slice(0, 30)}`,
    `glpat-${letters.slice(0, 20)}`,
    "AKIAABCDEFGHIJKLMNOP",
    `AIza${letters.slice(0, 35)}`,
    `xoxb-${letters.slice(0, 24)}`,
    `npm_${letters.slice(0, 36)}`,
    key,
  ])
    assert.equal(mask(`before ${secret} after`), "before [secret] after")
})

test("code that only speaks of keys stays as it is", () => {
  for (const text of [
    "sk-learn and risk-free",
    "ghp_short",
    "AKIA",
    "-----BEGIN PUBLIC KEY-----\nabc",
    "task-management-of-many-words",
  ])
    assert.equal(mask(text), text)
})
