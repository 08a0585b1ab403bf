import assert from "node:assert/strict"
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { fuzzyFilter } from "@earendil-works/pi-tui"
import { completing } from "../../src/cli/tui/complete.ts"
import { filesBelow, listing } from "../../src/cli/tui/project-files.ts"

const provider = completing({
  commands: () => [
    { name: "compact", description: "makes it shorter" },
    { name: "cost" },
    {
      name: "model",
      argumentHint: "[name]",
      description: "another model",
      getArgumentCompletions: (typed) => [{ value: `${typed}net`, label: "sonnet" }],
    },
    {
      name: "broken",
      getArgumentCompletions: () => {
        throw new Error("no")
      },
    },
  ],
  agents: () => [
    { name: "explore", description: "Finds\nthings" },
    { name: "plan", description: "Plans" },
  ],
  files: async () => ["README.md", "my plan.md", "src/explain.ts", "src/app/[id].tsx"],
})

/** What is offered where `|` stands. */
const at = async (text: string, signal = new AbortController().signal) => {
  const lines = text.replace("|", "").split("\n")
  const line = text.slice(0, text.indexOf("|")).split("\n").length - 1
  const column = text.split("\n")[line]!.indexOf("|")
  return { lines, line, column, offered: await provider.getSuggestions(lines, line, column, { signal }) }
}
const values = async (text: string) => (await at(text)).offered?.items.map(({ value }) => value)
/** What the text becomes when the first is taken. */
const taken = async (text: string, which = 0) => {
  const { lines, line, column, offered } = await at(text)
  const done = provider.applyCompletion(lines, line, column, offered!.items[which]!, offered!.prefix)
  const now = done.lines[done.cursorLine]!
  return done.lines.with(done.cursorLine, `${now.slice(0, done.cursorCol)}|${now.slice(done.cursorCol)}`).join("\n")
}

test("what is taken from a list that is older than the last letters does not break the line", () => {
  const apply = (text: string, value: string, prefix: string) =>
    provider.applyCompletion([text], 0, text.length, { value, label: value }, prefix).lines
  assert.deepEqual(apply("/cos", "/compact", "/"), ["/cost "])
  assert.deepEqual(apply("look at @sr", "@src/a.ts", "@"), ["look at @src/a.ts "])
})

test("a slash at the beginning offers commands, in any case, with what they take and do", async () => {
  assert.deepEqual((await at("/MO|")).offered, {
    prefix: "/MO",
    items: [{ value: "/model", label: "model", description: "[name] · another model" }],
  })
  assert.deepEqual(await values("/|"), ["/compact", "/cost", "/model", "/broken"])
  assert.deepEqual(await values("  /cos|"), ["/cost"])
  assert.equal(await taken("/mod|"), "/model |")
  assert.equal(await taken("/mod| opus"), "/model |opus")
})

test("a slash elsewhere, a path and an unknown command offer nothing", async () => {
  const offers = await Promise.all(["a /co|", "/usr/co|", "/xyz|", "one\n/co|", "co|", "/nothing a|"].map(values))
  assert.deepEqual(
    offers,
    offers.map(() => undefined),
  )
})

test("the argument of a command is completed by the command, and one that cannot offers nothing", async () => {
  assert.equal(await taken("/Model son|"), "/Model sonnet|")
  assert.equal(await values("/broken a|"), undefined)
})

test("an at sign offers agents before files in one list, in any case", async () => {
  assert.deepEqual((await at("ask @EXPL|")).offered, {
    prefix: "@EXPL",
    items: [
      { value: "@explore", label: "explore", description: "agent · Finds things" },
      { value: "@src/explain.ts", label: "src/explain.ts" },
    ],
  })
  assert.deepEqual(await values("@|"), [
    "@explore",
    "@plan",
    "@README.md",
    '@"my plan.md"',
    "@src/explain.ts",
    "@src/app/[id].tsx",
  ])
  assert.deepEqual(await values("(@read|"), ["@README.md"])
  assert.deepEqual(await values("/model x @src/expl|"), ["@src/explain.ts"])
  assert.equal(await values("me@read|"), undefined)
})

test("a path with spaces is put in quotes, also where a quote was begun or closed already", async () => {
  assert.equal(await taken("see @my|"), 'see @"my plan.md" |')
  assert.equal(await taken('see @"my pl|'), 'see @"my plan.md" |')
  assert.equal(await taken('see @"my pl|" now'), 'see @"my plan.md" |now')
  assert.equal(await taken("a\nask @pl| about"), "a\nask @plan |about")
})

test("of very many files the best are found, wherever they stand", async () => {
  const files = Array.from({ length: 9_000 }, (_, at) => `part${at % 97}/thing-${at}.ts`)
  const many = completing({ commands: () => [], agents: () => [], files: async () => files })
  for (const typed of ["thing8", "part9/88", ""]) {
    const { signal } = new AbortController()
    const offered = await many.getSuggestions([`@${typed}`], 0, typed.length + 1, { signal })
    assert.deepEqual(
      offered?.items.map(({ label }) => label),
      fuzzyFilter(files, typed, (path) => path).slice(0, 50),
    )
  }
})

test("whoever types on gets the agents alone, and a listing that fails is no error", async () => {
  const never = completing({
    commands: () => [],
    agents: () => [{ name: "plan", description: "" }],
    files: () => new Promise(() => {}),
  })
  const failing = completing({
    commands: () => [],
    agents: () => [],
    files: async () => Promise.reject(new Error("no")),
  })
  const stopped = AbortSignal.abort()
  assert.equal((await never.getSuggestions(["@"], 0, 1, { signal: stopped }))?.items.length, 1)
  assert.equal(await failing.getSuggestions(["@"], 0, 1, { signal: new AbortController().signal }), null)
})

test("tab looks for files only where a mention was begun", () => {
  const asked = (text: string) => provider.shouldTriggerFileCompletion?.([text], 0, text.length)
  assert.deepEqual([asked("see @s"), asked("see s"), asked("/co")], [true, false, false])
})

test("files are listed once in some seconds, the upper ones first, not too many, and none that cannot be typed", async () => {
  let [time, listed] = [0, 0]
  const files = listing({
    list: async () => {
      listed++
      return ["b/c/d.ts", "b/a.ts", "z.ts", "a.ts", "esc\u001b[2J.ts", 'quo"te.ts']
    },
    now: () => time,
    fresh: 1_000,
    most: 3,
  })
  assert.deepEqual(await files(), ["a.ts", "z.ts", "b/a.ts"])
  time = 999
  await files()
  assert.equal(listed, 1)
  time = 1_000
  await files()
  assert.equal(listed, 2)
})

test("the files of a folder are those that git does not ignore", async (t) => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "legwork-files-")))
  t.after(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, "src"))
  for (const name of [".gitignore", "out.log", "src/a b.ts"]) await writeFile(join(folder, name), "*.log\n")
  const { signal } = new AbortController()
  assert.deepEqual((await filesBelow(folder, { env: process.env, signal })()).sort(), [".gitignore", "src/a b.ts"])
})
