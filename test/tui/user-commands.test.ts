import assert from "node:assert/strict"
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { type TestContext, test } from "node:test"
import { listed, loadUserCommands, promptOf } from "../../src/cli/tui/user-commands.ts"

async function stage(t: TestContext, files: Record<string, string>) {
  const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-commands-")))
  t.after(() => rm(base, { recursive: true }))
  await mkdir(join(base, "project", ".git"), { recursive: true })
  await mkdir(join(base, "project", "part"))
  await mkdir(join(base, "home"))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(base, path)), { recursive: true })
    await writeFile(join(base, path), text)
  }
  const load = (cwd = "project/part", env: NodeJS.ProcessEnv = {}) =>
    loadUserCommands({ cwd: join(base, cwd), home: join(base, "home"), env })
  return { base, load }
}

test("commands of both systems are read with their front matter, by name, and folders are part of it", async (t) => {
  const { base, load } = await stage(t, {
    "project/.legwork/commands/review.md":
      "---\ndescription: Reviews a change\nargument-hint: [file] [line]\nmodel: opus\n---\n\nReview $1.\n",
    "project/.claude/commands/git/fix/it.md": "\ufeff# Fix the issue\r\nnow",
    "home/.claude/commands/hint.md": "---\nargument-hint: [message]\n---\nSay it",
    "home/.config/legwork/commands/own.md": "mine",
  })
  assert.deepEqual(await load(), {
    commands: [
      {
        name: "git:fix:it",
        description: "Fix the issue",
        origin: "project",
        path: join(base, "project/.claude/commands/git/fix/it.md"),
        text: "# Fix the issue\nnow",
      },
      {
        name: "hint",
        description: "Say it",
        hint: "[message]",
        origin: "user",
        path: join(base, "home/.claude/commands/hint.md"),
        text: "Say it",
      },
      {
        name: "own",
        description: "mine",
        origin: "user",
        path: join(base, "home/.config/legwork/commands/own.md"),
        text: "mine",
      },
      {
        name: "review",
        description: "Reviews a change",
        hint: "[file] [line]",
        model: "opus",
        origin: "project",
        path: join(base, "project/.legwork/commands/review.md"),
        text: "Review $1.",
      },
    ],
    problems: [],
  })
})

test("hints are read as they stand, whatever is around them", async (t) => {
  const hints = [
    'argument-hint: "[a] [b]"',
    "description: Fix: it\nargument-hint: [a] [b]",
    "argument_hint: <a>: 'b'",
    "argument-hint:",
    "model: x",
  ]
  const files = hints.map((matter, at) => [
    `home/.claude/commands/c${at}.md`,
    `---\n${matter}\n---\nargument-hint: no\n`,
  ])
  const { load } = await stage(t, Object.fromEntries(files))
  assert.deepEqual(
    (await load()).commands.map(({ hint, description, text }) => [hint, description, text]),
    [
      ["[a] [b]", "argument-hint: no", "argument-hint: no"],
      ["[a] [b]", "Fix: it", "argument-hint: no"],
      ["<a>: 'b'", "argument-hint: no", "argument-hint: no"],
      [undefined, "argument-hint: no", "argument-hint: no"],
      [undefined, "argument-hint: no", "argument-hint: no"],
    ],
  )
})

test("of one name, in any case, the closest counts", async (t) => {
  const { load } = await stage(t, {
    "home/.legwork/commands/go.md": "home",
    "project/.claude/commands/go.md": "root, claude",
    "project/.legwork/commands/Go.md": "root",
    "project/part/.claude/commands/go.md": "part",
  })
  const texts = async (cwd: string) => (await load(cwd)).commands.map(({ text }) => text)
  assert.deepEqual(await texts("project/part"), ["part"])
  assert.deepEqual(await texts("project"), ["root"])
  assert.deepEqual(await texts("home"), ["home"])
})

