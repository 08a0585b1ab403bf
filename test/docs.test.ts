import assert from "node:assert/strict"
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import manifest from "../package.json" with { type: "json" }
import { check } from "../src/config/schema.ts"
import { load } from "../src/config.ts"
import { environment } from "../src/tools/environment.ts"

const page = (name: string) => readFile(new URL(`../docs/${name}.md`, import.meta.url), "utf8")

const exampleOf = (text: string): string => /```json\n(.*?)```/s.exec(text)?.[1] ?? assert.fail("there is no example")

/** The example of docs/settings.md as the settings of a user, or of a project. */
async function placed(t: TestContext, file: string) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "legwork-docs-")))
  t.after(() => rm(root, { recursive: true, force: true }))
  const [home, cwd] = [join(root, "home"), join(root, "project")]
  await mkdir(join(root, file, ".."), { recursive: true })
  await mkdir(cwd, { recursive: true })
  await writeFile(join(root, file), exampleOf(await page("settings")))
  return load({ cwd, home, env: {} })
}

test("the example in docs/settings.md is taken as it is printed", async (t) => {
  const config = await placed(t, "home/.config/legwork/settings.json")
  const { files, unreadable, diagnostics, directories, aliases, permissions, hooks, ...others } = config
  const said = JSON.parse(exampleOf(await page("settings")))
  const { directories: folders, aliases: words, limits, permissions: rules, hooks: programs, ...rest } = said
  assert.deepEqual([files.length, unreadable, diagnostics], [1, [], []])
  assert.deepEqual(others, { ...rest, limits: { depth: 1, ...limits } })
  assert.deepEqual(directories.writable, folders.writable)
  assert.equal(aliases.fast, words.fast)
  const textsOf = (verdict: string) => permissions.filter((rule) => rule.do === verdict).map(({ text }) => text)
  assert.deepEqual({ allow: textsOf("allow"), ask: textsOf("ask"), deny: textsOf("deny") }, rules)
  assert.deepEqual(hooks, [{ value: programs, file: files[0] }])
})

test("in a project it gives no power, as docs/settings.md says", async (t) => {
  const config = await placed(t, "project/.legwork/settings.json")
  const { diagnostics, providers, prices, environment, agents, permissionMode, permissions, hooks, sandbox } = config
  assert.deepEqual([providers, prices, environment, agents, permissionMode, hooks], [{}, {}, [], {}, "default", []])
  assert.deepEqual([sandbox, ...permissions.map((rule) => rule.do)], ["workspace-write", "ask", "deny", "deny"])
  assert.deepEqual(
    diagnostics.map(({ key }) => key),
    [
      ...["providers", "prices", "directories", "environment", "aliases", "agents", undefined],
      ...["permissionMode", "web.searchBaseURL"],
    ],
  )
})

test("every settings key stands in docs/settings.md", async () => {
  const text = await page("settings")
  const known = (value: unknown): string[] => {
    const result = check(value)
    assert.ok(!result.ok)
    const { message } = result.wrong[0]!
    return /there are (.*)$/.exec(message)?.[1]?.split(", ") ?? assert.fail(message)
  }
  // A key that is like no other is answered with all that there are.
  const unlike = { "?????????????": 0 }
  const keys = [
    ...known(unlike),
    ...known({ limits: unlike }).map((key) => `limits.${key}`),
    ...known({ permissions: unlike }).map((key) => `permissions.${key}`),
    ...known({ directories: unlike }).map((key) => `directories.${key}`),
    ...known({ web: unlike }).map((key) => `web.${key}`),
    ...known({ providers: { x: unlike } }),
  ]
  assert.ok(keys.length > 33)
  assert.deepEqual(
    keys.filter((key) => !text.includes(`\`${key}\``) && !text.includes(`\`${key}.`)),
    [],
  )
})

test("every tool and its parameters stand in docs/tools.md", async () => {
  const text = await page("tools")
  const { default: cards } = await import("../src/tools/cards.json", { with: { type: "json" } })
  const words = Object.values(cards).flatMap(({ name, schema }) => [name, ...Object.keys(schema.properties)])
  assert.deepEqual(
    words.filter((word) => !text.includes(`\`${word}\``)),
    [],
  )
})

test("the variables in docs/tools.md are those that a command sees", async () => {
  const section = /### The environment of a command\n(.*?)\n## /s.exec(await page("tools"))?.[1] ?? ""
  const named = section.match(/\b[A-Z][A-Z_]{1,}[A-Z]\b/g) ?? []
  const env = Object.fromEntries(named.map((name) => [name, "x"]))
  const withheld = ["KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "LC_", "XDG_", "LEGWORK_CALL", "NET"]
  assert.ok(named.length > 80)
  assert.deepEqual(
    Object.keys(env).filter((name) => !(name in environment(env)) && !withheld.includes(name)),
    [],
  )
})

test("every dependency stands in docs/dependencies.md, those at runtime with their versions", async () => {
  const rows = (await page("dependencies")).split("\n").filter((line) => line.startsWith("| `"))
  const table = rows.map((row) => row.split("|").map((cell) => cell.trim()))
  const versions = table.filter(([, , version]) => /^\d/.test(version ?? ""))
  assert.deepEqual(
    Object.fromEntries(versions.map(([, name, version]) => [name?.replaceAll("`", ""), version])),
    manifest.dependencies,
  )
  const others = table.filter((row) => !versions.includes(row)).map(([, name]) => name?.replaceAll("`", ""))
  assert.deepEqual(others.sort(), Object.keys(manifest.devDependencies).sort())
})
