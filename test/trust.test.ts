import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, test } from "node:test"
import { promisify } from "node:util"
import fc from "fast-check"
import { mainOf } from "../src/config/repository.ts"
import { distrust, repositoryAt, TrustError, trust, trustOf } from "../src/trust.ts"

const run = promisify(execFile)
const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-trust-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

/** A state folder, and a repository with a folder two levels down. */
async function place(files: Record<string, string | Buffer> = {}) {
  const top = join(base, `${places++}`)
  const root = join(top, "repository")
  const cwd = join(root, "packages", "one")
  await mkdir(join(root, ".git"), { recursive: true })
  await mkdir(cwd, { recursive: true })
  const write = async (name: string, content: string | Buffer) => {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), content)
  }
  for (const [name, content] of Object.entries(files)) await write(name, content)
  const options = { folder: join(top, "state") }
  return { top, root, cwd, options, write, state: async (at = cwd) => (await trustOf(at, options)).state }
}

const hashOf = (content: string): string => createHash("sha256").update(content).digest("hex")
const hash = (files: [string, string][]): string =>
  hashOf(JSON.stringify(files.map(([path, content]) => [path, hashOf(content)])))

test("a repository without settings, agents and servers has nothing to trust", async () => {
  const { cwd, root, options } = await place({
    "AGENTS.md": "be kind",
    "src/agents/x.md": "x",
    ".claude/notes.md": "x",
  })
  assert.deepEqual(await trustOf(cwd, options), { state: "nothing" })
  assert.deepEqual(await trust(cwd, options), {
    root,
    files: [],
    hash: "",
    folders: ["", "packages", "packages/one"],
    problems: [],
  })
  await assert.rejects(stat(options.folder), { code: "ENOENT" })
  assert.equal(await distrust(cwd, options), false)
})

test("all that could give power is found, from the root down to the working folder and no further", async () => {
  const { cwd, root } = await place({
    ".claude/settings.json": "1",
    ".claude/settings.local.json": "2",
    ".legwork/settings.json": "3",
    ".legwork/settings.local.json": "4",
    ".mcp.json": "5",
    ".legwork/agents/deep/er/a.md": "6",
    ".claude/agents/b.md": "7",
    ".opencode/agent/c.md": "8",
    ".opencode/agents/d.md": "9",
    ".gemini/agents/e.md": "10",
    ".qwen/agents/f.md": "11",
    ".kimi-code/agents/g.md": "12",
    ".agents/agents/h.md": "13",
    ".github/agents/i.agent.md": "14",
    ".github/agents/README.md": "no agent",
    ".cursor/agents/j.md": "15",
    "packages/one/.mcp.json": "16",
    "packages/one/.claude/agents/k.md": "17",
    "packages/two/.mcp.json": "not on the way",
    "packages/one/inner/.mcp.json": "further down",
  })
  const here: [string, string][] = [
    [".claude/settings.json", "1"],
    [".claude/settings.local.json", "2"],
    [".legwork/settings.json", "3"],
    [".legwork/settings.local.json", "4"],
    [".mcp.json", "5"],
    [".legwork/agents/deep/er/a.md", "6"],
    [".claude/agents/b.md", "7"],
    [".opencode/agent/c.md", "8"],
    [".opencode/agents/d.md", "9"],
    [".gemini/agents/e.md", "10"],
    [".qwen/agents/f.md", "11"],
    [".kimi-code/agents/g.md", "12"],
    [".agents/agents/h.md", "13"],
    [".github/agents/i.agent.md", "14"],
    [".cursor/agents/j.md", "15"],
  ]
  const below: [string, string][] = [
    ["packages/one/.mcp.json", "16"],
    ["packages/one/.claude/agents/k.md", "17"],
  ]
  assert.deepEqual(await repositoryAt(cwd), {
    root,
    files: [
      ...here.map(([path, content]) => ({ folder: "", path, hash: hashOf(content) })),
      ...below.map(([path, content]) => ({ folder: "packages/one", path, hash: hashOf(content) })),
    ],
    hash: hash([...here, ...below]),
    folders: ["", "packages", "packages/one"],
    problems: [],
  })
})

