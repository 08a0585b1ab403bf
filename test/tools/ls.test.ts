import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdir, symlink } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import * as z from "zod"
import { edit } from "../../src/tools/edit.ts"
import { glob } from "../../src/tools/glob.ts"
import { grep } from "../../src/tools/grep.ts"
import { ls } from "../../src/tools/ls.ts"
import { read } from "../../src/tools/read.ts"
import { write } from "../../src/tools/write.ts"
import { desk } from "./desk.ts"

test("one folder is listed: hidden ones too, folders and links marked, ignored ones only counted", async (t) => {
  const { root, put, call } = await desk(t)
  await put({
    ".gitignore": "node_modules/\n*.log\nempty\n",
    ".env": "",
    "b.ts": "",
    "a b.txt": "",
    "x.log": "",
    "node_modules/y": "",
    "src/deep/z": "",
  })
  await mkdir(join(root, "empty"))
  await symlink("src/deep", join(root, "link"))
  execFileSync("mkfifo", [join(root, "pipe")])
  assert.deepEqual(await call(ls, {}), {
    ok: true,
    text: ".env\n.gitignore\na b.txt\nb.ts\nlink -> src/deep\npipe (not a regular file)\nsrc/\n\n(3 ignored by .gitignore)",
    details: { kind: "found", shown: 7, total: 7 },
  })
  assert.equal((await call(ls, { path: "src" })).text, "deep/")
  assert.equal((await call(ls, { path: "node_modules" })).text, "y")
})

test("ignore files further up count, as does what they take back", async (t) => {
  const { put, call } = await desk(t)
  await put({
    ".gitignore": "*.log\n",
    "src/.gitignore": "!keep.log\nbuild\n",
    "src/keep.log": "",
    "src/drop.log": "",
    "src/build/x": "",
  })
  assert.equal((await call(ls, { path: "src" })).text, ".gitignore\nkeep.log\n\n(2 ignored by .gitignore)")
})

test("500 entries are shown and the total is named; an empty folder, a file and a missing one are said to be so", async (t) => {
  const { root, put, call } = await desk(t)
  const names = Array.from({ length: 510 }, (_, index) => `many/f${String(index).padStart(3, "0")}`)
  await put(Object.fromEntries(names.map((name) => [name, ""])))
  await mkdir(join(root, "empty"))
  const shown = names.slice(0, 500).map((name) => name.slice(5))
  assert.equal(
    (await call(ls, { path: "many" })).text,
    `${shown.join("\n")}\n\n(500 of 510 shown; use glob to find one)`,
  )
  assert.equal((await call(ls, { path: "empty" })).text, "(empty is empty)")
  assert.equal((await call(ls, { path: "many/f000" })).text, "many/f000 is not a folder: read it instead")
  assert.equal((await call(ls, { path: "mny" })).text, "there is nothing at mny; did you mean many?")
})

test("what models are told of the file tools is small, and always an object", async (t) => {
  const { world } = await desk(t)
  const tools = [read, write, edit, glob, grep, ls].map((make) => make(world))
  const told = tools.map(({ name, description, input }) => ({
    name,
    description,
    input: z.toJSONSchema(input, { io: "input" }),
  }))
  assert.deepEqual(
    told.map(({ input }) => input.type),
    tools.map(() => "object"),
  )
  assert.deepEqual(
    tools.map(({ name, repeatable }) => [name, repeatable]),
    [
      ["read", true],
      ["write", false],
      ["edit", false],
      ["glob", true],
      ["grep", true],
      ["ls", true],
    ],
  )
  assert.ok(Buffer.byteLength(JSON.stringify(told)) < 3_300, JSON.stringify(told))
})
