import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { link, mkdir, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { type TestContext, test } from "node:test"
import fc from "fast-check"
import type { Tool } from "../../src/agent/scope.ts"
import { isWithin } from "../../src/core/within.ts"
import { isGuarded } from "../../src/sandbox/guarded.ts"
import { edit } from "../../src/tools/edit.ts"
import { glob } from "../../src/tools/glob.ts"
import { grep } from "../../src/tools/grep.ts"
import { ls } from "../../src/tools/ls.ts"
import { resolved } from "../../src/tools/paths.ts"
import { read } from "../../src/tools/read.ts"
import type { World } from "../../src/tools/world.ts"
import { write } from "../../src/tools/write.ts"
import { around, desk, useOf } from "./desk.ts"

/** A workspace full of ways out. */
async function traps(t: TestContext) {
  const here = await desk(t)
  await here.put({ "in.txt": "inside\n", "deep/er/x.txt": "inside\n" })
  await symlink(here.outside, join(here.root, "out"))
  await symlink("../outside", join(here.root, "out-relative"))
  await symlink(join(here.outside, "secret.txt"), join(here.root, "leak.txt"))
  await symlink(join(here.outside, "new.txt"), join(here.root, "dangling.txt"))
  await symlink(join(here.outside, "nowhere", "deep"), join(here.root, "dangling-folder"))
  await symlink("out", join(here.root, "chain"))
  await symlink("chain/secret.txt", join(here.root, "chain.txt"))
  await symlink("/", join(here.root, "slash"))
  await symlink("/proc/self/root", join(here.root, "proc-root"))
  await symlink("../../../outside", join(here.root, "deep", "er", "up"))
  return here
}

const waysOut = (root: string, outside: string): string[] => [
  "../outside/secret.txt",
  "./../outside/secret.txt",
  "deep/../../outside/secret.txt",
  "missing/../../outside/secret.txt",
  "deep/er/../../../outside/secret.txt",
  `${outside}/secret.txt`,
  `${root}/../outside/secret.txt`,
  `//${outside}/secret.txt`,
  "out/secret.txt",
  "out/./secret.txt",
  "out-relative/secret.txt",
  "leak.txt",
  "chain/secret.txt",
  "chain.txt",
  `slash${outside}/secret.txt`,
  `proc-root${outside}/secret.txt`,
  "deep/er/up/secret.txt",
  `/proc/self/root${outside}/secret.txt`,
  `/proc/thread-self/root${outside}/secret.txt`,
  `/proc/${process.pid}/root${outside}/secret.txt`,
  `/proc/self/cwd/../../../../../../../../..${outside}/secret.txt`,
  "/proc/self/environ",
  "/proc/self/fd/0",
  "/proc/self/mem",
  "/dev/fd/0",
  "/dev/stdin",
  "/dev/zero",
  "/etc/passwd",
  "/",
  "..",
]

const writersOut = ["dangling.txt", "dangling-folder/x.txt", "out/new.txt", "deep/er/up/new/x.txt", "../sibling.txt"]

const tools: [string, (world: World) => Tool, (path: string) => unknown][] = [
  ["read", read, (path) => ({ file_path: path })],
  ["write", write, (path) => ({ file_path: path, content: "overwritten" })],
  ["edit", edit, (path) => ({ file_path: path, old_string: "TOP", new_string: "NOT" })],
  ["glob", glob, (path) => ({ pattern: "**", path })],
  ["grep", grep, (path) => ({ pattern: "SECRET|root", path })],
  ["ls", ls, (path) => ({ path })],
]

for (const [name, tool, input] of tools) {
  test(`${name} judges every way out of the workspace by where it leads, and refuses it without leave`, async (t) => {
    const { root, outside, world, access } = await traps(t)
    const ways = [...waysOut(root, outside), ...(name === "write" || name === "edit" ? writersOut : [])]
    for (const way of ways) {
      const judged = await access(tool, input(way))
      assert.equal("inside" in judged && judged.inside, false, `${way} counts as inside: ${JSON.stringify(judged)}`)
      const made = tool(world)
      const run = made.run(made.input.parse(input(way)), useOf({ root }))
      await assert.rejects(run, /outside the workspace/, way)
    }
    assert.deepEqual(await readdir(outside), ["secret.txt"])
    assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), "TOP SECRET\n")
  })

  test(`${name} refuses paths that are no paths`, async (t) => {
    const { call } = await desk(t)
    const told = async (path: string) => (await call(tool, input(path))).text
    assert.match(await told(""), /empty/)
    assert.match(await told("a\0b"), /NUL/)
    assert.match(await told("x".repeat(4_097)), /over 4096 characters/)
    assert.match(await told("~/.ssh/id_rsa"), /~ is not expanded/)
    assert.match(await told("file:///etc/passwd"), /URL/)
  })
}

