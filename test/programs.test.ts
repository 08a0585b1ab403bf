import assert from "node:assert/strict"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { programs } from "../src/programs.ts"

test("a program that came, went or differs is told, by the state in which its command was first noted", async (t) => {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "legwork-programs-")))
  t.after(() => rm(cwd, { recursive: true }))
  const path = join(cwd, "x.sh")
  const { note, changed } = programs(cwd)
  await note(["sh x.sh"])
  assert.equal(await changed("sh x.sh"), undefined)
  await writeFile(path, "1")
  await note(["sh x.sh", "bash ./x.sh"])
  assert.deepEqual([await changed("sh x.sh"), await changed("bash ./x.sh")], [path, undefined])
  await writeFile(path, "2")
  assert.equal(await changed("bash ./x.sh"), path)
  await rm(path)
  assert.deepEqual([await changed("sh x.sh"), await changed("bash ./x.sh")], [undefined, path])
})

test("data that a command is pointed at, what it writes to and what lies elsewhere may change", async (t) => {
  const top = await realpath(await mkdtemp(join(tmpdir(), "legwork-programs-")))
  t.after(() => rm(top, { recursive: true }))
  const { note, changed } = programs(join(top, "work"))
  const command = "check package.json NOTES.MD ../other.sh > out"
  await note([command])
  await mkdir(join(top, "work"))
  for (const name of ["work/package.json", "work/NOTES.MD", "other.sh", "work/out"])
    await writeFile(join(top, name), "")
  assert.equal(await changed(command), undefined)
})
