import assert from "node:assert/strict"
import { test } from "node:test"
import { asInClaude } from "../../src/hooks/claude.ts"

const told = (name: string, input: unknown, aliases: string[] = []) => {
  const tool = asInClaude({ name, aliases, input, id: "c1" }, "/w")
  return [tool.aliases[0], tool.input]
}

test("paths of file tools are told in full", () => {
  for (const [name, key] of [
    ["read", "file_path"],
    ["write", "file_path"],
    ["edit", "file_path"],
    ["glob", "path"],
    ["grep", "path"],
    ["ls", "path"],
  ] as const)
    for (const [path, whole] of [
      ["a.ts", "/w/a.ts"],
      ["./src/../.env", "/w/.env"],
      ["../x", "/x"],
      ["/etc/./passwd", "/etc/passwd"],
    ] as const)
      assert.deepEqual(told(name, { [key]: path, more: 1 }), [undefined, { [key]: whole, more: 1 }])
})

test("what is no path of a file tool is told as it is", () => {
  assert.deepEqual(told("grep", { pattern: "x" }), [undefined, { pattern: "x" }])
  assert.deepEqual(told("mcp__web__get", { path: "users/1" }), [undefined, { path: "users/1" }])
  assert.deepEqual(told("constructor", { path: "x" }), [undefined, { path: "x" }])
  assert.deepEqual(told("read", "a.ts"), [undefined, "a.ts"])
})

test("one edit is told as an Edit, several as a MultiEdit", () => {
  const names = ["Edit", "MultiEdit", "patch"]
  const [one, two] = [
    { old_string: "a", new_string: "b", replace_all: true },
    { old_string: "c", new_string: "d" },
  ]
  assert.deepEqual(told("edit", { file_path: "x", edits: [one] }, names), ["Edit", { file_path: "/w/x", ...one }])
  assert.deepEqual(told("edit", { file_path: "x", edits: [one, two] }, names), [
    "MultiEdit",
    { file_path: "/w/x", edits: [one, two] },
  ])
})
