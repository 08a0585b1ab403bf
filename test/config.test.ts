import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, test } from "node:test"
import { isDeepStrictEqual, promisify } from "node:util"
import fc from "fast-check"
import { modes, sandboxes } from "../src/config/settings.ts"
import { type Config, ConfigError, type Flags, load, userFolder } from "../src/config.ts"

const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-config-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

/** A home, and a repository in it with a folder two levels down. Contents that are not text are written as JSON. */
async function place(files: Record<string, unknown>) {
  const root = join(base, `${places++}`)
  const home = join(root, "home")
  const repository = join(root, "repository")
  const cwd = join(repository, "packages", "one")
  await mkdir(join(repository, ".git"), { recursive: true })
  await mkdir(cwd, { recursive: true })
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, typeof content === "string" ? content : JSON.stringify(content, null, 2))
  }
  return { root, home, repository, cwd, files: (...names: string[]) => names.map((name) => join(root, name)) }
}

const user = "home/.config/legwork/settings.json"
const project = "repository/.legwork/settings.json"
const local = "repository/.legwork/settings.local.json"

const userClaude = "home/.claude/settings.json"
const projectClaude = "repository/.claude/settings.json"
const localClaude = "repository/.claude/settings.local.json"

const builtIn = {
  permissionMode: "default",
  permissions: [],
  hooks: [],
  sandbox: "off",
  network: false,
  limits: { turns: 200, parallel: 8, depth: 1 },
  children: { turns: 30, idle: 900 },
  agents: {},
  fork: false,
  background: {},
  providers: {},
  prices: {},
  directories: { readable: [], writable: [] },
  environment: [],
  web: { allowPrivate: false },
  aliases: {
    opus: "anthropic/claude-opus-5-5",
    sonnet: "anthropic/claude-sonnet-5-5",
    haiku: "anthropic/claude-haiku-5-5",
    offline: "offline/legwork",
  },
  files: [],
  unreadable: [],
  diagnostics: [],
}

async function problems(files: Record<string, unknown>, more: { env?: NodeJS.ProcessEnv; flags?: Flags } = {}) {
  const { root, cwd, home } = await place(files)
  const error = await load({ cwd, home, env: {}, ...more }).then(
    () => assert.fail("the settings were taken"),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ConfigError)
  return error.message
    .replaceAll(`${root}/`, "")
    .split("\n")
    .slice(1)
    .map((line) => line.trim())
}

test("without any settings the built-in ones stand", async () => {
  const { cwd, home } = await place({})
  assert.deepEqual(await load({ cwd, home, env: {} }), builtIn)
})

test("without a settings file of ours the schema library is not loaded", async () => {
  const { cwd, home } = await place({ [userClaude]: { permissions: { deny: ["Bash"] } } })
  const config = new URL("../src/config.ts", import.meta.url).href
  const script = `
    import { registerHooks } from "node:module"
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    const { load } = await import(${JSON.stringify(config)})
    await load(${JSON.stringify({ cwd, home, env: {} })})
    console.log(loaded.filter((url) => url.includes("/zod/") || url.includes("schema")).length)`
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
  assert.equal(stdout.trim(), "0")
})

test("each layer wins over those below it, and objects merge by key", async () => {
  const { cwd, home, files } = await place({
    [user]: {
      $schema: "https://example.org/schema.json",
      model: "user/model",
      smallModel: "user/small",
      planModel: "user/plan",
      temperature: 0.5,
      limits: { turns: 50, depth: 2 },
      providers: { mine: { api: "chat", baseURL: "http://127.0.0.1:9/v1", keyVariable: "MINE", headers: { a: "b" } } },
      prices: { "mine/x": { input: 1, output: 2, cacheRead: 0.1 } },
      directories: { readable: ["/srv", "~/notes"] },
      environment: ["JAVA_HOME"],
      web: { searchBaseURL: "https://search.example" },
      aliases: { fast: "mine/x" },
    },
    [project]: { model: "project/model", smallModel: "project/small", planModel: "project/plan", effort: "low" },
    [local]: { model: "local/model", smallModel: "local/small", limits: { parallel: 2 } },
  })
  const env = { LEGWORK_MODEL: "environment/model", LEGWORK_MAX_TURNS: "70", LEGWORK_PERMISSION_MODE: "" }
  const config = await load({ cwd, home, env, flags: { model: "flag/model", permissionMode: "bypass" } })
  assert.deepEqual(config, {
    ...builtIn,
    model: "flag/model",
    smallModel: "local/small",
    planModel: "project/plan",
    permissionMode: "bypass",
    limits: { turns: 70, parallel: 2, depth: 2 },
    children: { turns: 30, idle: 900 },
    agents: {},
    fork: false,
    background: {},
    temperature: 0.5,
    effort: "low",
    providers: { mine: { api: "chat", baseURL: "http://127.0.0.1:9/v1", keyVariable: "MINE", headers: { a: "b" } } },
    prices: { "mine/x": { input: 1, output: 2, cacheRead: 0.1 } },
    directories: { readable: ["/srv", join(home, "notes")], writable: [] },
    environment: ["JAVA_HOME"],
    web: { allowPrivate: false, searchBaseURL: "https://search.example" },
    aliases: { ...builtIn.aliases, fast: "mine/x" },
    files: files(user, project, local),
  })
})