test("the folder of the user's own commands is not a project's, also for whoever works there", async (t) => {
  const { base, load } = await stage(t, { "home/.claude/commands/go.md": "home", "other/commands/far.md": "far" })
  const named = ({ commands }: Awaited<ReturnType<typeof load>>) => commands.map(({ name, origin }) => [name, origin])
  assert.deepEqual(named(await load("home")), [["go", "user"]])
  assert.deepEqual(named(await load("project", { CLAUDE_CONFIG_DIR: join(base, "other") })), [["far", "user"]])
  await symlink(join(base, "home"), join(base, "link"))
  const linked = { cwd: join(base, "link"), home: join(base, "link"), env: {} }
  assert.deepEqual(named(await loadUserCommands(linked)), [["go", "user"]])
})

test("what leads out of the project, is no regular file, is too large, empty or cannot be typed is not read", async (t) => {
  const { base, load } = await stage(t, {
    "secret.md": "secret",
    "home/.claude/commands/also.md": "x",
    "project/.claude/commands/two words.md": "x",
    "project/.claude/commands/empty.md": "---\ndescription: nothing\n---\n",
    "project/.claude/commands/large.md": "x".repeat(64 * 1024 + 1),
    "project/.claude/commands/notes.txt": "x",
    "project/.claude/commands/good.md": "x",
  })
  const folder = join(base, "project/.claude/commands")
  await symlink(join(base, "secret.md"), join(folder, "out.md"))
  await symlink("/dev/zero", join(base, "home/.claude/commands/zero.md"))
  const { commands, problems } = await load()
  assert.deepEqual(
    commands.map(({ name }) => name),
    ["also", "good"],
  )
  assert.deepEqual(
    problems.map(({ path, message }) => [basename(path), message]),
    [
      ["out.md", "leads out of the project and is not read; put the file itself there"],
      ["empty.md", "says nothing to the agent; write what is to be done below its front matter"],
      ["large.md", "is larger than 64 KB and is not read; make it shorter"],
      ["two words.md", "has a name that cannot be typed as a command; use letters, digits, - and _"],
      ["zero.md", "is not a regular file and is not read"],
    ],
  )
})

test("at most 500 commands are read", async (t) => {
  const files = Array.from({ length: 502 }, (_, at) => [`project/.claude/commands/c${at}.md`, "x"])
  const { load } = await stage(t, Object.fromEntries(files))
  const { commands, problems } = await load()
  assert.deepEqual(
    [commands.length, problems.map(({ message }) => message)],
    [500, ["is not read: there are 500 commands already"]],
  )
})

test("a command of the project is listed as one", () => {
  const command = { name: "go", description: "Goes", path: "/go.md", text: "go" }
  assert.deepEqual(listed({ ...command, origin: "user" }), { name: "go", description: "Goes" })
  assert.deepEqual(listed({ ...command, origin: "project", hint: "[where]" }), {
    name: "go",
    description: "(project) Goes",
    argumentHint: "[where]",
  })
})

test("what is given takes the places that are kept for it, and is itself not looked through", () => {
  const prompts = [
    ["Fix $ARGUMENTS now", " issue 7 "],
    ["$1, $2, $3; $ARGUMENTS", `one "two words" it's`],
    ["$1|$2", "$2 $ARGUMENTS"],
    ["$1|$2|$10|$ARGUMENTSX|$0", "a"],
    ["No place", "for this"],
    ["No place", " "],
    ["See @src/a.ts", ""],
  ].map(([text, given]) => promptOf({ text: text! }, given!))
  assert.deepEqual(prompts, [
    "Fix issue 7 now",
    `one, two words, it's; one "two words" it's`,
    "$2|$ARGUMENTS",
    "a||$10|$ARGUMENTSX|$0",
    "No place\n\nfor this",
    "No place",
    "See @src/a.ts",
  ])
})

test("a command line in a command is not run but left to the agent, with a word", () => {
  const word = "(What is written as !`command` above was not run. Run what you need of it yourself, as far as you may.)"
  assert.equal(promptOf({ text: "State: !`git status`" }, ""), `State: !\`git status\`\n\n${word}`)
  assert.equal(promptOf({ text: "Say $1" }, "!`ls`"), "Say !`ls`")
})
