import assert from "node:assert/strict"
import { execFile, spawnSync } from "node:child_process"
import { chmodSync, linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative } from "node:path"
import { type TestContext, test } from "node:test"
import { promisify } from "node:util"
import fc from "fast-check"
import { isWithin } from "../../src/core/within.ts"
import { pathFits } from "../../src/permit/path.ts"
import { hiddenBy } from "../../src/sandbox/hidden.ts"
import { profileFor } from "../../src/sandbox/profile.ts"
import { needsFence, profileOf, ran } from "./fence.ts"
import { moves, peeks } from "./peeks.ts"

function treeOf(t: TestContext, paths: readonly string[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "legwork-hidden-")))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const path of paths) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), path)
  }
  return root
}

const some = [
  ".env",
  ".ENV.local",
  "a.pem",
  "conf/x.key",
  "conf/x.txt",
  "conf/deep/x.key",
  "secrets/one",
  "secrets/deep/two",
  "src/.env",
  "src/secrets/three",
  "odd [1]/{a}",
]

test("patterns mean what rules about reading mean by them", async (t) => {
  const root = treeOf(t, some)
  symlinkSync("conf/x.txt", join(root, "alias"))
  const found = async (pattern: string) =>
    (await hiddenBy([pattern], { root, home: join(root, "src"), areas: [root] }))
      .map((path) => relative(root, path))
      .sort()
  const expected: Record<string, string[]> = {
    ".env": [".env", "src/.env"],
    "./.env": [".env"],
    "/.env": [".env"],
    [`/${root}/.env`]: [".env"],
    ".env*": [".ENV.local", ".env", "src/.env"],
    "**/.env": [".env", "src/.env"],
    "~/.env": ["src/.env"],
    "src/../.env": [".env"],
    "secrets/**": ["secrets"],
    "secrets/": ["secrets", "src/secrets"],
    "**/secrets/**": ["secrets", "src/secrets"],
    "secrets/*": ["secrets/deep", "secrets/one"],
    "conf/*.key": ["conf/x.key"],
    "conf/**/*.key": ["conf/deep/x.key", "conf/x.key"],
    "*.{pem,key}": ["a.pem", "conf/deep/x.key", "conf/x.key"],
    "{conf/*,src/sec*}/{deep,three}": ["src/secrets/three"],
    "odd \\[1\\]/\\{a\\}": ["odd [1]/{a}"],
    alias: ["conf/x.txt"],
    "nothing/**": [],
    "//nonexistent/**/x": [],
  }
  const seen = await Promise.all(Object.keys(expected).map(async (pattern) => [pattern, await found(pattern)]))
  assert.deepEqual(Object.fromEntries(seen), expected)
})

test("whatever a rule that denies reading covers is hidden", async (t) => {
  const root = treeOf(t, some)
  const place = { root, home: "/nonexistent" }
  const piece = fc.constantFrom(
    "*",
    "**",
    "?",
    ".env",
    "secrets",
    "conf",
    "deep",
    "x",
    ".key",
    "{one,two}",
    "SRC",
    "[ac]",
  )
  const name = fc.array(piece, { minLength: 1, maxLength: 2 }).map((pieces) => pieces.join(""))
  const pattern = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("", "./"), pattern, async (start, rest) => {
      // With so many stars a rule denies everything, for fear of slowness.
      fc.pre(!/\*[^/]*\*[^/]*\*/.test(rest) && rest.split("**").length < 4 && rest.split(/\*+/).length < 7)
      const written = start + rest
      const hidden = await hiddenBy([written], { ...place, areas: [root] }).catch((error: Error) => {
        assert.match(error.message, /hides the working folder itself/)
        return [root]
      })
      for (const path of some.map((each) => join(root, each))) {
        const isDenied = await pathFits(written, path, place, "wide")
        const isHidden = hidden.some((each) => isWithin(path, each))
        assert.ok(isHidden || !isDenied, `${written} denies ${path}`)
      }
    }),
    { numRuns: 200 },
  )
})

test("other names of a hidden file are hidden too", async (t) => {
  const root = treeOf(t, [".env", "src/code"])
  linkSync(join(root, ".env"), join(root, "src/copy"))
  assert.deepEqual(await hiddenBy(["./.env"], { root, home: "/", areas: [root] }), [
    join(root, ".env"),
    join(root, "src/copy"),
  ])
})

