import assert from "node:assert/strict"
import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { type Asked, serve } from "../../src/testing.ts"
import { home } from "./binary.ts"
import { done, keys, screen, talk } from "./screen.ts"

const echo = ({ last }: Asked): string => `heard <${last.replaceAll("\n", "|")}>`

test("a line is begun with shift+enter, and all lines are sent together", async (t) => {
  const { type, see, rows } = await talk(t, echo)
  type(`one${keys.newLine}two`)
  await see("two")
  const at = rows().findIndex((row) => row.startsWith("one"))
  assert.deepEqual(
    rows()
      .slice(at, at + 2)
      .map((row) => row.trim()),
    ["one", "two"],
  )
  type("\r")
  await see("heard <one|two>")
})

test("a paste of many lines takes one line of the input, and is sent whole", async (t) => {
  const { type, paste, see, server } = await talk(t, () => "got it")
  const lines = Array.from({ length: 200 }, (_, n) => `line ${n}`).join("\n")
  paste(lines)
  await see(/\[paste #1 \+200 lines\]/)
  type(" what is this?\r")
  await see("got it")
  assert.equal(server.requests[0]?.last, `${lines} what is this?`)
})

test("a paste of 1 MB is taken in bounded time, and keys are heard after it", async (t) => {
  const { type, paste, see, server } = await talk(t, () => "got it")
  const text = "0123456789abcde\n".repeat(65_536)
  paste(text)
  await see(/\[paste #1 /)
  type("END")
  await see("END")
  type("\r")
  await see("got it")
  assert.equal(server.requests[0]?.last, `${text}END`)
})

test("@ offers agents and files by parts of their names, and tab takes one", async (t) => {
  const files = { "src/retry.ts": "", "src/other.ts": "", "docs/guide.md": "" }
  const { type, see, miss } = await talk(t, echo, { files })
  type("see @retr")
  await see("src/retry.ts")
  await miss("src/other.ts")
  type("\t")
  await see("see @src/retry.ts")
  type("and @expl")
  await see(/explore +agent · /)
  type("\t")
  await see("see @src/retry.ts and @explore")
  type("\r")
  await see("heard <see @src/retry.ts and @explore")
})

test("/ offers commands with what they do, and tab takes one", async (t) => {
  const { type, see, miss } = await talk(t, echo, { rows: 40 })
  type("/")
  await see(/tasks +the agents, and how far they are/)
  type("cos")
  await miss(/tasks +the agents/)
  await see(/cost +what was spent/)
  type("\t")
  await see(/^\/cost/m)
  type("\r")
  await see("nothing was spent yet")
})

test("tab that comes before the list has followed what is typed does not break the line", async (t) => {
  const { type, see } = await talk(t, echo)
  type("/")
  await see(/tasks +the agents/)
  type("cos\t")
  await see(/^\/cost$/m)
})

test("what was typed last is taken back with ctrl+-", async (t) => {
  const { type, see, miss } = await talk(t, echo)
  type("keep")
  await see("keep")
  type(" drop")
  await see("keep drop")
  type(keys.undo)
  await miss("keep drop")
  type("\r")
  await see(/heard <keep>/)
})

test("earlier lines come back with up, and after a restart with ctrl+r and a part of one", async (t) => {
  await using server = await serve(echo)
  const place = await home(t)
  const args = ["--model", "anthropic/any"]
  const first = screen(t, place, server.env, args)
  await first.see("ready")
  first.type("look at the gate\r")
  await first.see("heard <look at the gate>")
  await first.see(done)
  first.type("mend the fence\r")
  await first.see("heard <mend the fence>")
  await first.see(done)
  first.type(keys.up)
  await first.see(/^mend the fence/m)
  first.type(keys.up)
  await first.see(/^look at the gate/m)
  first.type(keys.ctrl("c"))
  first.type(keys.ctrl("d"))
  assert.equal(await first.exit, 0)
  const again = screen(t, place, server.env, args)
  await again.see("ready")
  again.type(keys.ctrl("r"))
  await again.see("2 prompts")
  again.type("gate")
  await again.see("1 prompt ·")
  again.type("\r")
  await again.miss("search:")
  await again.see(/^look at the gate/m)
  again.type("\r")
  await again.see("heard <look at the gate>")
})

test("ctrl+g gives the text to an editor of the user's and takes back what it left", async (t) => {
  await using server = await serve(echo)
  const place = await home(t)
  const editor = join(place.work, "..", "editor.sh")
  await writeFile(editor, '#!/bin/sh\nprintf "%s, edited" "$(cat "$1")" > "$1"\n')
  await chmod(editor, 0o755)
  const { type, see } = screen(t, place, { ...server.env, EDITOR: editor }, ["--model", "anthropic/any"])
  await see("ready")
  type("draft")
  await see("draft")
  type(keys.ctrl("g"))
  await see("draft, edited")
  type("\r")
  await see("heard <draft, edited>")
})

test("an editor that fails leaves the text as it was and says so", async (t) => {
  const { type, see } = await talk(t, echo, { env: { EDITOR: "false" } })
  type("draft")
  await see("draft")
  type(keys.ctrl("g"))
  await see('"false" ended with code 1; the input is as it was')
  type("\r")
  await see("heard <draft>")
})

test("ctrl+c clears what was typed; twice on an empty line leaves", async (t) => {
  const { type, see, miss, exit } = await talk(t, echo)
  type("rm everything")
  await see("rm everything")
  type(keys.ctrl("c"))
  await miss("rm everything")
  type(keys.ctrl("c"))
  await see("ctrl+c again: leave")
  type(keys.ctrl("c"))
  assert.equal(await exit, 130)
})
