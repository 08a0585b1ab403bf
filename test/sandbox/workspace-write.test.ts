import assert from "node:assert/strict"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { type TestContext, test } from "node:test"
import { until } from "../tools/processes.ts"
import { needsFence, profileOf, ran, sandbox } from "./fence.ts"

function folder(t: TestContext): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "legwork-write-")))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test(
  "ordinary work writes into the workspace and the folders beside it, and into nothing else",
  needsFence,
  async (t) => {
    const base = folder(t)
    const [root, beside, other] = ["root", "beside", "other"].map((name) => join(base, name)) as [
      string,
      string,
      string,
    ]
    for (const path of [root, beside, other]) mkdirSync(path)
    const profile = profileOf(root, { level: "workspace-write", writable: [beside] })
    const command = `mkdir -p a/b && echo one > a/b/c && mv a d && chmod 600 d/b/c && echo two > ${beside}/e && mktemp >/dev/null
    echo three > ${other}/f; ls ${base}`
    assert.deepEqual(await ran(command, profile), [
      `bash: line 2: ${other}/f: No such file or directory\nbeside\nroot\n`,
      0,
    ])
    assert.equal(readFileSync(join(root, "d/b/c"), "utf8"), "one\n")
    assert.equal(readFileSync(join(beside, "e"), "utf8"), "two\n")
    assert.deepEqual(readdirSync(other), [])
    await until(() => readdirSync(root).length === 1 && readdirSync(beside).length === 1)
  },
)

test("folders of that level are not writable where nothing may be written", needsFence, async (t) => {
  const base = folder(t)
  mkdirSync(join(base, "root"))
  mkdirSync(join(base, "beside"))
  const profile = profileOf(join(base, "root"), { writable: [join(base, "beside")] })
  await ran(`touch a ${base}/beside/b`, profile)
  assert.deepEqual(readdirSync(base, { recursive: true }).toSorted(), ["beside", "root"])
})

const standing = [".claude", ".devcontainer", ".git", ".husky", ".idea", ".legwork", ".vscode"]

test("what stands in for missing names goes when the last command ends, also after a crash", needsFence, async (t) => {
  const root = folder(t)
  const profile = profileOf(root, { level: "workspace-write" })
  mkdirSync(join(root, ".claude"), 0o555)
  const long = sandbox.spawn(["cat"], profile, { stdio: ["pipe", "ignore", "inherit"] })
  t.after(() => long.kill())
  assert.deepEqual(await ran("ls -A; touch .claude/x", profile), [
    `${standing.join("\n")}\ntouch: cannot touch '.claude/x': Read-only file system\n`,
    1,
  ])
  assert.deepEqual(readdirSync(root).toSorted(), standing)
  long.stdin!.end()
  await until(() => readdirSync(root).length === 0)
})

test("what somebody else puts into a stand-in stays", needsFence, async (t) => {
  const root = folder(t)
  const child = sandbox.spawn(["cat"], profileOf(root, { level: "workspace-write" }), {
    stdio: ["pipe", "ignore", "inherit"],
  })
  rmSync(join(root, ".vscode"), { recursive: true })
  mkdirSync(join(root, ".vscode"))
  writeFileSync(join(root, ".vscode/settings.json"), "{}")
  child.stdin!.end()
  await until(() => readdirSync(root).length === 1)
  assert.deepEqual(readdirSync(root, { recursive: true }).toSorted(), [".vscode", ".vscode/settings.json"])
})

test("a guarded name that is a link is refused: it could be replaced", needsFence, async (t) => {
  const root = folder(t)
  symlinkSync("/etc", join(root, ".git"))
  const profile = profileOf(root, { level: "workspace-write" })
  assert.throws(() => sandbox.spawn(["true"], profile, { stdio: "ignore" }), {
    message: /\.git is a link.*put the file or folder itself/,
  })
  assert.deepEqual(await ran("echo fine", profileOf(root)), ["fine\n", 0])
  assert.deepEqual(readdirSync(root), [".git"])
})

test("a workspace below a guarded name can be written", needsFence, async (t) => {
  const root = join(folder(t), ".legwork/trees/one")
  mkdirSync(join(root, "src"), { recursive: true })
  assert.deepEqual(await ran("echo x > src/file; cat src/file", profileOf(root, { level: "workspace-write" })), [
    "x\n",
    0,
  ])
})

test("a workspace that became a link is refused", needsFence, (t) => {
  const base = folder(t)
  symlinkSync("/etc", join(base, "root"))
  const profile = profileOf(join(base, "root"), { level: "workspace-write" })
  assert.throws(() => sandbox.spawn(["true"], profile, { stdio: "ignore" }), { message: /reached through a link/ })
})

test("a workspace as wide as home, or wider, can only be read", needsFence, async (t) => {
  const home = folder(t)
  mkdirSync(join(home, "project"))
  const env = { ...profileOf("/").env, HOME: home }
  for (const root of [home, "/tmp", "/"]) {
    const name = `legwork-wide-${process.pid}`
    await ran(`touch ${name}`, profileOf(root, { level: "workspace-write", env }))
    assert.equal(existsSync(join(root, name)), false, root)
  }
  const profile = profileOf(join(home, "project"), { level: "workspace-write", env })
  assert.deepEqual(await ran("touch made", profile), ["", 0])
  assert.deepEqual(readdirSync(join(home, "project")), ["made"])
})

test("the environment reaches the command whole, and only the command", needsFence, async (t) => {
  const root = folder(t)
  const env = { ...profileOf(root).env, ODD: "two\nlines 'and' \"quotes\" $HOME" }
  const child = sandbox.spawn(
    ["bash", "-c", 'printf %s "$ODD"; cat /proc/1/environ; env | cut -d= -f1 | sort'],
    profileOf(root, { env }),
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  )
  const shown = readFileSync(`/proc/${child.pid}/cmdline`, "utf8") + readFileSync(`/proc/${child.pid}/environ`, "utf8")
  assert.doesNotMatch(shown, /lines/)
  const names = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_KEY_1", "GIT_CONFIG_VALUE_0", "GIT_CONFIG_VALUE_1"]
  assert.equal(
    await text(child.stdout!),
    `${env.ODD}${[...names, "GIT_OPTIONAL_LOCKS", "ODD", "lines 'and' \"quotes\" $HOME", "PATH", "PWD", "SHLVL", "TMPDIR", "_", "npm_config_offline"].sort().join("\n")}\n`,
  )
})