test("too much to look through, and rules that hide everything, are errors", async (t) => {
  const root = treeOf(t, some)
  const ground = { root, home: "/", areas: [root] }
  await assert.rejects(hiddenBy(["**/*.pem"], { ...ground, most: 5 }), {
    message:
      "the rule read(**/*.pem) cannot be kept: there are more than 5 files to look through; name folders in it, as in read(secrets/**)",
  })
  await assert.rejects(hiddenBy(["./**"], ground), {
    message: "the rule read(./**) hides the working folder itself; narrow it, or run the command without the fence",
  })
  for (let n = 0; n <= 1_000; n++) writeFileSync(join(root, `secrets/${n}`), "")
  await assert.rejects(hiddenBy(["secrets/*"], ground), {
    message: "the rule read(secrets/*) hides more than 1000 files; name their folders, as in read(secrets/**)",
  })
  assert.deepEqual(await hiddenBy(["secrets/**"], { ...ground, most: 20 }), [join(root, "secrets")])
})

const ordinary = { uid: 65_534, gid: 65_534 }
const program = join(import.meta.dirname, "peeks.ts")
const isRoot = process.getuid?.() === 0
const canRead = () =>
  spawnSync(process.execPath, ["-e", `fs.accessSync(${JSON.stringify(program)})`], ordinary).status === 0
const needsOther = { skip: needsFence.skip || (isRoot ? !canRead() && "this folder is root's alone" : "needs root") }

for (const { who, user, needs } of [
  { who: isRoot ? "root" : "the user of the tests", user: {}, needs: needsFence },
  { who: "an ordinary user", user: ordinary, needs: needsOther },
]) {
  test(`${Object.keys({ ...peeks, ...moves }).length} ways to hidden files lead ${who} nowhere`, needs, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [program], user)
    assert.deepEqual(JSON.parse(stdout), {
      bare: Object.keys({ ...peeks, ...moves }),
      "read-only": [],
      "workspace-write": [],
    })
  })
}

test(
  "a folder that can be entered but not listed is an error: its files could be opened by name",
  needsOther,
  async (t) => {
    const root = treeOf(t, ["shut/.env"])
    chmodSync(root, 0o755)
    chmodSync(join(root, "shut"), 0o711)
    const script = `
    import { hiddenBy } from ${JSON.stringify(join(import.meta.dirname, "../../src/sandbox/hidden.ts"))}
    const root = ${JSON.stringify(root)}
    console.log(await hiddenBy([".env"], { root, home: "/", areas: [root] }).catch((error) => error.message))`
    const args = ["--input-type=module", "-e", script]
    const { stdout } = await promisify(execFile)(process.execPath, args, ordinary)
    assert.match(stdout, /shut cannot be looked through \(EACCES\)/)
  },
)

test("what is hidden says so, and the rest of a workspace works as ever", needsFence, async (t) => {
  const root = treeOf(t, [".env", "secrets/one", "src/code"])
  const place = { ...profileOf(root), home: "/nonexistent" }
  const profile = await profileFor(
    { level: "workspace-write", network: false, hidden: ["./.env", "secrets/**"] },
    place,
  )
  assert.deepEqual(await ran("cat .env; ls secrets; touch secrets/new; echo more >> src/code; cat src/code", profile), [
    "cat: .env: Permission denied\n" +
      "ls: cannot open directory 'secrets': Permission denied\n" +
      "touch: cannot touch 'secrets/new': Permission denied\n" +
      "src/codemore\n",
    0,
  ])
})

test(
  "a guarded file stays guarded on the way to a hidden one, and what was to be guarded can be hidden",
  needsFence,
  async (t) => {
    const root = treeOf(t, [".claude/deep/token", ".envrc"])
    const place = { ...profileOf(root), home: "/nonexistent" }
    const profile = await profileFor({ level: "workspace-write", network: false, hidden: ["token", ".envrc"] }, place)
    assert.deepEqual(await ran("cat .claude/deep/token .envrc; touch .claude/deep/new .claude/new", profile), [
      "cat: .claude/deep/token: Permission denied\n" +
        "cat: .envrc: Permission denied\n" +
        "touch: cannot touch '.claude/deep/new': Read-only file system\n" +
        "touch: cannot touch '.claude/new': Read-only file system\n",
      1,
    ])
  },
)