test("the nearest project file counts, and none beyond the repository", async () => {
  const near = await place({
    "repository/packages/.legwork/settings.json": { model: "near/model" },
    [project]: { model: "far/model", smallModel: "far/small" },
  })
  const { model, smallModel } = await load({ cwd: near.cwd, home: near.home, env: {} })
  assert.deepEqual({ model, smallModel }, { model: "near/model", smallModel: undefined })

  const beyond = await place({ ".legwork/settings.json": { model: "beyond/model" } })
  assert.deepEqual(await load({ cwd: beyond.cwd, home: beyond.home, env: {} }), builtIn)
})

test("outside a repository only the working folder itself is looked at", async () => {
  const { root, home } = await place({ "plain/.legwork/settings.json": { model: "plain/model" }, "plain/inner/x": "" })
  assert.equal((await load({ cwd: join(root, "plain"), home, env: {} })).model, "plain/model")
  assert.equal((await load({ cwd: join(root, "plain", "inner"), home, env: {} })).model, undefined)
})

test("the user's folder follows XDG_CONFIG_HOME where that is absolute", () => {
  assert.equal(userFolder({ XDG_CONFIG_HOME: "/x" }, "/home/a"), "/x/legwork")
  assert.equal(userFolder({ XDG_CONFIG_HOME: "x" }, "/home/a"), "/home/a/.config/legwork")
  assert.equal(userFolder({}, undefined), undefined)
})

test("a byte order mark does no harm", async () => {
  const { cwd, home } = await place({ [user]: '\ufeff{"model": "a/b"}' })
  assert.equal((await load({ cwd, home, env: {} })).model, "a/b")
})

test("a user's file may be a link, a project's only within the project", async () => {
  const { root, cwd, home, repository } = await place({
    "elsewhere.json": { model: "linked/model" },
    "repository/shared.json": { smallModel: "shared/model" },
    "home/.config/legwork/.keep": "",
    "repository/.legwork/.keep": "",
  })
  await symlink(join(root, "elsewhere.json"), join(home, ".config/legwork/settings.json"))
  await symlink("../shared.json", join(repository, ".legwork/settings.json"))
  const { model, smallModel } = await load({ cwd, home, env: {} })
  assert.deepEqual({ model, smallModel }, { model: "linked/model", smallModel: "shared/model" })

  await symlink(join(root, "elsewhere.json"), join(repository, ".legwork/settings.local.json"))
  const where = join(repository, ".legwork/settings.local.json")
  await assert.rejects(load({ cwd, home, env: {} }), {
    problems: [{ where, message: "leads out of the project; make it a regular file" }],
  })
})

test("what is no regular file, or too large, is refused", async () => {
  const { root, cwd, home, repository } = await place({ [user]: " ".repeat(1024 * 1024 + 1) })
  await mkdir(join(repository, ".legwork/settings.json"), { recursive: true })
  await promisify(execFile)("mkfifo", [join(repository, ".legwork/settings.local.json")])
  await assert.rejects(load({ cwd, home, env: {} }), {
    problems: [
      { where: join(root, user), message: "is larger than 1 MB; make it smaller" },
      { where: join(root, project), message: "is not a regular file; make it a regular file" },
      { where: join(root, local), message: "is not a regular file; make it a regular file" },
    ],
  })
})

test("a project's keys that give power are ignored, with a word about each", async () => {
  const { cwd, home, files } = await place({
    [project]: {
      model: "project/model",
      permissionMode: "bypass",
      limits: { turns: 1000, parallel: 4, depth: 5 },
      providers: { anthropic: { baseURL: "http://evil.example", nonsense: 1 } },
      prices: "whatever",
      directories: { writable: ["/"] },
      environment: ["ANTHROPIC_API_KEY"],
      web: { allowPrivate: true, searchBaseURL: "http://evil.example" },
      aliases: { sonnet: "evil/model" },
    },
  })
  const own = "a project may not set this; put it into your own settings"
  const warned = {
    providers: own,
    prices: own,
    directories: own,
    environment: own,
    aliases: own,
    permissionMode: "a project may not loosen it; it stays default",
    "limits.turns": "a project may not raise it; it stays 200",
    "limits.depth": "a project may not raise it; it stays 1",
    "web.allowPrivate": own,
    "web.searchBaseURL": own,
  }
  const [file] = files(project)
  assert.deepEqual(await load({ cwd, home, env: {} }), {
    ...builtIn,
    model: "project/model",
    limits: { turns: 200, parallel: 4, depth: 1 },
    children: { turns: 30, idle: 900 },
    agents: {},
    fork: false,
    background: {},
    files: [file],
    diagnostics: Object.entries(warned).map(([key, message]) => ({ severity: "warning", file, key, message })),
  })
})

