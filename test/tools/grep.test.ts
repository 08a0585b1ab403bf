import assert from "node:assert/strict"
import { closeSync } from "node:fs"
import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { Firsts } from "../../src/tools/firsts.ts"
import { grep } from "../../src/tools/grep.ts"
import { openFolder } from "../../src/tools/open.ts"
import { ripgrep } from "../../src/tools/ripgrep.ts"
import { desk } from "./desk.ts"

const tree = {
  ".gitignore": "ignored/\n*.log\n",
  ".hidden": "needle hidden\n",
  ".git/config": "needle git\n",
  "a.ts": "one\nneedle\nthree\nfour\nNEEDLE\n",
  "debug.log": "needle\n",
  "ignored/x.ts": "needle\n",
  "src/b.ts": "a needle: here\nneedle needle\n",
  "src/deep/c.js": "needle\r\n",
}

test("matches come with path and line, sorted, without what is ignored and without .git", async (t) => {
  const { put, call } = await desk(t)
  await put(tree)
  assert.deepEqual(await call(grep, { pattern: "needle" }), {
    ok: true,
    text: ".hidden:1:needle hidden\na.ts:2:needle\nsrc/b.ts:1:a needle: here\nsrc/b.ts:2:needle needle\nsrc/deep/c.js:1:needle",
    details: { kind: "found", shown: 5, total: 5 },
  })
})

test("modes, case, context, kinds and globs", async (t) => {
  const { put, call } = await desk(t)
  await put(tree)
  const found = async (more: object) => (await call(grep, { pattern: "needle", ...more })).text.split("\n")
  assert.deepEqual(await found({ output_mode: "files_with_matches" }), [".hidden", "a.ts", "src/b.ts", "src/deep/c.js"])
  assert.deepEqual(await found({ output_mode: "count" }), [".hidden:1", "a.ts:1", "src/b.ts:2", "src/deep/c.js:1"])
  assert.deepEqual(await found({ path: "a.ts", "-i": true }), ["a.ts:2:needle", "a.ts:5:NEEDLE"])
  assert.deepEqual(await found({ path: "a.ts", output_mode: "count", "-i": true }), ["a.ts:2"])
  assert.deepEqual(await found({ path: "a.ts", output_mode: "files_with_matches" }), ["a.ts"])
  assert.deepEqual(await found({ path: "a.ts", "-C": 1, "-n": true }), ["a.ts-1-one", "a.ts:2:needle", "a.ts-3-three"])
  assert.deepEqual(await found({ path: "src/deep" }), ["src/deep/c.js:1:needle"])
  assert.deepEqual(await found({ type: "js" }), ["src/deep/c.js:1:needle"])
  const files = (glob: string, more = {}) => found({ output_mode: "files_with_matches", glob, ...more })
  assert.deepEqual(await files("*.ts"), ["a.ts", "src/b.ts"])
  assert.deepEqual(await files("*.{ts,js}"), ["a.ts", "src/b.ts", "src/deep/c.js"])
  assert.deepEqual(await files("src/**"), ["src/b.ts", "src/deep/c.js"])
  assert.deepEqual(await files("src/*.ts"), ["src/b.ts"])
  assert.deepEqual(await files("!*.ts"), [".hidden", "src/deep/c.js"])
  assert.deepEqual(await files("src/**", { type: "ts" }), ["src/b.ts"])
})

test("a glob never brings back what is ignored", async (t) => {
  const { put, call } = await desk(t)
  await put(tree)
  for (const glob of ["**", "*.log", "ignored/**", "**/*.ts", "debug.log"]) {
    const { text } = await call(grep, { pattern: "needle", glob })
    assert.doesNotMatch(text, /debug|ignored/)
  }
})

test("a match over several lines", async (t) => {
  const { put, call } = await desk(t)
  await put({ "a.txt": "begin\nmiddle\nend\n" })
  const output = await call(grep, { pattern: "begin.*end", multiline: true })
  assert.equal(output.text, "a.txt:1:begin\na.txt:2:middle\na.txt:3:end")
})

test("250 lines are shown, the total is named, and offset goes on", async (t) => {
  const { put, call } = await desk(t)
  const lines = Array.from({ length: 200 }, (_, index) => `x${index}`)
  await put({ "a.txt": lines.join("\n"), "b.txt": lines.join("\n") })
  const rows = ["a", "b"].flatMap((name) => lines.map((line, index) => `${name}.txt:${index + 1}:${line}`))
  assert.deepEqual(await call(grep, { pattern: "x" }), {
    ok: true,
    text: `${rows.slice(0, 250).join("\n")}\n\n(1-250 of 400 shown; go on with offset 250, or narrow the search)`,
    details: { kind: "found", shown: 250, total: 400 },
  })
  const rest = await call(grep, { pattern: "x", offset: 398, head_limit: 5 })
  assert.equal(rest.text, `${rows.slice(398).join("\n")}\n\n(399-400 of 400 shown)`)
  assert.equal(
    (await call(grep, { pattern: "x", offset: 400 })).text,
    "there are only 400 results: offset 400 is past the last",
  )
})