test("nothing in a path is expanded", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ $HOME: "dollar", "*.txt": "star", "a.txt": "a", "%2e%2e": "percent" })
  for (const [path, text] of [
    ["$HOME", "dollar"],
    ["*.txt", "star"],
    ["%2e%2e", "percent"],
  ] as const) {
    assert.equal((await call(read, { path })).text, `     1\t${text}`)
  }
  assert.equal((await call(read, { path: join(root, "a.txt") })).ok, true)
})

test("links within the workspace are followed, and the file they lead to is what was read", async (t) => {
  const { root, put, call } = await desk(t)
  await put({ "real/a.txt": "a\n" })
  await symlink("real", join(root, "link"))
  const output = await call(read, { path: "link/a.txt" })
  assert.deepEqual(
    output.touched?.map(({ path }) => path),
    [join(root, "real/a.txt")],
  )
})

test("a loop of links ends in an error", async (t) => {
  const { root, call } = await desk(t)
  await symlink("b", join(root, "a"))
  await symlink("a", join(root, "b"))
  assert.equal((await call(read, { path: "a" })).ok, false)
  assert.equal((await call(write, { path: "a/x", content: "" })).ok, false)
})

test("a workspace that is itself reached through a link works", async (t) => {
  const { root, outside, put, world } = await desk(t)
  await put({ "a.txt": "a\n" })
  const alias = join(outside, "alias")
  await symlink(root, alias)
  const tool = read(world)
  const output = await tool.run(tool.input.parse({ path: "a.txt" }), useOf({ root: alias }))
  assert.equal(output.text, "     1\ta")
})

test("folders beside the root count as inside: all of them for reading, the writable ones for writing", async (t) => {
  const { root, outside, world } = await desk(t)
  const judge = async (tool: (world: World) => Tool, share: Partial<World>) => {
    const made = tool({ ...world, ...share })
    return await made.access(made.input.parse({ path: join(outside, "x"), content: "" }), root, around)
  }
  const path = join(outside, "x")
  const write_ = { kind: "write", path, inside: true, guarded: false }
  assert.deepEqual(await judge(write, { writable: [outside] }), write_)
  assert.deepEqual(await judge(write, { readable: [outside] }), { ...write_, inside: false })
  const reader = read({ ...world, readable: [outside] })
  const input = reader.input.parse({ path })
  assert.deepEqual(await reader.access(input, root, around), { kind: "read", path, inside: true })
})

test("protected names are known in any case and any disguise", async (t) => {
  const { root, access } = await desk(t)
  const guarded = [
    ".git/hooks/pre-commit",
    ".GIT/config",
    "sub/.Git/config",
    ".git",
    ".g\u200cit/config",
    ".legwork/settings.json",
    ".Claude/settings.json",
    ".vscode/tasks.json",
    ".bashrc",
    ".BASHRC",
    ".profile",
    ".zshrc",
    ".envrc",
    "sub/.envrc",
    ".npmrc",
    ".gitconfig",
    ".ssh/authorized_keys",
    ".husky/pre-commit",
    ".mcp.json",
    ".local/state/legwork/cache/code/x",
    ".git./config",
    "GIT~1/config",
  ]
  for (const path of guarded) {
    const judged = await access(write, { path, content: "" })
    assert.equal(judged.kind === "write" && judged.guarded && judged.inside, true, path)
  }
  for (const path of ["git/x", ".gitignore", ".github/workflows/x.yml", "bashrc", "src/profile", ".env.example"]) {
    assert.deepEqual(await access(write, { path, content: "" }), {
      kind: "write",
      path: join(root, path),
      inside: true,
      guarded: false,
    })
  }
})

test("a protected name behind a link is protected", async (t) => {
  const { root, put, access } = await desk(t)
  await put({ ".git/config": "" })
  await symlink(".git", join(root, "harmless"))
  const judged = await access(write, { path: "harmless/config", content: "" })
  assert.deepEqual(judged, { kind: "write", path: join(root, ".git/config"), inside: true, guarded: true })
})