test("a project may tighten what the user allows", async () => {
  const { cwd, home } = await place({
    [user]: { permissionMode: "acceptEdits", web: { allowPrivate: true } },
    [project]: { permissionMode: "default", web: { allowPrivate: false } },
    [local]: { permissionMode: "acceptEdits" },
  })
  const { permissionMode, web, diagnostics } = await load({ cwd, home, env: {} })
  assert.deepEqual({ permissionMode, web }, { permissionMode: "default", web: { allowPrivate: false } })
  assert.deepEqual(
    diagnostics.map(({ key, message }) => `${key}: ${message}`),
    ["permissionMode: a project may not loosen it; it stays default"],
  )
})

test("all that is wrong is told at once, with file, line, key and what to do", async () => {
  const found = await problems(
    {
      [user]: {
        modle: "x",
        zebra: 1,
        maxTurns: 3,
        model: 7,
        permissionMode: "yolo",
        limits: { turns: 0, parralel: 2, depth: 1.5 },
        temperature: 3,
        providers: {
          mine: { baseURL: "ftp://x", apiKey: "sk-secret", keyVariable: "sk-ant-secret", headers: { "x-a": "1\n2" } },
        },
        prices: { "mine/x": { input: -1 }, gpt: { input: 1, output: 1 } },
        directories: { readable: ["notes"] },
        environment: "HOME",
        web: { allowPrivate: "yes" },
        aliases: { "a/b": "c" },
        smallModel: "",
        permissions: { deny: "Bash", ask: [1], defaultMode: "yolo", additionalDirectories: [] },
        sandbox: "on",
        network: "no",
      },
      [project]: { limits: [], permissions: { allows: [] } },
    },
    { env: { LEGWORK_MAX_TURNS: "many", LEGWORK_PERMISSION_MODE: "plam" }, flags: { maxTurns: 0, model: " " } },
  )
  const at = `${user}:`
  assert.deepEqual(
    found.toSorted(),
    [
      `${at}2: modle: there is no such key; did you mean model?`,
      `${at}3: zebra: there is no such key; there are $schema, model, smallModel, planModel, permissionMode, permissions, hooks, sandbox, network, limits, children, agents, fork, background, temperature, effort, providers, prices, directories, environment, web, aliases`,
      `${at}4: maxTurns: there is no such key; write limits.turns`,
      `${at}5: model: must be text in double quotes`,
      `${at}6: permissionMode: must be one of plan, default, acceptEdits, bypass`,
      `${at}8: limits.turns: must be at least 1`,
      `${at}9: limits.parralel: there is no such key; did you mean parallel?`,
      `${at}10: limits.depth: must be a whole number`,
      `${at}12: temperature: must be at most 2`,
      `${at}15: providers.mine.baseURL: must be an address that begins with http:// or https://`,
      `${at}16: providers.mine.apiKey: there is no such key; name the variable that holds the key in keyVariable`,
      `${at}17: providers.mine.keyVariable: must be the name of an environment variable; a key itself never stands in a settings file`,
      `${at}19: providers.mine.headers.x-a: must be one line of text`,
      `${at}25: prices."mine/x".input: must be at least 0`,
      `${at}24: prices."mine/x".output: is missing; write it too`,
      `${at}27: prices.gpt: must be written provider/model`,
      `${at}33: directories.readable.0: must be an absolute folder, or one that begins with ~/`,
      `${at}37: environment: must be a list in [ ]`,
      `${at}39: web.allowPrivate: must be true or false`,
      `${at}42: aliases."a/b": must be one word, without a slash`,
      `${at}44: smallModel: must not be empty`,
      `${at}46: permissions.deny: must be a list in [ ]`,
      `${at}47: permissions.ask.0: must be text in double quotes`,
      `${at}50: permissions.defaultMode: must be one of plan, default, acceptEdits, bypass, bypassPermissions, dontAsk, auto, delegate`,
      `${at}51: permissions.additionalDirectories: there is no such key; write directories.writable`,
      `${at}53: sandbox: must be one of read-only, workspace-write, off`,
      `${at}54: network: must be true or false`,
      `${project}:2: limits: must be an object in { }`,
      `${project}:4: permissions.allows: there is no such key; did you mean allow?`,
      "LEGWORK_PERMISSION_MODE: must be one of plan, default, acceptEdits, bypass",
      "LEGWORK_MAX_TURNS: must be a whole number, at least 1",
      "--model: names no model; write one such as sonnet",
      "--max-turns: must be a whole number, at least 1",
    ].toSorted(),
  )
})

test("no value of a settings file is repeated in an error", async () => {
  const found = await problems({
    [user]: { providers: { x: { keyVariable: "sk-1", headers: { auth: 1 }, key: "sk-2" } } },
  })
  assert.ok(!found.join("\n").includes("sk-"))
})