test("long lines are cut, and binary files and bytes that are no text do no harm", async (t) => {
  const { put, call } = await desk(t)
  await put({
    "long.txt": `needle${"😀".repeat(5_000)}\n`,
    "bin.dat": Buffer.from("needle\n\0needle"),
    latin: Buffer.from("needle \xfc\n", "latin1"),
  })
  const output = await call(grep, { pattern: "needle" })
  assert.equal(output.text, `latin:1:needle \uFFFD\nlong.txt:1:needle${"😀".repeat(247)}… [cut]`)
  assert.equal(
    (await call(grep, { pattern: "needle", path: "bin.dat" })).text,
    "bin.dat is a binary file, and it matches",
  )
})

test("no match, bad expressions, unknown kinds and missing paths are each said to be so", async (t) => {
  const { put, call } = await desk(t)
  await put({ "src/a.ts": "x" })
  assert.deepEqual(await call(grep, { pattern: "needle" }), {
    ok: true,
    text: "no match",
    details: { kind: "found", shown: 0, total: 0 },
  })
  const refused = async (input: object) => {
    const { ok, text } = await call(grep, { pattern: "x", ...input })
    assert.equal(ok, false)
    return text
  }
  assert.match(await refused({ pattern: "(" }), /unclosed group/)
  assert.match(await refused({ pattern: "a\\nb" }), /multiline/)
  assert.match(await refused({ type: "nope" }), /unrecognized file type: nope/)
  assert.equal(await refused({ path: "scr" }), "there is nothing at scr; did you mean src?")
  assert.match(await refused({ pattern: "a\0" }), /NUL/)
  assert.match(await refused({ pattern: "" }), /empty/)
})

test("arguments that look like options are patterns and paths", async (t) => {
  const { put, call } = await desk(t)
  await put({ "--files": "--pre=sh\n", "-e": "x\n" })
  assert.equal((await call(grep, { pattern: "--pre=sh" })).text, "--files:1:--pre=sh")
  assert.equal((await call(grep, { pattern: "x", path: "-e" })).text, "-e:1:x")
  assert.equal((await call(grep, { pattern: "x", glob: "--pre=*" })).text, "no match")
})

test("the user's ripgrep settings are not obeyed", async (t) => {
  const { root, world, put, call } = await desk(t)
  await put({ "a.txt": "needle\n" })
  await writeFile(join(root, "rc"), "--invert-match\n")
  world.env.RIPGREP_CONFIG_PATH = join(root, "rc")
  assert.equal((await call(grep, { pattern: "needle" })).text, "a.txt:1:needle")
})

test("a search that hangs is ended when its time is up or it is stopped", async (t) => {
  const { root, world } = await desk(t)
  const deaf = join(root, "deaf")
  await writeFile(deaf, "#!/bin/sh\ntrap '' TERM\necho begun\nwhile :; do sleep 0.05; done\n")
  await chmod(deaf, 0o755)
  const hung = { ...world, ripgrep: () => deaf }
  const folder = await openFolder(root)
  t.after(() => closeSync(folder.descriptor))
  const never = new AbortController().signal
  await assert.rejects(
    ripgrep(hung, { args: [], on: folder, signal: never, timeout: 100, take: () => {} }),
    /took over 0.1 s/,
  )
  const stop = new AbortController()
  const take = () => stop.abort(new Error("stopped"))
  await assert.rejects(ripgrep(hung, { args: [], on: folder, signal: stop.signal, take }), /stopped/)
})

test("a ripgrep that is not there is said to be missing", async (t) => {
  const { world, call } = await desk(t)
  world.ripgrep = () => "/nowhere/rg"
  assert.match((await call(grep, { pattern: "x" })).text, /ripgrep could not be started/)
})

test("law: the first rows by path are the same in whatever order the files come", () => {
  const files = fc.uniqueArray(
    fc.record({ path: fc.string({ minLength: 1, maxLength: 3 }), rows: fc.integer({ min: 1, max: 3_000 }) }),
    {
      selector: ({ path }) => path,
      maxLength: 8,
    },
  )
  fc.assert(
    fc.property(files, fc.integer({ min: 1, max: 300 }), fc.nat(50), (all, limit, offset) => {
      const firsts = new Firsts(offset + limit)
      for (const { path, rows } of all) for (let row = 0; row < rows; row++) firsts.add(path, `${path}:${row}`)
      const sorted = [...all].sort((a, b) => (a.path < b.path ? -1 : 1))
      const expected = sorted.flatMap(({ path, rows }) => Array.from({ length: rows }, (_, row) => `${path}:${row}`))
      assert.deepEqual(firsts.from(offset), expected.slice(offset, offset + limit))
      assert.equal(firsts.total, expected.length)
    }),
    { numRuns: 50 },
  )
})
