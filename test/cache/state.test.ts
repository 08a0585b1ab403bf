import assert from "node:assert/strict"
import { statSync, writeFileSync } from "node:fs"
import { appendFile, chmod, mkdir, readFile, rename, stat, symlink, unlink, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { stateOf } from "../../src/cache/state.ts"
import { changing, seen, workspace } from "./workspace.ts"

const name = fc.constantFrom("a", "b", ".env", "ü", "a b", '"\\')
const trees = fc.dictionary(
  fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.map((each, at) => `${each}${at}`).join("/")),
  fc.constantFrom("", "x", "y", "long\n"),
  { minKeys: 1, maxKeys: 6, noNullPrototype: true },
)

/** A file becomes a folder where another lies below it. */
const plain = (tree: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(tree).filter(([path]) => !Object.keys(tree).some((other) => other.startsWith(`${path}/`))),
  )

const changes: Record<string, (path: string) => Promise<unknown>> = {
  "other bytes": async (path) => writeFile(path, (await readFile(path, "utf8")).replace(/^./, "z") || "z"),
  "the same bytes anew": async (path) => writeFile(path, await readFile(path)),
  "more bytes": (path) => appendFile(path, "more"),
  removed: (path) => unlink(path),
  renamed: (path) => rename(path, `${path}~`),
  replaced: async (path) => {
    await writeFile(`${path}~`, await readFile(path))
    await rename(`${path}~`, path)
  },
  "another mode": (path) => chmod(path, 0o400),
  "a file beside it": (path) => writeFile(`${path}~`, ""),
  "an empty folder beside it": (path) => mkdir(`${path}~`),
  "a link beside it": (path) => symlink("nowhere", `${path}~`),
  "a link in its place": async (path) => {
    await unlink(path)
    await symlink("nowhere", path)
  },
  "a folder in its place": async (path) => {
    await unlink(path)
    await mkdir(path)
  },
}

test("law: any single change of a tree changes its state, and none keeps it", async () => {
  const change = fc.constantFrom(...Object.keys(changes))
  await fc.assert(
    fc.asyncProperty(trees, fc.nat(), change, async (tree, at, kind) => {
      const files = plain(tree)
      const root = await workspace(files)
      const paths = Object.keys(files)
      const before = await seen(root)
      for (const path of paths) await readFile(join(root, path))
      assert.equal(await seen(root), before)
      await changes[kind]!(join(root, paths[at % paths.length]!))
      assert.notEqual(await seen(root), before)
    }),
    { numRuns: 60 },
  )
})

test("every kind of change counts", async () => {
  const counted: Record<string, boolean> = {}
  for (const [kind, change] of Object.entries(changes)) {
    const root = await workspace({ "a/file": "one" })
    const before = await seen(root)
    await change(join(root, "a/file"))
    counted[kind] = (await seen(root)) !== before
  }
  assert.deepEqual(counted, Object.fromEntries(Object.keys(changes).map((kind) => [kind, true])))
})

test("other bytes count though they are as many and as old as those before", async () => {
  const root = await workspace()
  const put = async (text: string) => {
    await writeFile(join(root, "file"), text)
    await utimes(join(root, "file"), 1000, 1000)
  }
  await put("one")
  assert.deepEqual(await changing(root, { two: () => put("two") }), { two: true })
})

test("while a file is so new that a change of it might not show, there is no state; it is looked at again a little later", async () => {
  const root = await workspace({ file: "one" })
  const { ctimeMs } = await stat(join(root, "file"))
  assert.equal(await stateOf(root, () => ctimeMs), undefined)
  const clock = [() => ctimeMs, () => changedNow(join(root, "file")) + 1000]
  assert.equal(await stateOf(root, () => clock.shift()!()), await seen(root))
})

/** Writes to a file, and says when. */
function changedNow(path: string): number {
  writeFileSync(path, "two")
  return statSync(path).ctimeMs
}

test("of a folder only its name and mode count: a file that comes and goes leaves no trace", async () => {
  const root = await workspace({ "a/file": "one" })
  const steps = {
    "closed a little": () => chmod(join(root, "a"), 0o700),
    "came and went": async () => {
      await writeFile(join(root, "a/swap"), "")
      await unlink(join(root, "a/swap"))
    },
  }
  assert.deepEqual(await changing(root, steps), { "closed a little": true, "came and went": false })
})

test("links count by where they lead, and are never followed", async () => {
  const root = await workspace({ file: "one" })
  const outside = await workspace({ secret: "one" })
  await symlink(outside, join(root, "out"))
  await symlink(".", join(root, "round"))
  const steps = {
    outside: () => writeFile(join(outside, "secret"), "two"),
    "another target": async () => {
      await unlink(join(root, "out"))
      await symlink(`${outside}/`, join(root, "out"))
    },
  }
  assert.deepEqual(await changing(root, steps), { outside: false, "another target": true })
})

test("names that are no text count as any others", { skip: process.platform !== "linux" }, async () => {
  const root = join(await workspace({ "ü/file": "" }), "ü")
  const path = (byte: number) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from([byte])])
  await writeFile(path(0xfe), "one")
  const steps = {
    changed: () => writeFile(path(0xfe), "two"),
    renamed: () => rename(path(0xfe), path(0xff)),
    nothing: async () => {},
  }
  assert.deepEqual(await changing(root, steps), { changed: true, renamed: true, nothing: false })
})

test("packages count by their folders and the lock file, not by what is in them", async () => {
  const packages = { "node_modules/one/index.js": "1", "node_modules/.package-lock.json": "{}" }
  const root = await workspace({ ...packages, "app/node_modules/two/lib/index.js": "2" })
  const steps = {
    inside: () => writeFile(join(root, "node_modules/one/index.js"), "3"),
    deeper: () => writeFile(join(root, "app/node_modules/two/lib/more.js"), ""),
    lock: () => writeFile(join(root, "node_modules/.package-lock.json"), "[]"),
    added: () => mkdir(join(root, "app/node_modules/three")),
    replaced: () => writeFile(join(root, "node_modules/one/package.json"), "{}"),
  }
  const expected = { inside: false, deeper: false, lock: true, added: true, replaced: true }
  assert.deepEqual(await changing(root, steps), expected)
  const below = { file: () => writeFile(join(root, "node_modules/one/index.js"), "4") }
  assert.deepEqual(await changing(join(root, "node_modules"), below), { file: true })
})

test("there is no state of what has too many files, is gone, or is not a folder", async () => {
  const root = await workspace({ a: "", "b/c": "", "b/d/e": "" })
  assert.equal(await stateOf(root, Date.now, 4), undefined)
  assert.equal(await stateOf(root, Date.now, 5), await seen(root))
  assert.equal(await stateOf(join(root, "gone"), Date.now), undefined)
  assert.equal(await stateOf(join(root, "a"), Date.now), undefined)
})

test("there is no state where a folder is closed", { skip: process.getuid?.() === 0 }, async () => {
  const root = await workspace({ "closed/file": "" })
  await chmod(join(root, "closed"), 0)
  try {
    assert.equal(await stateOf(root, Date.now), undefined)
  } finally {
    await chmod(join(root, "closed"), 0o700)
  }
})