test("what is not JSON is told by its line and its mistake", async () => {
  const cases: [string, string][] = [
    ["", "1: not JSON here: it ends too early"],
    ['{\n  "model": "a",\n}', "3: not JSON here: take out the comma before the bracket"],
    ['{\n  // mine\n  "model": "a"\n}', "2: not JSON here: comments are not allowed; take it out"],
    ['{\n  "model": "a"\n  "effort": "low"\n}', "3: not JSON here: a comma is missing before this"],
    ["{ 'model': 1 }", "1: not JSON here: text stands in double quotes"],
    ["{ model: 1 }", "1: not JSON here: a key in double quotes should stand here"],
    ['{ "model" 1 }', "1: not JSON here: a colon is missing after the key"],
    ['{ "model": nothing }', "1: not JSON here: a value should stand here"],
    ['{ "environment": ["A",] }', "1: not JSON here: take out the comma before the bracket"],
    ["{}\n{}", "2: not JSON here: there is something after the end"],
    ['{ "model": ', "1: not JSON here: it ends too early"],
    ["[".repeat(100_000), "1: not JSON here: it ends too early"],
  ]
  for (const [text, message] of cases) assert.deepEqual(await problems({ [user]: text }), [`${user}:${message}`])
  assert.deepEqual(await problems({ [user]: "[1]" }), [`${user}: must be an object in { }`])
})

test("keys that look like parts of every object are unknown like any other", async () => {
  const [first] = await problems({ [user]: '{ "__proto__": { "model": "a/b" }, "constructor": 1 }' })
  assert.match(first ?? "", /(__proto__|constructor): there is no such key/)
  assert.equal(({} as { model?: string }).model, undefined)
})

test("control characters of a file never reach the terminal", async () => {
  const [found] = await problems({ [project]: { "\u001b[2Jmodel\u009b": 1 } })
  assert.ok(!/[\u0000-\u001f\u007f-\u009f]/.test(found ?? "\u0000"))
})

const scalar = fc.option(fc.constantFrom("a/1", "b/2", "c/3"), { nil: undefined })
const mode = fc.option(fc.constantFrom(...modes), { nil: undefined })
const turns = fc.option(fc.integer({ min: 1, max: 500 }), { nil: undefined })
const layer = fc.record({ model: scalar, permissionMode: mode, turns })

type Layer = {
  model: string | undefined
  permissionMode: (typeof modes)[number] | undefined
  turns: number | undefined
}
const asFile = ({ turns, ...rest }: Layer) => ({ ...rest, ...(turns && { limits: { turns } }) })
const given = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

test("law: the highest layer that says something wins, and a project never widens", async () => {
  const layers = fc.record({ user: layer, project: layer, local: layer, environment: layer, flags: layer })
  await fc.assert(
    fc.asyncProperty(layers, async ({ user: own, project: its, local: here, environment, flags }) => {
      const { cwd, home, root } = await place({ [user]: asFile(own), [project]: asFile(its), [local]: asFile(here) })
      const env = given({
        LEGWORK_MODEL: environment.model,
        LEGWORK_PERMISSION_MODE: environment.permissionMode,
        LEGWORK_MAX_TURNS: environment.turns?.toString(),
      })
      const said = given({ model: flags.model, permissionMode: flags.permissionMode, maxTurns: flags.turns })
      const config = await load({ cwd, home, env, flags: said })
      await rm(root, { recursive: true })

      const above = [flags, environment]
      const highest = [...above, here, its, own].find(({ model }) => model)?.model
      const tightest = [here, its]
        .flatMap(({ permissionMode }) => permissionMode ?? [])
        .concat(own.permissionMode ?? "default")
        .toSorted((a, b) => modes.indexOf(a) - modes.indexOf(b))[0]
      const least = Math.min(own.turns ?? 200, its.turns ?? 500, here.turns ?? 500)
      assert.deepEqual(
        { model: config.model, permissionMode: config.permissionMode, turns: config.limits.turns },
        {
          model: highest,
          permissionMode: above.find(({ permissionMode }) => permissionMode)?.permissionMode ?? tightest,
          turns: above.find(({ turns }) => turns)?.turns ?? least,
        },
      )
    }),
    { numRuns: 100 },
  )
})

test("law: nothing that a project writes reaches what only the user may set", async () => {
  const guarded = ["providers", "prices", "directories", "environment", "aliases", "web"] as const
  const { cwd, home, repository } = await place({ [user]: { environment: ["A"], aliases: { mine: "x/y" } } })
  const before = await load({ cwd, home, env: {} })
  await mkdir(join(repository, ".legwork"))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...guarded), fc.jsonValue(), async (key, value) => {
      await writeFile(join(repository, ".legwork/settings.json"), JSON.stringify({ [key]: value }))
      const after = await load({ cwd, home, env: {} }).catch((error: unknown) => {
        assert.ok(error instanceof ConfigError)
        return before
      })
      for (const each of guarded) assert.deepEqual(after[each], before[each])
    }),
    { numRuns: 100 },
  )
})

