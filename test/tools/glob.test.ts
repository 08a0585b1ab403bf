import assert from "node:assert/strict"
import { posix } from "node:path"
import { test } from "node:test"
import fc from "fast-check"
import { glob } from "../../src/tools/glob.ts"
import { matcher } from "../../src/tools/pattern.ts"
import { desk } from "./desk.ts"

const tree = {
  ".gitignore": "ignored/\n*.log\n",
  ".env": "",
  ".github/ci.yml": "",
  ".git/config": "",
  "a.ts": "",
  "b.tsx": "",
  "debug.log": "",
  "ignored/x.ts": "",
  "src/a.ts": "",
  "src/deep/c.ts": "",
  "src/deep/d.js": "",
}

test("patterns choose files, sorted by path, without what is ignored and without .git", async (t) => {
  const { root, put, call } = await desk(t)
  await put(tree)
  const found = async (pattern: string, path?: string) =>
    (await call(glob, { pattern, ...(path !== undefined && { path }) })).text.split("\n")
  assert.deepEqual(await found("**"), [
    ".env",
    ".github/ci.yml",
    ".gitignore",
    "a.ts",
    "b.tsx",
    "src/a.ts",
    "src/deep/c.ts",
    "src/deep/d.js",
  ])
  assert.deepEqual(await found("**/*.ts"), ["a.ts", "src/a.ts", "src/deep/c.ts"])
  assert.deepEqual(await found("*.ts"), ["a.ts"])
  assert.deepEqual(await found("./*.{ts,tsx}"), ["a.ts", "b.tsx"])
  assert.deepEqual(await found("src/**/*.{ts,js}"), ["src/a.ts", "src/deep/c.ts", "src/deep/d.js"])
  assert.deepEqual(await found("**/*.ts", "src/deep"), ["src/deep/c.ts"])
  assert.deepEqual(await found(`${root}/src/*.ts`), ["src/a.ts"])
  assert.deepEqual(await found("*.ts", "ignored"), ["ignored/x.ts"])
})

test("200 files are shown and the total is named", async (t) => {
  const { put, call } = await desk(t)
  const names = Array.from({ length: 250 }, (_, index) => `f${String(index).padStart(3, "0")}.txt`)
  await put(Object.fromEntries(names.map((name) => [name, ""])))
  assert.deepEqual(await call(glob, { pattern: "*.txt" }), {
    ok: true,
    text: `${names.slice(0, 200).join("\n")}\n\n(200 of 250 shown; narrow the pattern or name a folder with path)`,
    details: { kind: "found", shown: 200, total: 250 },
  })
})

test("no match, a file for a folder, a missing folder and a pattern that leads away are each said to be so", async (t) => {
  const { put, call } = await desk(t)
  await put({ "src/a.ts": "" })
  const told = async (input: unknown) => (await call(glob, input)).text
  assert.equal(
    await told({ pattern: "*.ts" }),
    "no file matches *.ts in . itself; **/*.ts also looks in the folders below",
  )
  assert.equal(await told({ pattern: "*", path: "src/a.ts" }), "src/a.ts is not a folder")
  assert.equal(await told({ pattern: "*", path: "scr" }), "there is nothing at scr; did you mean src?")
  for (const pattern of ["../*", "/etc/*", "src/../../*"])
    assert.equal(await told({ pattern }), `${pattern}: a pattern starts at the folder; name another folder with path`)
})

test("a search that is stopped ends", async (t) => {
  const { call } = await desk(t)
  const output = await call(glob, { pattern: "**" }, { signal: AbortSignal.abort(new Error("stopped")) })
  assert.deepEqual(output, { ok: false, text: "stopped" })
})

test("patterns mean what they mean elsewhere", () => {
  const cases: [string, string, boolean][] = [
    ["*.ts", "a.ts", true],
    ["*.ts", "a/b.ts", false],
    ["**/*.ts", "a.ts", true],
    ["a/**", "a/b/c", true],
    ["a/**/z", "a/z", true],
    ["a/**/z", "a/b/c/z", true],
    ["?.ts", "😀.ts", true],
    ["[a-c].ts", "b.ts", true],
    ["[!a-c].ts", "b.ts", false],
    ["[^a-c].ts", "d.ts", true],
    ["[]x]", "]", true],
    ["[x", "[x", true],
    ["\\*.ts", "*.ts", true],
    ["\\*.ts", "a.ts", false],
    ["{a,b{c,d}}.ts", "bd.ts", true],
    ["{a,b{c,d}}.ts", "b.ts", false],
    ["{a}.ts", "{a}.ts", true],
    ["{a/b,c}/d", "a/b/d", true],
    ["a{", "a{", true],
  ]
  for (const [pattern, path, fits] of cases) assert.equal(matcher(pattern)(path), fits, `${pattern} against ${path}`)
})

test("law: patterns agree with Node's own", { skip: typeof posix.matchesGlob !== "function" }, () => {
  const pattern = fc.array(fc.constantFrom("a", "b", "*", "?", "/", "**/", "[ab]", "{a,b}"), {
    minLength: 1,
    maxLength: 6,
  })
  const path = fc.array(fc.constantFrom("a", "b", "ab", "c"), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(pattern, path, (pieces, names) => {
      const whole = pieces.join("")
      // Stars that touch and empty names have no meaning to agree on.
      fc.pre(!/\*\*\*|[^/]\*\*|\*\*[^/]|\/\/|^\/|\/$/.test(whole))
      assert.equal(
        matcher(whole)(names.join("/")),
        posix.matchesGlob(names.join("/"), whole),
        `${whole} ${names.join("/")}`,
      )
    }),
    { numRuns: 2_000 },
  )
})

test("no pattern takes long, however many stars it has", () => {
  const started = process.cpuUsage().user
  assert.equal(matcher(`${"*a".repeat(40)}b`)("a".repeat(250)), false)
  assert.equal(matcher(`${"**/a/".repeat(40)}b`)("a/".repeat(200)), false)
  assert.ok(process.cpuUsage().user - started < 1_000_000)
  assert.throws(() => matcher("{a,b}".repeat(20)), /over 1000 alternatives/)
})
