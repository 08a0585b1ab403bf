import assert from "node:assert/strict"
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { openHistory } from "../../src/cli/tui/history.ts"

async function stage(t: TestContext) {
  const state = await mkdtemp(join(tmpdir(), "legwork-history-"))
  t.after(() => rm(state, { recursive: true }))
  const warnings: string[] = []
  const open = (folder = "/w") => openHistory({ state, folder, warn: (text) => warnings.push(text) })
  /** The one file that there is. */
  const file = async () => join(state, "history", (await readdir(join(state, "history")))[0]!)
  return { state, open, file, warnings }
}

test("prompts are there again in the same folder, the oldest first, and not in another", async (t) => {
  const { open, warnings } = await stage(t)
  const history = await open()
  for (const text of ["one", "two\nlines", "two\nlines", "  ", " one "]) history.add(text)
  assert.deepEqual(history.entries(), ["one", "two\nlines", "one"])
  await history.saved()
  assert.deepEqual((await open()).entries(), ["one", "two\nlines", "one"])
  assert.deepEqual((await open("/other")).entries(), [])
  assert.deepEqual(warnings, [])
})

test("the file has a JSON string on each line and only its owner may read it", async (t) => {
  const { open, file, state } = await stage(t)
  const history = await open()
  history.add('say "hi"')
  history.add("你好\n!")
  await history.saved()
  assert.equal(await readFile(await file(), "utf8"), '"say \\"hi\\""\n"你好\\n!"\n')
  assert.equal((await stat(await file())).mode & 0o777, 0o600)
  assert.equal((await stat(join(state, "history"))).mode & 0o777, 0o700)
})

test("damaged lines are passed over, and a line that was cut short does not swallow the next", async (t) => {
  const { open, file } = await stage(t)
  const first = await open()
  first.add("one")
  await first.saved()
  await appendFile(await file(), 'nonsense\n{"a":1}\n12\n""\n\u0000\n"half')
  const second = await open()
  assert.deepEqual(second.entries(), ["one"])
  second.add("two")
  await second.saved()
  assert.deepEqual((await open()).entries(), ["one", "two"])
})

test("two sessions in a folder keep what both were told", async (t) => {
  const { open } = await stage(t)
  const [one, other] = [await open(), await open()]
  one.add("a")
  await one.saved()
  other.add("b")
  await other.saved()
  assert.deepEqual((await open()).entries(), ["a", "b"])
})

test("500 prompts are kept, none that is very long, and a file that has grown is made shorter", async (t) => {
  const { open, file } = await stage(t)
  const history = await open()
  history.add("x".repeat(16_385))
  assert.deepEqual(history.entries(), [])
  for (let at = 0; at < 501; at++) history.add(`p${at}`)
  assert.deepEqual([history.entries().length, history.entries()[0]], [500, "p1"])
  await history.saved()
  await writeFile(await file(), Array.from({ length: 1_001 }, (_, at) => `"q${at}"\n`).join(""))
  const again = await open()
  again.add("last")
  await again.saved()
  const lines = (await readFile(await file(), "utf8")).trimEnd().split("\n")
  assert.deepEqual([lines.length, lines[0], lines.at(-1)], [501, '"q501"', '"last"'])
  assert.equal((await stat(await file())).mode & 0o777, 0o600)
})

test("prompts that cannot be kept are said once, and still known in the session", async (t) => {
  const { state, open, file, warnings } = await stage(t)
  const history = await open()
  history.add("one")
  await history.saved()
  const path = await file()
  await rm(path)
  await writeFile(join(state, "elsewhere"), '"secret"\n')
  await symlink(join(state, "elsewhere"), path)
  const linked = await open()
  linked.add("two")
  linked.add("three")
  await linked.saved()
  assert.deepEqual(linked.entries(), ["two", "three"])
  assert.equal(await readFile(join(state, "elsewhere"), "utf8"), '"secret"\n')
  assert.equal(warnings.length, 1)
  assert.match(warnings[0]!, /^prompts are not kept in .*\.jsonl \(.*\); see that it can be written$/)
})

test("a folder in the place of the file is said and not read", async (t) => {
  const { open, file, warnings } = await stage(t)
  const history = await open()
  history.add("one")
  await history.saved()
  const path = await file()
  await rm(path)
  await mkdir(path)
  await chmod(path, 0o700)
  assert.deepEqual((await open()).entries(), [])
  assert.equal(warnings.length, 1)
})
