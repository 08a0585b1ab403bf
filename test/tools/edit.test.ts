import assert from "node:assert/strict"
import { chmod, readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { edit } from "../../src/tools/edit.ts"
import { hashOf } from "../../src/tools/files.ts"
import { read } from "../../src/tools/read.ts"
import { applyEdits } from "../../src/tools/substitute.ts"
import { desk } from "./desk.ts"

test("edits apply in order, keep the mode, and the record has the diff and both hashes", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.sh": "one\ntwo\nthree\n" })
  await chmod(join(root, "a.sh"), 0o755)
  await call(read, { path: "a.sh" })
  const edits = [
    { old_string: "two", new_string: "2" },
    { old_string: "2\nthree", new_string: "2\n3" },
  ]
  assert.deepEqual(await call(edit, { file_path: "a.sh", edits }), {
    ok: true,
    text: "changed a.sh (2 places)",
    details: {
      kind: "diff",
      path: "a.sh",
      diff: "--- a.sh\n+++ a.sh\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+2\n+3\n",
      added: 2,
      removed: 2,
    },
    touched: [
      {
        did: "wrote",
        path: join(root, "a.sh"),
        hash: hashOf(Buffer.from("one\n2\n3\n")),
        before: hashOf(Buffer.from("one\ntwo\nthree\n")),
      },
    ],
  })
  assert.equal((await stat(join(root, "a.sh"))).mode & 0o777, 0o755)
})

test("one edit may stand without a list", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "x x\n" })
  await call(read, { path: "a.txt" })
  const output = await call(edit, { path: "a.txt", old_string: "x", new_string: "$&y", replace_all: true })
  assert.equal(output.text, "changed a.txt (2 places)")
  assert.equal(await readFile(join(root, "a.txt"), "utf8"), "$&y $&y\n")
})

test("all or none: an edit that does not fit leaves the file as it was", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "one\n" })
  await call(read, { path: "a.txt" })
  const edits = [
    { old_string: "one", new_string: "1" },
    { old_string: "nowhere to be found", new_string: "2" },
  ]
  assert.deepEqual(await call(edit, { path: "a.txt", edits }), {
    ok: false,
    text: "edit 2 of 2, so nothing was changed: old_string is not in the file: nothing in it is like it; read the file again",
  })
  assert.equal(await readFile(join(root, "a.txt"), "utf8"), "one\n")
})

const refusal = (text: string, old_string: string, new_string = "new"): string => {
  try {
    applyEdits(text, [{ old_string, new_string }])
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return "it was applied"
}

test("what does not fit is refused with what to do", () => {
  assert.equal(
    refusal("a\nb\na\n", "a"),
    "old_string is in the file 2 times, at lines 1, 3: add the lines around the right one, or set replace_all",
  )
  assert.equal(refusal("a", "", "x"), "old_string is empty: give the text to replace, or use write")
  assert.equal(refusal("a", "a", "a"), "old_string and new_string are the same: nothing to change")
  assert.equal(
    refusal("function f() {\n\treturn 1\n}\n", "function f() {\n  return 1\n}"),
    "old_string is not in the file: only white space differs (tabs, spaces, indentation). The file has\n     1\tfunction f() {\n     2\t\treturn 1\n     3\t}",
  )
  assert.equal(
    refusal("x \ny\n", "x\ny"),
    "old_string is not in the file: only white space at the ends of lines differs. The file has\n     1\tx \n     2\ty",
  )
  assert.equal(
    refusal("say “hi”\n", 'say "hi"'),
    "old_string is not in the file: only quotes, dashes or other look-alike characters differ. The file has\n     1\tsay “hi”",
  )
  assert.equal(
    refusal("const Name = 1\n", "const name = 1"),
    "old_string is not in the file: only upper and lower case differ. The file has\n     1\tconst Name = 1",
  )
  assert.equal(
    refusal("one\ntwo\n", "     1\tone\n     2\ttwo"),
    "old_string is not in the file: it has the line numbers that read puts before each line; leave them and the tab out",
  )
  assert.equal(
    refusal("a\nconst total = add(first, second)\nb\n", "const total = sum(first, second)"),
    "old_string is not in the file. The closest lines are\n     2\tconst total = add(first, second)",
  )
})

test("files with CRLF are matched with plain line feeds and keep their endings", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "dos.txt": "one\r\ntwo\r\nthree\r\n", "mixed.txt": "one\r\ntwo\nthree\n" })
  await call(read, { path: "dos.txt" })
  await call(read, { path: "mixed.txt" })
  await call(edit, { path: "dos.txt", old_string: "one\ntwo", new_string: "1\n1.5\n2" })
  await call(edit, { path: "mixed.txt", old_string: "two\nthree", new_string: "2\n3" })
  assert.equal(await readFile(join(root, "dos.txt"), "utf8"), "1\r\n1.5\r\n2\r\nthree\r\n")
  assert.equal(await readFile(join(root, "mixed.txt"), "utf8"), "one\r\n2\n3\n")
})