test("limits of children and of single agents are read; a project may only lower the first and not set the second", async () => {
  const { cwd, home } = await place({
    [user]: { children: { turns: 20, timeout: 60 }, agents: { explore: { model: "haiku", turns: 5, cost: 0.5 } } },
    [project]: {
      children: { turns: 25, timeout: 30, tokens: 9 },
      agents: { explore: { turns: 900 } },
      limits: { cost: 1 },
    },
  })
  const { children, agents, limits, diagnostics } = await load({ cwd, home, env: {} })
  assert.deepEqual(children, { turns: 20, idle: 900, timeout: 30, tokens: 9 })
  assert.deepEqual(agents, { explore: { model: "haiku", turns: 5, cost: 0.5 } })
  assert.equal(limits.cost, 1)
  assert.deepEqual(
    diagnostics.map(({ key }) => key),
    ["agents", "children.turns"],
  )
})

const hooksOf = (command: string) => ({ PreToolUse: [{ hooks: [{ type: "command", command }] }] })

test("rules and hooks of all layers add up, each with its file, and the same rule counts once", async () => {
  const { cwd, home, files } = await place({
    [userClaude]: { permissions: { allow: ["Read", "Bash(ls *)"], deny: ["Bash(rm *)"] }, hooks: hooksOf("one") },
    [user]: { permissions: { allow: ["Read"], ask: ["Read"] }, hooks: hooksOf("two") },
    [projectClaude]: { permissions: { allow: ["Edit(src/**)"], deny: ["Bash(rm *)", "Read(.env)"] }, hooks: {} },
    [localClaude]: { permissions: { ask: ["WebFetch"], deny: ["Read(.env)"] }, hooks: hooksOf("three") },
    [project]: { permissions: { deny: ["Edit(src/**)"] }, hooks: hooksOf("four") },
    [local]: { permissions: { allow: ["Edit(src/**)", "Task"] }, hooks: hooksOf("four") },
  })
  const [one, two, three, four, five, six] = files(userClaude, user, projectClaude, localClaude, project, local)
  assert.deepEqual(await load({ cwd, home, env: {}, trusted: true }), {
    ...builtIn,
    permissions: [
      { text: "Read", do: "allow", file: one },
      { text: "Bash(ls *)", do: "allow", file: one },
      { text: "Bash(rm *)", do: "deny", file: one },
      { text: "Read", do: "ask", file: two },
      { text: "Edit(src/**)", do: "allow", file: three },
      { text: "Read(.env)", do: "deny", file: three },
      { text: "WebFetch", do: "ask", file: four },
      { text: "Edit(src/**)", do: "deny", file: five },
      { text: "Task", do: "allow", file: six },
    ],
    hooks: [
      { value: hooksOf("one"), file: one },
      { value: hooksOf("two"), file: two },
      { value: hooksOf("three"), file: four },
      { value: hooksOf("four"), file: five },
      { value: hooksOf("four"), file: six },
    ],
    files: [one, two, three, four, five, six],
  })
})

test("of a project that is not trusted only what restricts counts, with a line for each file", async () => {
  const { cwd, home, files } = await place({
    [user]: { permissions: { allow: ["Read"] } },
    [projectClaude]: { permissions: { allow: ["Bash"], ask: ["Read"] }, hooks: hooksOf("evil") },
    [localClaude]: { permissions: { allow: [] }, hooks: {} },
    [project]: { permissions: { allow: "everything", deny: ["Write"], defaultMode: "plan" }, sandbox: "read-only" },
    [local]: { hooks: "evil", permissionMode: "bypass", network: true },
  })
  const [own, claude, claudeLocal, its, here] = files(user, projectClaude, localClaude, project, local)
  const untrusted = "of a project count once you trust it; read them, then run: legwork trust"
  assert.deepEqual(await load({ cwd, home, env: {} }), {
    ...builtIn,
    permissionMode: "plan",
    sandbox: "read-only",
    permissions: [
      { text: "Read", do: "allow", file: own },
      { text: "Read", do: "ask", file: claude },
      { text: "Write", do: "deny", file: its },
    ],
    files: [own, claude, claudeLocal, its, here],
    diagnostics: [
      { severity: "warning", file: claude, message: `permissions.allow and hooks ${untrusted}` },
      { severity: "warning", file: its, message: `permissions.allow ${untrusted}` },
      { severity: "warning", file: here, message: `hooks ${untrusted}` },
      {
        severity: "warning",
        file: here,
        key: "permissionMode",
        message: "a project may not loosen it; it stays plan",
      },
      { severity: "warning", file: here, key: "network", message: "a project may not loosen it; it stays false" },
    ],
  })
})

test("trust gives a project its rules and hooks, and nothing else", async () => {
  const { cwd, home, files } = await place({
    [projectClaude]: { permissions: { defaultMode: "bypassPermissions" } },
    [project]: {
      permissions: { allow: ["Bash"] },
      hooks: hooksOf("mine"),
      permissionMode: "bypass",
      network: true,
      limits: { turns: 900 },
      environment: ["HOME"],
    },
  })
  const [claude, file] = files(projectClaude, project)
  const stays = (what: string) => `a project may not loosen it; it stays ${what}`
  const warned = [
    [claude, "permissions.defaultMode", "bypass counts only in Legwork's own settings"],
    [file, "environment", "a project may not set this; put it into your own settings"],
    [file, "permissionMode", stays("default")],
    [file, "network", stays("false")],
    [file, "limits.turns", "a project may not raise it; it stays 200"],
  ] as const
  assert.deepEqual(await load({ cwd, home, env: {}, trusted: true }), {
    ...builtIn,
    permissions: [{ text: "Bash", do: "allow", file }],
    hooks: [{ value: hooksOf("mine"), file }],
    files: [claude, file],
    diagnostics: warned.map(([file, key, message]) => ({ severity: "warning", file, key, message })),
  })
})