test("trust counts for the whole repository until it is taken back", async () => {
  const { cwd, root, options, state } = await place({ ".mcp.json": "{}" })
  const repository = await repositoryAt(cwd)
  assert.deepEqual(await trustOf(cwd, options), { state: "untrusted", repository })
  assert.deepEqual(await trust(root, options), { ...repository, folders: [""] })
  assert.deepEqual(await trustOf(cwd, options), { state: "trusted", repository })
  assert.equal(await state(root), "trusted")
  assert.equal(await distrust(cwd, options), true)
  assert.equal(await state(root), "untrusted")
  assert.equal(await distrust(cwd, options), false)
})

test("changed content asks again, and says what changed: what differs, came or went", async () => {
  const { cwd, options, write, root } = await place({ ".mcp.json": "{}", ".claude/agents/a.md": "a" })
  const { hash: before } = await trust(cwd, options)
  await write(".mcp.json", "{ }")
  await write(".legwork/settings.json", "{}")
  await rm(join(root, ".claude/agents/a.md"))
  const repository = await repositoryAt(cwd)
  assert.notEqual(repository.hash, before)
  assert.deepEqual(await trustOf(cwd, options), {
    state: "changed",
    repository,
    changed: [".legwork/settings.json", ".mcp.json", ".claude/agents/a.md"],
  })
  await trust(cwd, options)
  assert.deepEqual(await trustOf(cwd, options), { state: "trusted", repository })
  await write(".mcp.json", "{}")
  assert.equal((await trustOf(cwd, options)).state, "changed")
})

test("only what the user was shown becomes trusted", async () => {
  const { cwd, root, options, write, state } = await place({ ".mcp.json": "{}" })
  const { hash: shown } = await repositoryAt(cwd)
  await write(".mcp.json", "evil")
  await assert.rejects(
    trust(cwd, { ...options, hash: shown }),
    new TrustError(`${root} is not trusted: its files have changed since they were shown; look at them again`),
  )
  assert.equal(await state(), "untrusted")
  await write(".mcp.json", "{}")
  await trust(cwd, { ...options, hash: shown })
  assert.equal(await state(), "trusted")
})

test("files of a folder further down are trusted with that folder", async () => {
  const { cwd, root, options, state } = await place({
    ".mcp.json": "{}",
    "packages/one/.mcp.json": "{}",
    "packages/two/.claude/agents/x.md": "x",
  })
  const two = join(root, "packages/two")
  await trust(root, options)
  assert.deepEqual(await trustOf(cwd, options), {
    state: "changed",
    repository: await repositoryAt(cwd),
    changed: ["packages/one/.mcp.json"],
  })
  await trust(cwd, options)
  assert.deepEqual([await state(), await state(root), await state(two)], ["trusted", "trusted", "changed"])
  await trust(two, options)
  assert.deepEqual([await state(), await state(root), await state(two)], ["trusted", "trusted", "trusted"])
})

test("of two repositories with the same files each is trusted for itself, also where one lies in the other", async () => {
  const { root, options, state, write } = await place({ ".mcp.json": "{}" })
  await mkdir(join(root, "vendor/.git"), { recursive: true })
  await write("vendor/.mcp.json", "{}")
  const other = await place({ ".mcp.json": "{}" })
  await trust(root, options)
  assert.deepEqual(
    [await state(), await state(join(root, "vendor")), await state(other.cwd)],
    ["trusted", "untrusted", "untrusted"],
  )
  await Promise.all([trust(join(root, "vendor"), options), trust(other.cwd, options)])
  assert.deepEqual(
    [await state(), await state(join(root, "vendor")), await state(other.cwd)],
    ["trusted", "trusted", "trusted"],
  )
})

test("however a folder is reached, it is the same", async () => {
  const { top, root, options, state } = await place({ ".mcp.json": "{}" })
  await symlink(root, join(top, "link"))
  await trust(join(top, "link/packages"), options)
  assert.equal(await state(), "trusted")
})

