import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { appendFile, chown, copyFile, readdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { conforms } from "./conformance.ts"
import { temporary } from "./folder.ts"
import { headerOf, opened, said } from "./samples.ts"

conforms("jsonl", async (t) => jsonl({ folder: await temporary(t) }))

const header = headerOf("session-one")
const fileOf = (folder: string, id = header.id) => join(folder, "sessions", `${id}.jsonl`)

async function stored(folder: string, facts: Stamped<Fact>[]): Promise<void> {
  const held = await jsonl({ folder }).create(header)
  for (const fact of facts) held.append(fact)
  await held.close()
}

test("a session is a file of plain lines: its header, then one a fact", async (t) => {
  const folder = await temporary(t)
  await stored(folder, [opened(1), said(2, "line\nend")])
  assert.equal(
    await readFile(fileOf(folder), "utf8"),
    [header, opened(1), said(2, "line\nend")].map((each) => `${JSON.stringify(each)}\n`).join(""),
  )
  assert.deepEqual(await readdir(join(folder, "sessions")), ["session-one.jsonl"])
})

test("folders and files are private, whatever the umask", async (t) => {
  const folder = join(await temporary(t), "state", "legwork")
  for (const umask of [0o000, 0o777]) {
    const before = process.umask(umask)
    const id = `session-${umask}`
    try {
      const held = await jsonl({ folder }).create(headerOf(id.padEnd(9, "x")))
      held.append(said(1, `${umask}`.repeat(20_000)))
      await held.keep("out.txt", "long")
      await held.synced()
      const modes = readdirSync(join(folder, ".."), { recursive: true, withFileTypes: true }).map((entry) => {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
        return { kind: entry.isDirectory() ? "folder" : "file", mode: mode.toString(8) }
      })
      assert.ok(modes.length >= 8)
      for (const { kind, mode } of modes) assert.equal(mode, kind === "folder" ? "700" : "600")
      await held.close()
    } finally {
      process.umask(before)
    }
  }
})

test("a long text stands once, by its hash, however often it is said", async (t) => {
  const folder = await temporary(t)
  const long = "é".repeat(20_000)
  await stored(folder, [said(1, long), said(2, long), said(3, "x".repeat(16_384))])
  const hash = createHash("sha256").update(long).digest("hex")
  const lines = (await readFile(fileOf(folder), "utf8")).split("\n").slice(1, 4)
  const ref = { $blob: hash, length: 20_000 }
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).text),
    [ref, ref, "x".repeat(16_384)],
  )
  const names = (await readdir(join(folder, "blobs"), { recursive: true })).sort()
  assert.deepEqual(names, [hash.slice(0, 2), `${hash.slice(0, 2)}/${hash.slice(2)}`])
  assert.equal(await readFile(join(folder, "blobs", names[1]!), "utf8"), long)
})

for (const [harm, damage] of [
  ["missing", (path: string) => rm(path)],
  ["damaged", (path: string) => appendFile(path, "!")],
] as const)
  test(`a long text that is ${harm} leaves a note in its place, and is mended when said again`, async (t) => {
    const folder = await temporary(t)
    const long = "a".repeat(20_000)
    await stored(folder, [opened(1), said(2, long), said(3, "short")])
    const { $blob } = JSON.parse((await readFile(fileOf(folder), "utf8")).split("\n")[2]!).text
    await damage(join(folder, "blobs", $blob.slice(0, 2), $blob.slice(2)))
    const note = `[a text of 20000 characters stood here, but its file ${$blob} is missing or damaged]`
    const { held, stored: read } = await jsonl({ folder }).hold(header.id)
    assert.deepEqual(read, {
      header,
      facts: [opened(1), said(2, note), said(3, "short")],
      lost: ["1 long text was missing or damaged (line 3)"],
    })
    held.append(said(4, long))
    await held.close()
    assert.deepEqual(await jsonl({ folder }).read(header.id), {
      header,
      facts: [opened(1), said(2, long), said(3, "short"), said(4, long)],
      lost: [],
    })
  })

test("a folder that cannot be made is an error that says so", async (t) => {
  const folder = await temporary(t)
  await writeFile(join(folder, "file"), "")
  const store = jsonl({ folder: join(folder, "file", "legwork") })
  await assert.rejects(store.create(header), {
    name: "StoreError",
    code: "io",
    message: /^could not create a session in .*file\/legwork: ENOTDIR.*; see that the folder is there and writable$/,
  })
  assert.deepEqual(await store.list(), [])
  await assert.rejects(store.hold(header.id), { code: "unknown_session" })
})

test("a session whose folder is deleted under it is not reported as stored", async (t) => {
  const folder = await temporary(t)
  const held = await jsonl({ folder }).create(header)
  held.append(opened(1))
  await held.synced()
  await rm(folder, { recursive: true })
  held.append(said(2, "lost"))
  const refusal = { name: "StoreError", code: "io", message: /was deleted while its session was open; start a new/ }
  await assert.rejects(held.synced(), refusal)
  await assert.rejects(held.synced(), refusal)
  await assert.rejects(held.close(), refusal)
})

test("a copied file is a session of its own name", async (t) => {
  const folder = await temporary(t)
  await stored(folder, [opened(1)])
  await copyFile(fileOf(folder), fileOf(folder, "session-copy"))
  const copy = await jsonl({ folder }).read("session-copy")
  assert.deepEqual(copy, { header: { ...header, id: "session-copy" }, facts: [opened(1)], lost: [] })
})

test("another user's session is not resumed", { skip: process.getuid?.() !== 0 && "needs root" }, async (t) => {
  const folder = await temporary(t)
  await stored(folder, [opened(1)])
  await chown(fileOf(folder), 12_345, 12_345)
  const refusal = { code: "bad_session", message: /belongs to another user \(uid 12345\); resume it as that user/ }
  await assert.rejects(jsonl({ folder }).hold(header.id), refusal)
  await assert.rejects(jsonl({ folder }).hold(header.id), refusal)
})

test("the list leaves out what is not a readable session, and reads no more than the head of each", async (t) => {
  const folder = await temporary(t)
  await stored(folder, [
    opened(1),
    said(2, "the prompt"),
    ...Array.from({ length: 500 }, (_, i) => said(i + 3, "x".repeat(900))),
  ])
  const files = join(folder, "sessions")
  await writeFile(join(files, "empty-one.jsonl"), "")
  await writeFile(join(files, "garbage-one.jsonl"), "\0\0\n{}\n")
  await writeFile(join(files, "newer-one.jsonl"), `${JSON.stringify({ ...header, legwork: 2 })}\n`)
  await writeFile(join(files, "Not An Id.jsonl"), `${JSON.stringify(header)}\n`)
  await writeFile(join(files, "notes.txt"), "hello")
  await symlink("/nowhere/at/all", join(files, "dangling-one.jsonl"))
  await utimes(fileOf(folder), 1_600_000_000, 1_600_000_000.5)
  const { size } = await stat(fileOf(folder))
  assert.deepEqual(await jsonl({ folder }).list(), [
    { header, updatedAt: 1_600_000_000_500, bytes: size, title: "the prompt", running: false },
  ])
})

test("a prompt too long for the head of the file leaves the title empty, not the session out", async (t) => {
  const folder = await temporary(t)
  await stored(folder, [
    ...[1, 2, 3, 4, 5].map((seq) => ({ ...opened(seq), run: "y".repeat(15_000) })),
    said(6, "late"),
  ])
  assert.deepEqual(
    (await jsonl({ folder }).list()).map(({ title }) => title),
    [""],
  )
})
