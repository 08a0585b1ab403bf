import assert from "node:assert/strict"
import { test } from "node:test"
import { builtInCommands, runCommand } from "../../../src/cli/slash/commands.ts"
import type { Command } from "../../../src/cli/slash/ground.ts"
import { keys } from "../../../src/cli/tui/keys.ts"
import { groundOn } from "./grounds.ts"

test("only lines that are commands are taken from the model", async () => {
  const { say } = groundOn(new Map())
  for (const line of ["hello", "/", "/etc/hosts says what?", "/usr is full", "//", "a /help"])
    assert.equal(await say(line), undefined, line)
  assert.deepEqual(await say("/exit"), ["leave"])
  assert.deepEqual(await say(" /quit "), ["leave"])
  assert.deepEqual(await say("/Exit"), ["leave"])
})

test("a command that is not there names the nearest, or all that there are", async () => {
  const { say } = groundOn(new Map())
  assert.deepEqual(await say("/taks"), ["there is no /taks; did you mean /tasks?"])
  assert.deepEqual(await say("/modle sonnet"), ["there is no /modle; did you mean /model?"])
  assert.deepEqual(await say("/zzz"), [
    "there is no /zzz; there are /tasks, /stop, /behind, /agents, /cost, /context, /compact, /model, /resume, /init, /help, /exit",
  ])
})

test("a command gets all that follows its name, also over several lines", async () => {
  const heard: string[] = []
  const own: Command = { name: "git:commit", about: "", run: async (args) => void heard.push(args) }
  const { ground } = groundOn(new Map())
  assert.equal(await runCommand("/git:commit  one two\nthree ", [own], ground), true)
  assert.deepEqual(heard, ["one two\nthree"])
})

test("help tells the keys of the face and the commands that there are, in one table", async () => {
  const own: Command = { name: "审查", hint: "<path>", about: "reviews a file", run: async () => {} }
  const notes: string[] = []
  const { ground } = groundOn(new Map(), {
    keys: [{ key: "ctrl+b", about: "sends it behind" }],
    note: (text) => void notes.push(text),
  })
  const some = builtInCommands().filter(({ name }) => ["stop", "help"].includes(name))
  await runCommand("/help", [...some, own], ground)
  assert.deepEqual(notes, [
    [
      "ctrl+b        sends it behind",
      "",
      "/stop <id>    stops one, and those below it",
      "/help         the keys and these commands",
      "/审查 <path>  reviews a file",
    ].join("\n"),
  ])
})

test("init hands the agent a task, and says nothing else", async () => {
  const said = (await groundOn(new Map()).say("/init"))!
  assert.match(said[0]!, /^prompt Write AGENTS\.md at the root of this project/)
  assert.equal(said.length, 1)
})

test("compact tells only what its event does not: that there was nothing to do, or why it failed", async () => {
  const said = (compact: () => Promise<boolean>) => groundOn(new Map(), { session: { compact } }).say("/compact")
  assert.deepEqual(await said(async () => true), [])
  assert.deepEqual(await said(async () => false), ["there is nothing that could be made shorter"])
  assert.deepEqual(await said(() => Promise.reject(new Error("no key is set"))), [
    "it could not be made shorter: no key is set",
  ])
})

test("help fits a screen of 80 columns and 30 lines", async () => {
  const { say } = groundOn(new Map(), { keys })
  const lines = (await say("/help"))!.join("\n").split("\n")
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  assert.equal(lines.length <= 30, true)
})