test("a folder outside a repository is trusted alone", async () => {
  const { top, options } = await place()
  await mkdir(join(top, "plain/inner"), { recursive: true })
  for (const folder of ["plain", "plain/inner"]) await writeFile(join(top, folder, ".mcp.json"), "{}")
  await trust(join(top, "plain"), options)
  const states = ["plain", "plain/inner"].map(async (name) => (await trustOf(join(top, name), options)).state)
  assert.deepEqual(await Promise.all(states), ["trusted", "untrusted"])
})

test("a worktree is trusted with its repository while its files are the same, or by itself", async () => {
  const { top, root, options, state, write } = await place({ ".mcp.json": "{}", "packages/one/.mcp.json": "{}" })
  await rm(join(root, ".git"), { recursive: true })
  const env = { PATH: process.env.PATH, HOME: top, GIT_CONFIG_NOSYSTEM: "1" }
  const git = (...words: string[]) =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", "-C", root, ...words], { env })
  await git("init", "--quiet")
  await git("add", ".")
  await git("commit", "--quiet", "--message", "one")
  const tree = join(top, "tree")
  await git("worktree", "add", "--quiet", tree)
  assert.equal(await mainOf(tree), root)
  assert.equal(await mainOf(root), undefined)

  assert.equal(await state(join(tree, "packages")), "untrusted")
  await trust(join(root, "packages/one"), options)
  assert.equal(await state(tree), "trusted")
  await writeFile(join(tree, ".mcp.json"), "{ }")
  assert.equal(await state(tree), "changed")
  await trust(tree, options)
  await write(".mcp.json", "{  }")
  assert.deepEqual(
    [await state(root), await state(tree), await state(join(tree, "packages/one"))],
    ["changed", "trusted", "trusted"],
  )
  await distrust(tree, options)
  assert.deepEqual([await state(root), await state(tree)], ["untrusted", "untrusted"])
})

test("a folder that only says that it is a worktree of a trusted repository is not trusted with it", async () => {
  const { top, root, options, state } = await place({ ".mcp.json": "{}" })
  await trust(root, options)
  const inside = join(root, ".git/worktrees/true")
  await mkdir(inside, { recursive: true })
  await writeFile(join(inside, "gitdir"), `${join(top, "true/.git")}\n`)
  const committed = join(root, "docs/trees/mine")
  await mkdir(committed, { recursive: true })
  await writeFile(join(committed, "gitdir"), `${join(top, "committed/.git")}\n`)
  const said = {
    true: inside,
    committed,
    false: inside,
    none: join(root, ".git/worktrees/none"),
    main: join(root, ".git"),
    relative: "../repository/.git/worktrees/true",
  }
  for (const [name, gitdir] of Object.entries(said)) {
    await mkdir(join(top, name))
    await writeFile(join(top, name, ".git"), `gitdir: ${gitdir}\n`)
    await writeFile(join(top, name, ".mcp.json"), "{}")
  }
  const states = await Promise.all(Object.keys(said).map(async (name) => [name, await state(join(top, name))]))
  assert.deepEqual(Object.fromEntries(states), {
    true: "trusted",
    committed: "untrusted",
    false: "untrusted",
    none: "untrusted",
    main: "untrusted",
    relative: "untrusted",
  })
})

test("what is the user's own is no repository's, even in the home folder", async () => {
  const { root, cwd, options, state } = await place({
    ".claude/settings.json": "{}",
    ".claude/agents/mine.md": "mine",
    ".legwork/agents/mine.md": "mine",
    ".legwork/settings.json": "{}",
    "packages/one/.claude/settings.json": "{}",
  })
  const pathsOf = async (user: object) => (await repositoryAt(cwd, user)).files.map(({ path }) => path)
  assert.deepEqual(await pathsOf({ home: root }), [".legwork/settings.json", "packages/one/.claude/settings.json"])
  const env = { CLAUDE_CONFIG_DIR: join(cwd, ".claude") }
  assert.deepEqual(await pathsOf({ home: root, env }), [
    ".claude/settings.json",
    ".legwork/settings.json",
    ".claude/agents/mine.md",
  ])
  await trust(cwd, { ...options, home: root })
  assert.equal((await trustOf(cwd, { ...options, home: root })).state, "trusted")
  assert.equal(await state(), "changed")
})