test("a protected name is not written without leave, and is with it", async (t) => {
  const { root, world, call } = await desk(t)
  const tool = write(world)
  const input = { path: ".git/config", content: "x" }
  await assert.rejects(tool.run(tool.input.parse(input), useOf({ root })), /protected/)
  assert.equal((await call(write, input, { gate: "open" })).ok, true)
})

test("law: a hidden folder above the root protects nothing below it", () => {
  const name = fc.stringMatching(/^[a-z]{1,8}$/)
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 5 }), (names) => !isGuarded(names.join("/"))))
})

test("law: whatever is asked, a path that counts as inside is inside once it is real", async (t) => {
  const { root, outside } = await traps(t)
  const piece = fc.constantFrom(
    "..",
    ".",
    "",
    "out",
    "chain",
    "deep",
    "er",
    "up",
    "slash",
    "in.txt",
    "new",
    "leak.txt",
    "proc-root",
    "tmp",
  )
  const asked = fc.tuple(
    fc.constantFrom("", "/", `${root}/`, `${outside}/`),
    fc.array(piece, { minLength: 1, maxLength: 6 }),
  )
  await fc.assert(
    fc.asyncProperty(asked, async ([start, pieces]) => {
      const path = start + pieces.join("/") || "."
      const judged = await resolved(path, root)
      const real = await realpath(resolve(root, path)).catch(() => undefined)
      if (real !== undefined) assert.equal(judged, real)
      assert.equal(await resolved(judged, root), judged)
      if (isWithin(judged, root)) assert.equal(judged === root || judged.startsWith(`${root}/`), true)
    }),
    { numRuns: 150 },
  )
})

test("pipes, sockets, devices and folders end in an error at once, for every tool that opens a file", async (t) => {
  const { root, files, call } = await desk(t)
  execFileSync("mkfifo", [join(root, "pipe")])
  await mkdir(join(root, "folder"))
  files.set(join(root, "pipe"), "known")
  const refusals = await Promise.all([
    call(read, { path: "pipe" }),
    call(write, { path: "pipe", content: "x" }),
    call(edit, { path: "pipe", old_string: "a", new_string: "b" }),
    call(grep, { pattern: "x", path: "pipe" }),
    call(read, { path: "/dev/zero" }, { gate: "open" }),
    call(write, { path: "/dev/null", content: "x" }, { gate: "open" }),
    call(grep, { pattern: "x", path: "/dev/zero" }, { gate: "open" }),
    call(read, { path: "folder" }),
    call(write, { path: "folder", content: "x" }),
  ])
  for (const { ok, text } of refusals) {
    assert.equal(ok, false)
    assert.match(text, /is a (pipe|device|folder)/)
  }
})

test("searches pass over pipes and links", async (t) => {
  const { root, outside, put, call } = await desk(t)
  await put({ "a.txt": "SECRET inside\n" })
  execFileSync("mkfifo", [join(root, "pipe")])
  await symlink(outside, join(root, "out"))
  await symlink(join(outside, "secret.txt"), join(root, "leak.txt"))
  assert.equal((await call(grep, { pattern: "SECRET" })).text, "a.txt:1:SECRET inside")
  assert.equal((await call(glob, { pattern: "**" })).text, "a.txt")
  assert.equal((await call(glob, { pattern: "out/*" })).text, "no file matches out/* in .")
})

test("writing over a hard link leaves the other name as it was", async (t) => {
  const { root, outside, call } = await desk(t)
  await link(join(outside, "secret.txt"), join(root, "hard.txt"))
  await call(read, { path: "hard.txt" })
  assert.equal((await call(write, { path: "hard.txt", content: "new" })).ok, true)
  assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), "TOP SECRET\n")
})

test("a name with a terminal's commands in it is shown harmless", async (t) => {
  const { root, call } = await desk(t)
  await writeFile(join(root, "a\x1b[2Jb\n.txt"), "x\n")
  assert.equal((await call(ls, {})).text, "a\\x1b[2Jb\\x0a.txt")
  assert.equal((await call(glob, { pattern: "*.txt" })).text, "a\\x1b[2Jb\\x0a.txt")
})

test("a workspace that is gone is said to be gone", async (t) => {
  const { root, world } = await desk(t)
  for (const [, tool, input] of tools) {
    const made = tool(world)
    const gone = join(root, "gone")
    const run = made.run(made.input.parse(input("x")), useOf({ root: gone }))
    await assert.rejects(run, /there is nothing at|is gone/)
  }
})
