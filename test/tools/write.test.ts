import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmod, readdir, readFile, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { current, hashOf, replace } from "../../src/tools/files.ts"
import { read } from "../../src/tools/read.ts"
import { write } from "../../src/tools/write.ts"
import { desk } from "./desk.ts"

test("a new file needs no reading, its folders are made, and the record says what was written", async (t) => {
  const { root, call } = await desk(t)
  assert.deepEqual(await call(write, { file_path: "new/deep/a.txt", content: "one\ntwo\n" }), {
    ok: true,
    text: "made new/deep/a.txt (2 lines, 8 bytes)",
    details: {
      kind: "diff",
      path: "new/deep/a.txt",
      diff: "--- new/deep/a.txt\n+++ new/deep/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n",
      added: 2,
      removed: 0,
    },
    touched: [
      { did: "wrote", path: join(root, "new/deep/a.txt"), hash: hashOf(Buffer.from("one\ntwo\n")), before: null },
    ],
  })
  assert.equal(await readFile(join(root, "new/deep/a.txt"), "utf8"), "one\ntwo\n")
  assert.deepEqual(await readdir(join(root, "new/deep")), ["a.txt"])
})

test("a file that is there is replaced only after it was read, and only if nobody changed it since", async (t) => {
  const { root, put, call } = await desk(t)
  const path = join(root, "a.txt")
  await put({ "a.txt": "one\n" })
  assert.deepEqual(await call(write, { path: "a.txt", content: "x" }), {
    ok: false,
    text: `${path} is there already and was not read: read it first, then change it`,
  })
  await call(read, { path: "a.txt" })
  await writeFile(path, "two\n")
  assert.deepEqual(await call(write, { path: "a.txt", content: "x" }), {
    ok: false,
    text: `${path} was changed since it was read: read it again, then decide anew`,
  })
  assert.equal(await readFile(path, "utf8"), "two\n")
  await call(read, { path: "a.txt" })
  assert.equal((await call(write, { path: "a.txt", content: "x" })).ok, true)
  assert.equal((await call(write, { path: "a.txt", content: "y" })).ok, true, "its own writing counts as read")
  assert.equal(await readFile(path, "utf8"), "y")
})

test("mode, line endings, byte order mark and encoding are kept", async (t) => {
  const { root, put, call } = await desk(t)
  await put({
    "run.sh": "old\n",
    "dos.txt": "\uFEFFa\r\nb\r\n",
    "wide.txt": Buffer.from("\uFEFFa\r\n", "utf16le"),
    "mixed.txt": "a\r\nb\n",
  })
  await chmod(join(root, "run.sh"), 0o751)
  for (const path of ["run.sh", "dos.txt", "wide.txt", "mixed.txt"]) {
    await call(read, { path })
    assert.equal((await call(write, { path, content: "x\ny\n" })).ok, true)
  }
  assert.equal((await stat(join(root, "run.sh"))).mode & 0o7777, 0o751)
  assert.equal(await readFile(join(root, "dos.txt"), "utf8"), "\uFEFFx\r\ny\r\n")
  assert.deepEqual(await readFile(join(root, "wide.txt")), Buffer.from("\uFEFFx\r\ny\r\n", "utf16le"))
  assert.equal(await readFile(join(root, "mixed.txt"), "utf8"), "x\ny\n")
})

test("a file marked read-only is not replaced", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "one\n" })
  await chmod(join(root, "a.txt"), 0o444)
  await call(read, { path: "a.txt" })
  assert.match((await call(write, { path: "a.txt", content: "x" })).text, /marked read-only/)
})

test("when writing fails, the original stays whole and nothing is left beside it", async (t) => {
  const { root, put } = await desk(t)
  await put({ "a.txt": "the original\n" })
  const program = `
    import { current, replace } from ${JSON.stringify(new URL("../../src/tools/files.ts", import.meta.url).href)}
    const path = process.argv[1]
    try { await replace(path, Buffer.alloc(1_000_000, 120), await current(path)) } catch (error) { console.log(error.message) }`
  // A limit on the size of files stands for a full disk: the write fails midway.
  const limited = 'trap "" XFSZ; ulimit -f 100; exec "$0" --input-type=module -e "$1" "$2"'
  const said = execFileSync("bash", ["-c", limited, process.execPath, program, join(root, "a.txt")], {
    encoding: "utf8",
  })
  assert.equal(said, `${join(root, "a.txt")} would be larger than the system allows: it was not changed\n`)
  assert.equal(await readFile(join(root, "a.txt"), "utf8"), "the original\n")
  assert.deepEqual(await readdir(root), ["a.txt"])
})

test("of two that make the same new file, one is refused", async (t) => {
  const { root, call } = await desk(t)
  const both = await Promise.all(["one", "two"].map((content) => call(write, { path: "deep/new.txt", content })))
  assert.deepEqual(both.map(({ ok }) => ok).sort(), [false, true])
  const winner = both[0]?.ok ? "one" : "two"
  assert.equal(await readFile(join(root, "deep/new.txt"), "utf8"), winner)
  assert.deepEqual(await readdir(join(root, "deep")), ["new.txt"])
})

test("the last look comes right before the change: what happened since the first look is seen", async (t) => {
  const { root, put } = await desk(t)
  const path = join(root, "a.txt")
  await put({ "a.txt": "one" })
  const seen = await current(path)
  await writeFile(path, "two")
  await assert.rejects(replace(path, Buffer.from("three"), seen), /changed since it was read/)
  await rm(path)
  await assert.rejects(replace(path, Buffer.from("three"), seen), /changed since it was read/)
  assert.deepEqual(await readdir(root), [])
})

test("a path through a file, and a name too long, are refused in plain words", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "one" })
  assert.equal(
    (await call(write, { path: "a.txt/b.txt", content: "" })).text,
    `${join(root, "a.txt/b.txt")} cannot be there: something above it is not a folder`,
  )
  assert.match((await call(write, { path: "x".repeat(300), content: "" })).text, /too long a name/)
})