test("links, pipes, folders and huge files in the place of settings: never trusted, and it says why", async () => {
  const huge = Buffer.alloc(1024 * 1024 + 1, " ")
  const { top, root, cwd, options, state } = await place({ ".mcp.json": huge, ".legwork/agents/fine.md": "fine" })
  await writeFile(join(top, "elsewhere.json"), "{}")
  await symlink(join(top, "elsewhere.json"), join(root, ".legwork/settings.json"))
  await mkdir(join(root, ".claude/settings.json"), { recursive: true })
  await run("mkfifo", [join(root, ".claude/settings.local.json")])
  await symlink("nowhere.json", join(root, ".legwork/settings.local.json"))
  const { problems, files } = await repositoryAt(cwd)
  assert.deepEqual(problems, [
    { path: ".claude/settings.json", message: "is not a regular file; put a regular file there" },
    { path: ".claude/settings.local.json", message: "is not a regular file; put a regular file there" },
    { path: ".legwork/settings.json", message: "leads out of the project; put a regular file there" },
    { path: ".legwork/settings.local.json", message: "is a link that leads nowhere; take it away" },
    { path: ".mcp.json", message: "is larger than 1 MB; make it smaller" },
  ])
  assert.deepEqual(files, [{ folder: "", path: ".legwork/agents/fine.md", hash: hashOf("fine") }])
  await assert.rejects(trust(cwd, options), {
    name: "TrustError",
    message: `${root} cannot be trusted: .claude/settings.json is not a regular file; put a regular file there`,
  })
  assert.equal(await state(), "untrusted")
})

test("a repository with nothing but what cannot be read is not one with nothing to trust", async () => {
  const { root, options, state } = await place()
  await run("mkfifo", [join(root, ".mcp.json")])
  assert.equal(await state(), "untrusted")
  await assert.rejects(trust(root, options), { name: "TrustError" })
})

test("links, pipes and huge files among agents: never trusted, even if it was before", async () => {
  const { top, root, cwd, options, state } = await place({ ".claude/agents/fine.md": "fine" })
  await trust(cwd, options)
  const agents = join(root, ".claude/agents")
  await writeFile(join(top, "elsewhere.md"), "evil")
  await symlink(join(top, "elsewhere.md"), join(agents, "a.md"))
  await symlink("nowhere.md", join(agents, "b.md"))
  await run("mkfifo", [join(agents, "c.md")])
  await writeFile(join(agents, "d.md"), Buffer.alloc(1024 * 1024 + 1))
  await symlink(top, join(root, ".github"))
  await mkdir(join(top, "agents"))
  const { problems } = await repositoryAt(cwd)
  assert.deepEqual(problems, [
    { path: ".claude/agents/a.md", message: "leads out of the project and is not read; put the file itself there" },
    { path: ".claude/agents/b.md", message: "is a link that leads nowhere; take it away" },
    { path: ".claude/agents/c.md", message: "is not a regular file and is not read" },
    { path: ".claude/agents/d.md", message: "is larger than 1 MB and is not read; make it smaller" },
    { path: ".github/agents", message: "leads out of the project and is not read; put a folder there" },
  ])
  assert.equal(await state(), "untrusted")
  for (const name of ["a.md", "b.md", "c.md", "d.md"]) await rm(join(agents, name))
  await rm(join(root, ".github"))
  assert.equal(await state(), "trusted")
})

test("a link within the project counts by what it leads to", async () => {
  const { root, cwd, options, state, write } = await place({ "shared/mcp.json": "{}" })
  await symlink("shared/mcp.json", join(root, ".mcp.json"))
  await trust(cwd, options)
  assert.equal(await state(), "trusted")
  await write("shared/mcp.json", "evil")
  assert.equal(await state(), "changed")
})

test("more files, or more bytes, than anybody could look through are never trusted", async () => {
  const said = [{ path: ".", message: "holds 2,000 files of settings and agents, or 16 MB; take some away" }]
  const many = Array.from({ length: 2_050 }, (_, at) => [`.claude/agents/${at}.md`, "x"])
  const crowd = await place(Object.fromEntries(many))
  const { files, problems } = await repositoryAt(crowd.cwd)
  assert.deepEqual([files.length, problems], [2_000, said])
  await assert.rejects(trust(crowd.cwd, crowd.options), { name: "TrustError" })

  const megabyte = Buffer.alloc(1024 * 1024)
  const big = await place(Object.fromEntries(many.slice(0, 18).map(([name]) => [name, megabyte])))
  const bulk = await repositoryAt(big.cwd)
  assert.deepEqual([bulk.files.length, bulk.problems], [16, said])
})

