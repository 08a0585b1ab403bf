import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { symlink, unlink, writeFile } from "node:fs/promises"
import { basename, join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { base, changing, vacant, workspace, write } from "./workspace.ts"

const run = promisify(execFile)

const git = (cwd: string, ...args: string[]) =>
  run("git", ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "protocol.file.allow=always", ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: "1" },
  })

async function repository(files: Record<string, string> = { file: "one" }): Promise<string> {
  const root = await workspace(files)
  await git(root, "init", "-q", "-b", "main")
  await git(root, "add", ".")
  await git(root, "commit", "-q", "-m", "first")
  return root
}

test("of a repository only what is checked out counts", async () => {
  const root = await repository()
  const steps = {
    "another branch, not taken": () => git(root, "branch", "other"),
    objects: () => git(root, "commit-tree", "-m", "loose", "HEAD^{tree}"),
    settings: () => git(root, "config", "a.b", "c"),
    "a branch of the same commit": () => git(root, "checkout", "-q", "-b", "same"),
    "an empty commit": () => git(root, "commit", "-q", "--allow-empty", "-m", "empty"),
    "the branch moved": () => git(root, "update-ref", "refs/heads/same", "main"),
    detached: () => git(root, "checkout", "-q", "--detach"),
    back: () => git(root, "checkout", "-q", "same"),
    packed: () => git(root, "pack-refs", "--all"),
    "another packed branch": () => git(root, "symbolic-ref", "HEAD", "refs/heads/main"),
    "a packed branch moved": () => git(root, "commit", "-q", "--allow-empty", "-m", "more"),
    staged: () => git(root, "rm", "-q", "--cached", "file"),
  }
  assert.deepEqual(await changing(root, steps), {
    "another branch, not taken": false,
    objects: false,
    settings: false,
    "a branch of the same commit": true,
    "an empty commit": true,
    "the branch moved": true,
    detached: true,
    back: true,
    packed: true,
    "another packed branch": true,
    "a packed branch moved": true,
    staged: true,
  })
})

test("a file that git ignores counts like any other", async () => {
  const root = await repository({ ".gitignore": ".env\n", ".env": "KEY=1" })
  const steps = { changed: () => writeFile(join(root, ".env"), "KEY=2"), removed: () => unlink(join(root, ".env")) }
  assert.deepEqual(await changing(root, steps), { changed: true, removed: true })
})

test("a branch switch counts in a folder of a repository, in a worktree and in a submodule", async () => {
  const root = await repository({ "packages/one/file": "one" })
  const [tree, folder, module] = [vacant(), join(root, "packages/one"), join(root, "module")]
  await git(root, "worktree", "add", "-q", "-b", "aside", tree)
  await git(root, "submodule", "--quiet", "add", await repository(), "module")
  const commit = (at: string) => () => git(at, "commit", "-q", "--allow-empty", "-m", "empty")
  const steps = (at: string) => ({
    branch: () => git(at, "checkout", "-q", "-b", basename(vacant())),
    commit: commit(at),
    nothing: async () => {},
  })
  const expected = { branch: true, commit: true, nothing: false }
  assert.deepEqual(await changing(folder, steps(root)), expected)
  assert.deepEqual(await changing(tree, steps(tree)), expected)
  assert.deepEqual(await changing(root, steps(module)), expected)
  assert.deepEqual(await changing(tree, { "in the main folder": commit(root) }), { "in the main folder": false })
})

test("what a workspace says of its repository leads nowhere outside", async () => {
  const outside = await workspace({ HEAD: "ref: refs/heads/main\n", index: "one", "refs/heads/main": "one" })
  const claims = await workspace({ ".git": `gitdir: ${outside}\n` })
  const refers = await workspace({ ".git/HEAD": `ref: refs/../../../${basename(outside)}/index\n` })
  const links = await workspace({ ".git/HEAD": "ref: refs/heads/main\n" })
  await symlink(join(outside, "refs"), join(links, ".git/refs"))
  await symlink(outside, join(links, ".git/reftable"))
  const pipe = await workspace({ ".git/index": "" })
  await run("mkfifo", [join(pipe, ".git/HEAD")])
  const steps = {
    outside: async () => {
      await write(outside, { HEAD: "two", index: "two", "refs/heads/main": "two", "tables.list": "two" })
    },
  }
  for (const root of [claims, refers, links, pipe])
    assert.deepEqual(await changing(root, steps), { outside: false }, root)
})

test("a folder that happens to be called worktrees is a repository like any other, and leads nowhere else", async () => {
  const top = await workspace({ "refs/heads/main": "one", "packed-refs": "one" })
  const head = "ref: refs/heads/main\n"
  await write(join(top, "worktrees"), { ".git/HEAD": head, ".git/refs/heads/main": "one" })
  await write(join(top, "worktrees"), { "sub/.git": "gitdir: ../git\n", "git/HEAD": head })
  const root = join(top, "worktrees")
  const steps = {
    outside: () => write(top, { "refs/heads/main": "two", "packed-refs": "two" }),
    commit: () => write(root, { ".git/refs/heads/main": "two" }),
  }
  assert.deepEqual(await changing(root, steps), { outside: false, commit: true })
})

test("a link in the place of a repository counts by where it leads", async () => {
  const outside = await workspace({ HEAD: "one", index: "one" })
  const root = await workspace()
  await symlink(outside, join(root, ".git"))
  const steps = {
    outside: () => write(outside, { HEAD: "two", index: "two" }),
    away: () => unlink(join(root, ".git")),
  }
  assert.deepEqual(await changing(root, steps), { outside: false, away: true })
})

test("a repository that keeps its branches in tables is known by their list", async () => {
  const files = { ".git/HEAD": "ref: refs/heads/.invalid\n", ".git/reftable/tables.list": "one", ".git/objects/a": "" }
  const root = await workspace(files)
  const steps = {
    list: () => write(root, { ".git/reftable/tables.list": "two" }),
    objects: () => write(root, { ".git/objects/a": "more" }),
  }
  assert.deepEqual(await changing(root, steps), { list: true, objects: false })
})
