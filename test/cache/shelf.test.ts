import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import { promisify } from "node:util"
import fc from "fast-check"
import { type Bounds, openShelf } from "../../src/cache/shelf.ts"

const run = promisify(execFile)
const base = await mkdtemp(join(tmpdir(), "legwork-shelf-"))
after(() => rm(base, { recursive: true, force: true }))

let places = 0
const wide: Bounds = { entries: 500, bytes: 1024 * 1024, longest: 1024 }

async function shelfWith(bounds: Partial<Bounds> = {}) {
  const folder = join(base, `${places++}`)
  return { folder, shelf: openShelf(folder, Date.now, { ...wide, ...bounds }) }
}

test("law: a text comes back as it was, or not at all once any of its bytes is another or missing", async () => {
  const { folder, shelf } = await shelfWith()
  const spoil = fc.record({ at: fc.nat(), bit: fc.nat(7), cut: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 50 }), spoil, async (text, { at, bit, cut }) => {
      await shelf.put("key", text)
      assert.equal(await shelf.get("key"), text)
      const bytes = await readFile(join(folder, "key"))
      const index = at % bytes.length
      bytes[index]! ^= 1 << bit
      await writeFile(join(folder, "key"), cut ? bytes.subarray(0, index) : bytes)
      assert.equal(await shelf.get("key"), undefined)
    }),
  )
})

test("an entry under another's name, a folder or a pipe is no answer", async () => {
  const { folder, shelf } = await shelfWith()
  await shelf.put("one", "text")
  await copyFile(join(folder, "one"), join(folder, "two"))
  await mkdir(join(folder, "three"))
  await run("mkfifo", [join(folder, "four")])
  const got = ["one", "two", "three", "four", "five"].map((key) => shelf.get(key))
  assert.deepEqual(await Promise.all(got), ["text", undefined, undefined, undefined, undefined])
})

/** Names in a folder after those of the given ages in seconds were written there and one more was put. */
async function leftOf(ages: Record<string, number>, bounds: Partial<Bounds>): Promise<string[]> {
  const { folder, shelf } = await shelfWith(bounds)
  await mkdir(folder, { recursive: true })
  for (const [name, age] of Object.entries(ages)) {
    await writeFile(join(folder, name), "x".repeat(100))
    const time = Date.now() / 1000 - age
    await utimes(join(folder, name), time, time)
  }
  await shelf.put("new", "text")
  assert.equal(await shelf.get("new"), "text")
  return (await readdir(folder)).sort()
}

test("the oldest make room: for one more, for its bytes; drafts of the dead and files of the future too", async () => {
  const ages = { a: 500, b: 400, "c.new": 450, d: -1000 }
  assert.deepEqual(await leftOf(ages, {}), ["a", "b", "c.new", "d", "new"])
  assert.deepEqual(await leftOf(ages, { entries: 4 }), ["a", "b", "c.new", "new"])
  assert.deepEqual(await leftOf(ages, { entries: 2 }), ["b", "new"])
  assert.deepEqual(await leftOf(ages, { bytes: 280 }), ["b", "c.new", "new"])
  assert.deepEqual(await leftOf(ages, { bytes: 200 }), ["b", "new"])
})

test("a text that is too long is not kept", async () => {
  const { folder, shelf } = await shelfWith()
  await shelf.put("key", "x".repeat(1024))
  assert.equal(await shelf.get("key"), undefined)
  await assert.rejects(stat(folder), { code: "ENOENT" })
})

test("many who put at once leave whole texts and no drafts", async () => {
  const { folder, shelf } = await shelfWith({ entries: 5 })
  await Promise.all(Array.from({ length: 40 }, (_, index) => shelf.put(`${index % 8}`, `text ${index % 8}`)))
  await shelf.put("last", "text last")
  const names = await readdir(folder)
  assert.deepEqual(
    await Promise.all(names.map(shelf.get)),
    names.map((name) => `text ${name}`),
  )
  assert.ok(names.includes("last") && names.length <= 5)
})