test("a sandbox may become tighter in a project, and the network may be taken away", async () => {
  const said = async (own: object, its: object) => {
    const { cwd, home } = await place({ [user]: own, [project]: its })
    const { sandbox, network, diagnostics } = await load({ cwd, home, env: {}, trusted: true })
    return [sandbox, network, ...diagnostics.map(({ key }) => key)]
  }
  const fence = { sandbox: "workspace-write", network: true }
  assert.deepEqual(await said(fence, {}), ["workspace-write", true])
  assert.deepEqual(await said(fence, { sandbox: "read-only", network: false }), ["read-only", false])
  assert.deepEqual(await said(fence, { sandbox: "off", network: true }), ["workspace-write", true, "sandbox"])
  assert.deepEqual(await said({}, { sandbox: "workspace-write", network: true }), ["workspace-write", false, "network"])
})

test("of Claude's settings only rules and hooks are read, and nothing else in them is judged", async () => {
  const strange = {
    model: 7,
    env: { A: "b" },
    agents: [],
    limits: { turns: 1 },
    sandbox: { enabled: true },
    fork: true,
  }
  const { cwd, home, root, files } = await place({
    [userClaude]: { ...strange, permissions: { deny: ["Bash"], additionalDirectories: ["/"] } },
    [projectClaude]: { ...strange, permissions: null, hooks: null, providers: {} },
    "claude/settings.json": { permissions: { deny: ["Write"] } },
  })
  const [one, two, three] = files(userClaude, projectClaude, "claude/settings.json")
  const rules = (text: string, file?: string) => [{ text, do: "deny", file }]
  assert.deepEqual(await load({ cwd, home, env: {} }), {
    ...builtIn,
    permissions: rules("Bash", one),
    files: [one, two],
  })
  assert.deepEqual(await load({ cwd, home, env: { CLAUDE_CONFIG_DIR: join(root, "claude") } }), {
    ...builtIn,
    permissions: rules("Write", three),
    files: [three, two],
  })
})

test("Claude's switch for hooks turns off those of its files; a project's, only what the project brought", async () => {
  const all = [userClaude, user, projectClaude, localClaude, project]
  const hooked = async (switches: Record<string, unknown>, { trusted = true } = {}) => {
    const files = all.map((name) => [
      name,
      { hooks: hooksOf(name), ...(name in switches && { disableAllHooks: switches[name] }) },
    ])
    const { root, cwd, home } = await place(Object.fromEntries(files))
    const { hooks, claudeHooks, diagnostics } = await load({ cwd, home, env: {}, trusted })
    const odd = diagnostics.flatMap(({ key, message }) => (key ? [`${key} ${message}`] : []))
    return [hooks.map(({ file }) => file.slice(root.length + 1)), claudeHooks, odd]
  }
  assert.deepEqual(await hooked({}), [all, undefined, []])
  assert.deepEqual(await hooked({ [userClaude]: true }), [[user, project], "off", []])
  for (const name of [projectClaude, localClaude]) {
    assert.deepEqual(await hooked({ [name]: true }), [[userClaude, user, project], undefined, []])
    assert.deepEqual(await hooked({ [name]: true }, { trusted: false }), [[userClaude, user], undefined, []])
  }
  for (const nothing of [false, null]) assert.deepEqual(await hooked({ [userClaude]: nothing }), [all, undefined, []])
  for (const odd of ["true", 1, [true], {}])
    assert.deepEqual(await hooked({ [userClaude]: odd }), [
      all,
      undefined,
      ["disableAllHooks is neither true nor false, so hooks run; put it right"],
    ])
})

test("the mode may be set in Claude's words; our own file wins, and within a file the tighter word", async () => {
  const modeOf = async (files: Record<string, unknown>) => {
    const { cwd, home } = await place(files)
    return (await load({ cwd, home, env: {} })).permissionMode
  }
  const said = (defaultMode: string, more = {}) => ({ permissions: { defaultMode }, ...more })
  assert.equal(await modeOf({ [userClaude]: said("bypassPermissions") }), "default")
  assert.equal(await modeOf({ [user]: said("bypassPermissions") }), "bypass")
  assert.equal(await modeOf({ [userClaude]: said("plan"), [user]: said("acceptEdits") }), "acceptEdits")
  assert.equal(await modeOf({ [userClaude]: said("plan"), [user]: {} }), "plan")
  assert.equal(await modeOf({ [user]: said("dontAsk") }), "default")
  assert.equal(await modeOf({ [user]: said("bypass", { permissionMode: "acceptEdits" }) }), "acceptEdits")
  assert.equal(await modeOf({ [user]: said("plan", { permissionMode: "bypass" }) }), "plan")
  assert.equal(await modeOf({ [user]: said("acceptEdits"), [localClaude]: said("default") }), "default")
})