test("what is remembered is private, in a file for each repository", async () => {
  const { cwd, root, options } = await place({ ".mcp.json": "{}" })
  const before = process.umask(0)
  try {
    await trust(cwd, options)
    await trust(cwd, options)
  } finally {
    process.umask(before)
  }
  const folder = join(options.folder, "trust")
  const names = await readdir(folder)
  assert.deepEqual(names, [`${hashOf(root)}.json`])
  const modes = [options.folder, folder, join(folder, names[0]!)].map(async (path) => (await stat(path)).mode & 0o777)
  assert.deepEqual(await Promise.all(modes), [0o700, 0o700, 0o600])
})

test("a record that is damaged trusts nothing, and the next trust mends it", async () => {
  const { cwd, root, options, state } = await place({ ".mcp.json": "{}" })
  await trust(cwd, options)
  const record = join(options.folder, "trust", `${hashOf(root)}.json`)
  const right = await readFile(record, "utf8")
  const { files } = JSON.parse(right)
  const damaged = [
    "",
    right.slice(0, -3),
    "null",
    "[]",
    JSON.stringify({ files }),
    JSON.stringify({ root: `${root}/`, files }),
    JSON.stringify({ root, files: {} }),
    JSON.stringify({ root, files: [...files, null] }),
    JSON.stringify({ root, files: [{ path: ".mcp.json", folder: "" }] }),
    Buffer.alloc(17 * 1024 * 1024, " "),
  ]
  for (const text of damaged) {
    await writeFile(record, text)
    assert.equal(await state(), "untrusted")
  }
  await trust(cwd, options)
  assert.equal(await state(), "trusted")
  await rm(record)
  await mkdir(record)
  assert.equal(await state(), "untrusted")
  await rm(record, { recursive: true })
  await run("mkfifo", [record])
  assert.equal(await state(), "untrusted")
  await trust(cwd, options)
  assert.equal(await state(), "trusted")
})

test("a state folder that cannot be written says so, and nothing is trusted", async () => {
  const { top, cwd, state } = await place({ ".mcp.json": "{}" })
  await writeFile(join(top, "state"), "")
  await assert.rejects(trust(cwd, { folder: join(top, "state") }), { code: "ENOTDIR" })
  assert.equal(await state(), "untrusted")
})

test("a file that nobody may read is a problem, not an accident", { skip: process.getuid?.() === 0 }, async () => {
  const { cwd, root } = await place({ ".mcp.json": "{}" })
  await chmod(join(root, ".mcp.json"), 0)
  assert.deepEqual((await repositoryAt(cwd)).problems, [
    { path: ".mcp.json", message: "cannot be read (EACCES); put a regular file there" },
  ])
})

test("law: a folder is trusted exactly while its files are those that were trusted", async () => {
  const names = [
    ".mcp.json",
    ".legwork/settings.json",
    ".claude/agents/a.md",
    "packages/one/.cursor/agents/__proto__.md",
  ]
  const contents = fc.dictionary(fc.constantFrom(...names), fc.constantFrom("", "{}", "x"), { maxKeys: 4 })
  const same = (one: object, other: object) =>
    JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())
  await fc.assert(
    fc.asyncProperty(contents, contents, async (before, now) => {
      const { top, root, cwd, options, write, state } = await place(before)
      await trust(cwd, options)
      for (const name of Object.keys(before)) await rm(join(root, name))
      for (const [name, content] of Object.entries(now)) await write(name, content)
      const [none, nothingBefore] = [now, before].map((files) => Object.keys(files).length === 0)
      const due = none ? "nothing" : nothingBefore ? "untrusted" : same(before, now) ? "trusted" : "changed"
      assert.equal(await state(), due)
      await rm(top, { recursive: true })
    }),
    { numRuns: 60 },
  )
})