test("UTF-16 and byte order marks survive; text that is not UTF-8 is refused", async (t) => {
  const { root, put, call } = await desk(t)
  await put({
    wide: Buffer.from("\uFEFFgrüße\n", "utf16le"),
    bom: "\uFEFFeins\n",
    latin: Buffer.from("gr\xfc\xdfe\n", "latin1"),
  })
  for (const path of ["wide", "bom", "latin"]) await call(read, { path })
  await call(edit, { path: "wide", old_string: "grüße", new_string: "x" })
  await call(edit, { path: "bom", old_string: "eins", new_string: "zwei" })
  assert.deepEqual(await readFile(join(root, "wide")), Buffer.from("\uFEFFx\n", "utf16le"))
  assert.equal(await readFile(join(root, "bom"), "utf8"), "\uFEFFzwei\n")
  assert.match((await call(edit, { path: "latin", old_string: "e", new_string: "x" })).text, /would damage it/)
})

test("a file that was not read, was changed since, or is not there is not edited", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "a.txt": "one\n" })
  const change = { path: "a.txt", old_string: "one", new_string: "two" }
  assert.match((await call(edit, change)).text, /was not read: read it first/)
  await call(read, { path: "a.txt" })
  await writeFile(join(root, "a.txt"), "one \n")
  assert.match((await call(edit, change)).text, /changed since it was read: read it again/)
  assert.equal((await call(edit, { ...change, path: "b.txt" })).text, "there is nothing at b.txt; did you mean a.txt?")
})

test("parallel edits lose no update: each one either shows in the file or was refused", async (t) => {
  const { root, put, call } = await desk(t)
  const words = Array.from({ length: 8 }, (_, index) => `word${index};`)
  await put({ "a.txt": words.join("\n") })
  await call(read, { path: "a.txt" })
  let left = words
  while (left.length > 0) {
    const outputs = await Promise.all(
      left.map((word) => call(edit, { path: "a.txt", old_string: word, new_string: word.toUpperCase() })),
    )
    const done = left.filter((_, index) => outputs[index]?.ok)
    assert.ok(done.length > 0)
    const text = await readFile(join(root, "a.txt"), "utf8")
    for (const word of done) assert.ok(text.includes(word.toUpperCase()), `${word} was lost`)
    left = left.filter((word) => !done.includes(word))
    for (const word of left) assert.ok(text.includes(word), `${word} was changed though refused`)
    await call(read, { path: "a.txt" })
  }
  assert.equal(await readFile(join(root, "a.txt"), "utf8"), words.join("\n").toUpperCase())
})

test("law: an edit is a replacement of the one place, or of all, and nothing else", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "$", "&", "\n", "é"), minLength: 1, maxLength: 3 })
  const text = fc.string({ unit: fc.constantFrom("a", "b", "$", "&", "\n", "é"), maxLength: 40 })
  fc.assert(
    fc.property(text, word, word, fc.boolean(), (whole, old_string, new_string, replace_all) => {
      const places = whole.split(old_string).length - 1
      const act = () => applyEdits(whole, [{ old_string, new_string, replace_all }])
      if (old_string === new_string || places === 0 || (places > 1 && !replace_all)) return void assert.throws(act)
      assert.deepEqual(act(), { text: whole.replaceAll(old_string, () => new_string), replaced: places })
    }),
    { numRuns: 1_000 },
  )
})

test("law: in a CRLF file an edit is the same edit with CRLF endings", () => {
  const text = fc
    .string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 30 })
    .filter((one) => one.includes("\n"))
  const word = fc.string({ unit: fc.constantFrom("a", "b", "\n"), minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(text, word, word, (whole, old_string, new_string) => {
      const dos = (one: string) => one.replaceAll("\n", "\r\n")
      const edits = [{ old_string, new_string, replace_all: true }]
      if (old_string === new_string || !whole.includes(old_string)) return
      assert.equal(applyEdits(dos(whole), edits).text, dos(applyEdits(whole, edits).text))
    }),
  )
})