test("a file of Claude's that cannot be made out stops nothing, but is named: it may deny something", async () => {
  const known = "for what it denies is not known"
  const list = "is not a list of texts in [ ]; make it one"
  const cases: [content: unknown, told: string][] = [
    ["{", `line 1 is not JSON (it ends too early); put it right, ${known}`],
    [
      '{\n  "permissions": {},\n}',
      `line 3 is not JSON (take out the comma before the bracket); put it right, ${known}`,
    ],
    [[], `is not an object in { }; make it one, ${known}`],
    [" ".repeat(1024 * 1024 + 1), `is larger than 1 MB; make it smaller, ${known}`],
    [{ permissions: [] }, `permissions: is not an object in { }; make it one, ${known}`],
    [{ permissions: { deny: "Bash" } }, `permissions.deny: ${list}, ${known}`],
    [{ permissions: { ask: { Bash: true } } }, `permissions.ask: ${list}, ${known}`],
  ]
  for (const [content, told] of cases)
    for (const name of [userClaude, projectClaude, localClaude]) {
      const { cwd, home, files } = await place({ [name]: content, [user]: { permissions: { allow: ["Read"] } } })
      const { diagnostics, ...config } = await load({ cwd, home, env: {} })
      const [file, own] = files(name, user)
      const permissions = [{ text: "Read", do: "allow", file: own }]
      assert.deepEqual(
        { diagnostics, ...config },
        { ...builtIn, permissions, files: [own], unreadable: [file], diagnostics },
      )
      assert.deepEqual(
        diagnostics.map(({ file, key, message }) => [file, key ? `${key}: ${message}` : message]),
        [[file, told]],
      )
    }
})

test("what of a broken list can be read counts; a broken list of what is allowed loses nothing", async () => {
  const { cwd, home, files } = await place({
    [userClaude]: { permissions: { deny: ["Bash", 7], allow: 7, defaultMode: "surprise" } },
    [projectClaude]: { permissions: { allow: [7, "Read"] } },
  })
  const [one, two] = files(userClaude, projectClaude)
  const { permissions, permissionMode, unreadable, diagnostics } = await load({ cwd, home, env: {}, trusted: true })
  assert.deepEqual(
    { permissions, permissionMode, unreadable },
    {
      permissions: [
        { text: "Bash", do: "deny", file: one },
        { text: "Read", do: "allow", file: two },
      ],
      permissionMode: "plan",
      unreadable: [one],
    },
  )
  assert.deepEqual(
    diagnostics.map(({ key, message }) => `${key}: ${message}`),
    [
      "permissions.allow: is not a list of texts in [ ]; make it one",
      "permissions.deny: is not a list of texts in [ ]; make it one, for what it denies is not known",
      "permissions.defaultMode: is no mode, so plan counts; there are plan, default, acceptEdits, bypass, bypassPermissions, dontAsk, auto, delegate",
      "permissions.allow: is not a list of texts in [ ]; make it one",
    ],
  )
})

test("links, pipes and folders in the place of Claude's settings are not read, and named", async () => {
  const { root, cwd, home, repository, files } = await place({
    "elsewhere.json": { permissions: { deny: ["Bash"] } },
    "repository/.claude/.keep": "",
    "home/.claude/.keep": "",
  })
  await symlink(join(root, "elsewhere.json"), join(home, ".claude/settings.json"))
  await symlink(join(root, "elsewhere.json"), join(repository, ".claude/settings.json"))
  await promisify(execFile)("mkfifo", [join(repository, ".claude/settings.local.json")])
  const [own, its, here] = files(userClaude, projectClaude, localClaude)
  const told = (why: string) => `${why}; make it a regular file, for what it denies is not known`
  assert.deepEqual(await load({ cwd, home, env: {} }), {
    ...builtIn,
    permissions: [{ text: "Bash", do: "deny", file: own }],
    files: [own],
    unreadable: [its, here],
    diagnostics: [
      { severity: "warning", file: its, message: told("leads out of the project") },
      { severity: "warning", file: here, message: told("is not a regular file") },
    ],
  })
})

test("a folder that leads to itself is told like any other that cannot be read", async () => {
  const { cwd, home, repository, files } = await place({})
  await symlink(".claude", join(repository, ".claude"))
  const { unreadable, diagnostics } = await load({ cwd, home, env: {} })
  assert.deepEqual(unreadable, files(projectClaude, localClaude))
  assert.deepEqual(
    diagnostics.map(({ message }) => message),
    Array(2).fill("cannot be read (ELOOP); make it a regular file, for what it denies is not known"),
  )
})

test("who works in the home folder has no project there", async () => {
  const { root, home, files } = await place({
    "elsewhere.json": { permissions: { allow: ["Bash"] } },
    "home/.claude/.keep": "",
    "home/.git/.keep": "",
    "home/notes/.keep": "",
  })
  await symlink(join(root, "elsewhere.json"), join(home, ".claude/settings.json"))
  await symlink(home, join(root, "link"))
  for (const here of [home, join(root, "link")]) {
    const file = join(here, ".claude/settings.json")
    const whole = { ...builtIn, permissions: [{ text: "Bash", do: "allow", file }], files: [file] }
    assert.deepEqual(await load({ cwd: join(home, "notes"), home: here, env: {} }), whole)
  }
  assert.deepEqual((await load({ cwd: home, env: {} })).unreadable, files("home/.claude/settings.json"))
})

test("hooks nested without end do no harm", async () => {
  const deep = `{"hooks": ${"[".repeat(50_000)}${"]".repeat(50_000)}}`
  const { cwd, home } = await place({ [user]: deep, [project]: deep, [localClaude]: deep })
  assert.equal((await load({ cwd, home, env: {}, trusted: true })).hooks.length, 3)
  assert.equal((await load({ cwd, home, env: {} })).hooks.length, 1)
})

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const rules = some(fc.array(fc.constantFrom("Bash", "Read", "Edit(src/**)", "mcp__x__*"), { maxLength: 3 }))
const number = some(fc.integer({ min: 1, max: 300 }))
const permissions = some(
  fc.record({ allow: rules, ask: rules, deny: rules, defaultMode: some(fc.constantFrom("plan", "auto", "bypass")) }),
)
const whole = fc.record({
  permissionMode: mode,
  permissions,
  hooks: some(fc.constant(hooksOf("x"))),
  sandbox: some(fc.constantFrom(...sandboxes)),
  network: some(fc.boolean()),
  limits: some(fc.record({ turns: number, depth: number, cost: number, timeout: number })),
  children: some(fc.record({ turns: number, idle: number, tokens: number })),
  web: some(fc.record({ allowPrivate: some(fc.boolean()) })),
})
/** A file of a stranger: sensible, or anything in the place of one key, or anything at all. */
const strange = fc.oneof(
  whole,
  fc
    .tuple(whole, fc.constantFrom("permissions", "hooks", "sandbox", "network", "agents"), fc.jsonValue())
    .map(([said, key, value]) => ({ ...said, [key]: value })),
  fc.jsonValue(),
)

/** Everything in which one config gives more than another. */
function looserIn(config: Config, than: Config): string[] {
  const texts = ({ permissions }: Config, verdict: string) =>
    permissions.filter((rule) => rule.do === verdict).map(({ text }) => text)
  const higher = (one: object, other: Record<string, number | undefined>) =>
    Object.entries(other).some(([key, most]) => ((one as typeof other)[key] ?? Infinity) > (most ?? Infinity))
  const kept = ["hooks", "providers", "prices", "directories", "environment", "aliases", "agents"] as const
  const looser: Record<string, boolean> = {
    mode: modes.indexOf(config.permissionMode) > modes.indexOf(than.permissionMode),
    sandbox: sandboxes.indexOf(config.sandbox) > sandboxes.indexOf(than.sandbox),
    network: config.network && !than.network,
    limits: higher(config.limits, than.limits),
    children: higher(config.children, than.children),
    private: config.web.allowPrivate && !than.web.allowPrivate,
    allow: texts(config, "allow").some((text) => !texts(than, "allow").includes(text)),
    ask: texts(than, "ask").some((text) => !texts(config, "ask").includes(text)),
    deny: texts(than, "deny").some((text) => !texts(config, "deny").includes(text)),
    ...Object.fromEntries(kept.map((key) => [key, !isDeepStrictEqual(config[key], than[key])])),
  }
  return Object.keys(looser).filter((key) => looser[key])
}

test("law: whatever a project that is not trusted says, nothing becomes looser than without it", async () => {
  const contents = fc.record({ own: whole, claude: strange, claudeLocal: strange, its: strange, here: strange })
  await fc.assert(
    fc.asyncProperty(contents, async ({ own, claude, claudeLocal, its, here }) => {
      const { cwd, home, root, repository } = await place({ [user]: own })
      const without = await load({ cwd, home, env: {} })
      for (const [name, content] of Object.entries({
        [projectClaude]: claude,
        [localClaude]: claudeLocal,
        [project]: its,
        [local]: here,
      })) {
        await mkdir(dirname(join(root, name)), { recursive: true })
        await writeFile(join(root, name), JSON.stringify(content))
      }
      const config = await load({ cwd, home, env: {} }).catch(async (error: unknown) => {
        // What stops the program gives nothing; without our own files, Claude's stop nothing.
        assert.ok(error instanceof ConfigError)
        await rm(join(repository, ".legwork"), { recursive: true })
        return load({ cwd, home, env: {} })
      })
      await rm(root, { recursive: true })
      assert.deepEqual(looserIn(config, without), [])
    }),
    { numRuns: 150 },
  )
})
