import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { chmod, mkdtemp, readdir, rm as remove, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { setTimeout } from "node:timers/promises"
import type { Question, Reply } from "../../src/agent/permission.ts"
import { findSandbox } from "../../src/sandbox/sandbox.ts"
import { type Options, open } from "../../src/session.ts"
import { call, type Script } from "../../src/testing.ts"
import type { Home } from "./binary.ts"
import { type Stage, stage } from "./chain.ts"

const args = ["-p", "go", "--model", "anthropic/any", "--output-format", "json"]
const found = await findSandbox({ env: process.env })()
const needsFence = { skip: found.ok ? false : `${found.why}; ${found.fix}` }

type Call = ReturnType<typeof call>
const bash = (command: string): Call => call("bash", { command })

/** The main agent makes these calls in one answer; children say a word. */
const calling =
  (...calls: Call[]): Script =>
  ({ system, messages }) => {
    if (system.includes("You are a subagent")) return "a child was here"
    return messages.length === 1 ? calls : "end"
  }

/** An explore child makes these calls in one answer. */
const exploring =
  (...calls: Call[]): Script =>
  ({ system, messages }) => {
    if (system.includes("You are a subagent")) return messages.length === 1 ? calls : "seen"
    return messages.length === 1 ? [call("task", { subagent_type: "explore", prompt: "look" })] : "end"
  }

/** What came of the calls, in their order. */
const resultsIn = ({ server }: Stage): string[] =>
  server.requests.at(-1)!.messages.flatMap(({ role, text }) => (role === "result" ? [text] : []))

const settings = {
  permissions: {
    allow: ["Bash(mkdir *)", "Bash(git *)", "Edit(src/**)", "Read(~/notes/**)", "WebFetch(domain:127.0.0.1)"],
    ask: ["Bash(git push *)", "Agent(plan)"],
    deny: ["Bash(rm *)", "Read(.env)", "Edit(src/secret/**)", "Task(code)", "WebFetch(domain:example.com)"],
  },
  web: { allowPrivate: true },
}
const files = { ".env": "KEY=1\n", "src/a.txt": "alpha\n", "../notes/n.txt": "a note\n", "../other.txt": "other\n" }

const modes = ["default", "acceptEdits", "plan", "bypass"] as const
type Mode = (typeof modes)[number]

/** Nobody is there to answer. */
const asks = Symbol("asks")
const denies = (rule: string) => `the rule ${rule} denies it; go on without it, and say so`
const outside = (path: string) => `${path} is outside the workspace: not written`
const readOnly = "this run is read-only: describe the change instead of making it"

/** What becomes of a call in each mode: undefined if it is made. */
type Row = [call: Call, what: string, why: Partial<Record<Mode, string | typeof asks>>]
const always = (why: string | typeof asks): Row[2] => ({ default: why, acceptEdits: why, plan: why, bypass: why })
const unlessBypassed = { default: asks, acceptEdits: asks, plan: asks } as const
const command = (text: string, why: Row[2]): Row => [bash(text), `run ${text}`, why]
const rm = always(denies("bash(rm *)"))

const rows = ({ work }: Home, url: string): Row[] => [
  // Every part has to be allowed, and one that is denied is enough.
  command("mkdir a && mkdir b", {}),
  command("mkdir c && chmod 700 c", { default: asks, acceptEdits: asks }),
  command("mkdir d; rm -rf a", rm),
  command("echo $(rm -rf a)", rm),
  command("(mkdir e | bash -c 'rm -rf a')", rm),
  command("env X=1 timeout 5 rm -rf a", rm),
  command("find . -name a -exec rm -r {} +", rm),
  command('X=rm; "$X" -rf a', {
    ...unlessBypassed,
    bypass: "the rule bash(rm *) may deny it: spell it out, or go on without it",
  }),
  command("git push --dry-run nowhere", unlessBypassed),
  command("cat .env", always(denies("read(.env)"))),
  command("wc -c < .env", always(denies("read(.env)"))),
  command("mkdir f > src/secret/list", always(denies("edit(src/secret/**)"))),
  [call("read", { file_path: "src/a.txt" }), "", {}],
  [call("read", { file_path: ".env" }), `read ${work}/.env`, always(denies("read(.env)"))],
  [call("grep", { pattern: "KEY", path: ".env" }), `read ${work}/.env`, always(denies("read(.env)"))],
  [call("read", { file_path: "../notes/n.txt" }), "", {}],
  [call("read", { file_path: "../other.txt" }), `read ${join(work, "../other.txt")}`, unlessBypassed],
  [
    call("edit", { file_path: "src/a.txt", old_string: "alpha", new_string: "omega" }),
    `write ${work}/src/a.txt`,
    { plan: readOnly },
  ],
  [call("write", { file_path: "b.txt", content: "b" }), `write ${work}/b.txt`, { default: asks, plan: readOnly }],
  [
    call("write", { file_path: "src/secret/x", content: "x" }),
    `write ${work}/src/secret/x`,
    always(denies("edit(src/secret/**)")),
  ],
  [
    call("write", { file_path: ".legwork/settings.json", content: "{}" }),
    `write ${work}/.legwork/settings.json`,
    { default: asks, acceptEdits: asks, plan: readOnly },
  ],
  [
    call("write", { file_path: "../escaped", content: "x" }),
    `write ${join(work, "../escaped")}`,
    { ...always(outside(join(work, "../escaped"))), plan: readOnly },
  ],
  [call("web_fetch", { url: `${url}/page` }), "", {}],
  [call("web_fetch", { url: "http://nowhere.invalid/" }), "fetch http://nowhere.invalid/", unlessBypassed],
  [
    call("web_fetch", { url: "https://www.example.com/" }),
    "fetch https://www.example.com/",
    always(denies("web_fetch(domain:example.com)")),
  ],
  [call("task", { prompt: "p", subagent_type: "code" }), "start agent code", always(denies("task(code)"))],
  [call("task", { prompt: "p", subagent_type: "plan" }), "start agent plan", unlessBypassed],
  [call("task", { prompt: "p", subagent_type: "general" }), "", {}],
]

const made: Record<Mode, string[]> = {
  default: ["a", "b"],
  acceptEdits: ["a", "b", "b.txt"],
  plan: [],
  bypass: [".legwork", "a", "b", "b.txt", "c"],
}

for (const mode of modes) {
  const skip = mode === "plan" && needsFence.skip
  test(`rules and the mode ${mode} decide part by part, and what was refused is listed`, { skip }, async (t) => {
    let wanted: Row[] = []
    const script: Script = (asked, n) => calling(...wanted.map(([call]) => call))(asked, n)
    const place = await stage(t, script, { settings, files })
    wanted = rows(place, place.server.url)
    const ran = await place.go([...args, "--permission-mode", mode])
    const { status, refused, runs } = JSON.parse(ran.stdout)
    assert.deepEqual([ran.code, status], [0, "completed"], ran.stderr)
    const expected = wanted.flatMap(([, what, { [mode]: why }], n) => {
      const nobody = `nobody is there to permit it (${what}); go on without it and say so`
      return why === undefined
        ? []
        : [{ run: runs[0].id, call: `call_1_${n + 1}`, what, why: why === asks ? nobody : why }]
    })
    const number = ({ call }: { call: string }) => Number(call.split("_")[2])
    assert.deepEqual(
      refused.toSorted((a: { call: string }, b: { call: string }) => number(a) - number(b)),
      expected,
    )
    assert.deepEqual(
      ran.stderr
        .split("\n")
        .filter((line) => line.startsWith("  refused: "))
        .sort(),
      expected.map(({ what, why }) => `  refused: ${what} (${why})`).sort(),
    )
    const told = resultsIn(place)
    for (const { call, why } of expected) assert.equal(told[number({ call }) - 1], `not permitted: ${why}`)
    assert.deepEqual((await readdir(place.work)).sort(), [".env", ...made[mode], "src"].sort())
    assert.deepEqual(await readdir(join(place.work, "src")), ["a.txt"])
    assert.equal(await place.file("src/a.txt"), mode === "plan" ? "alpha\n" : "omega\n")
    assert.deepEqual((await readdir(join(place.work, ".."))).includes("escaped"), false)
    assert.deepEqual(
      place.server.refused.map(({ path }) => path),
      ["/page"], // which is what was to be fetched
    )
  })
}

const git = (work: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.org", ...words], {
    cwd: work,
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: work, GIT_CONFIG_NOSYSTEM: "1" },
  })

/** A repository whose `git diff` and `ls` are programs of its own, which leave a mark if they can. */
async function trapped({ work }: Home): Promise<void> {
  const trap = join(work, "bin/ls")
  await writeFile(trap, "#!/bin/sh\ntouch marker\necho trapped\n")
  await chmod(trap, 0o755)
  git(work, "init", "--quiet")
  git(work, "add", ".")
  git(work, "commit", "--quiet", "--message", "one")
  for (const key of ["diff.external", "diff.trap.textconv", "core.fsmonitor"]) git(work, "config", key, trap)
  await writeFile(join(work, "a.txt"), "omega\n")
}

const repository = { "a.txt": "alpha\nbeta\n", "bin/ls": "", ".gitattributes": "*.md diff=trap\n", "b.md": "# b\n" }

test("commands that only read run without a question, as they would outside", needsFence, async (t) => {
  const commands = [
    "git log --format=%s",
    "git show --stat HEAD -- a.txt",
    "cat a.txt | sort -r | head -1",
    "find . -name '*.md' | wc -l",
    "for f in *.md; do grep -c b $f; done",
    "cd bin && pwd",
  ]
  const place = await stage(t, calling(...commands.map(bash)), { files: repository })
  await trapped(place)
  const outside = commands.map((command) =>
    execFileSync("bash", ["-c", command], { cwd: place.work, encoding: "utf8" }),
  )
  const { refused } = JSON.parse((await place.go(args)).stdout)
  assert.deepEqual(refused, [])
  assert.deepEqual(
    resultsIn(place),
    outside.map((text) => text.trimEnd()),
  )
})

test("a command that only seems to read changes nothing", needsFence, async (t) => {
  const commands = ["git diff", "git log -p --textconv -- b.md", "git status --short", "ls", "sort bin/ls"]
  const place = await stage(t, calling(...commands.map(bash)), { files: repository })
  await trapped(place)
  const env = { ...place.server.env, PATH: `${join(place.work, "bin")}:${process.env.PATH}` }
  const { refused } = JSON.parse((await place.run(args, { env })).stdout)
  assert.deepEqual(refused, [])
  // The repository's programs did run, and could do nothing.
  const told = resultsIn(place).map((text) => /^\+?trapped$/m.test(text))
  assert.deepEqual(told, [true, true, false, true, false])
  assert.deepEqual((await readdir(place.work)).includes("marker"), false)
  assert.equal(git(place.work, "-c", "core.fsmonitor=", "status", "--short"), " M a.txt\n")
})

/** A session in this process. Questions are answered one after the other, by the list; further ones with no. */
async function asking(place: Stage, replies: Reply[], options: Partial<Options> = {}) {
  const asked: Question[] = []
  const answer = async (question: Question) => replies[asked.push(question) - 1] ?? { allow: false, word: "enough" }
  const env = { ...place.env, ...place.server.env }
  const session = await open({ cwd: place.work, env, model: "anthropic/any", answer, ...options })
  return { session, asked }
}

test("a question has the path of its asker, the parts of a command, the change to a file, and what always would mean", async (t) => {
  const line = "mkdir -p x && (npm test | tee log)"
  const calls = [
    bash(line),
    call("read", { file_path: "a.txt" }),
    call("edit", { file_path: "a.txt", old_string: "alpha", new_string: "omega" }),
    call("write", { file_path: "new/b.txt", content: "b\n" }),
    call("web_fetch", { url: "https://example.com/docs" }),
  ]
  const script: Script = ({ system, messages }) => {
    if (messages.length > 1) return "end"
    return system.includes("You are a subagent") ? calls : [call("task", { prompt: "p", subagent_type: "code" })]
  }
  const place = await stage(t, script, { files: { "a.txt": "alpha\nbeta\n" } })
  const { session, asked } = await asking(place, [])
  await session.prompt("go")
  await session.close()
  const [{ run } = { run: "" }] = asked
  assert.equal(session.view.get(run)?.agent, "code")
  const allowing = (tool: string, pattern: string) => ({ tool, pattern, do: "allow" })
  const write = { kind: "write", inside: true, guarded: false }
  const change = (path: string, hunk: string, added: number, removed: number) => ({
    kind: "diff",
    path,
    diff: `--- ${path}\n+++ ${path}\n${hunk}`,
    added,
    removed,
  })
  const expected = [
    {
      tool: "bash",
      call: "call_1_1",
      input: { command: line, timeout: 120_000 },
      access: { kind: "run", command: line },
      parts: ["mkdir -p x", "npm test", "tee log"],
      always: [allowing("bash", "mkdir *"), allowing("bash", "npm test *"), allowing("bash", "tee log")],
    },
    {
      tool: "edit",
      call: "call_1_3",
      input: { file_path: "a.txt", edits: [{ old_string: "alpha", new_string: "omega" }] },
      access: { ...write, path: join(place.work, "a.txt") },
      details: change("a.txt", "@@ -1,2 +1,2 @@\n-alpha\n+omega\n beta\n", 1, 1),
      always: [allowing("edit", "./*")],
    },
    {
      tool: "write",
      call: "call_1_4",
      input: { file_path: "new/b.txt", content: "b\n" },
      access: { ...write, path: join(place.work, "new/b.txt") },
      details: change("new/b.txt", "@@ -0,0 +1,1 @@\n+b\n", 1, 0),
      always: [allowing("edit", "new/**")],
    },
    {
      tool: "web_fetch",
      call: "call_1_5",
      input: { url: "https://example.com/docs" },
      access: { kind: "fetch", url: "https://example.com/docs" },
      always: [allowing("web_fetch", "domain:example.com")],
    },
  ]
  assert.deepEqual(
    asked.toSorted((a, b) => a.call.localeCompare(b.call)),
    expected.map((question) => ({ run, path: ["main", "code"], ...question })),
  )
})

test("always counts for those who ask at the same time, for later prompts, and when the session goes on", async (t) => {
  const script: Script = ({ system, messages }) => {
    const prompt = messages.findLast(({ role }) => role === "user")!.text
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user")).length
    if (turn > 1) return "end"
    if (system.includes("You are a subagent") || prompt !== "go") return [bash(`mkdir ${prompt}`)]
    return ["a", "b", "c"].map((prompt) => call("task", { prompt, subagent_type: "code" }))
  }
  const place = await stage(t, script, {})
  const first = Promise.withResolvers<Reply>()
  const asked: string[] = []
  const withdrawn: string[] = []
  const answer = (question: Question, signal: AbortSignal): Promise<Reply> => {
    const { access } = question
    const what = access.kind === "run" ? access.command : access.kind
    signal.addEventListener("abort", () => withdrawn.push(what))
    if (asked.push(what) === 3) first.resolve({ allow: true, always: true })
    // Nobody answers the others, or only when it is plain that nothing else will.
    return asked.length === 1 ? first.promise : setTimeout(5_000, { allow: false }, { ref: false })
  }
  const { session } = await asking(place, [], { answer })
  await session.prompt("go")
  await session.prompt("d")
  await session.close()
  const [one, ...others] = asked
  assert.deepEqual(asked.toSorted(), ["mkdir a", "mkdir b", "mkdir c"])
  assert.deepEqual(withdrawn.toSorted(), others.toSorted())
  const again = await asking(place, [], { resume: session.id })
  await again.session.prompt("e")
  assert.deepEqual(again.asked, [])
  const { refused } = await again.session.prompt("f; touch g")
  assert.deepEqual(
    refused.map(({ what, why }) => [what, why]),
    [["run mkdir f; touch g", "the user said no: enough"]],
  )
  await again.session.close()
  assert.deepEqual((await readdir(place.work)).sort(), ["a", "b", "c", "d", "e"])
  const other = await asking(place, [])
  await other.session.prompt("h")
  await other.session.close()
  assert.equal(other.asked.length, 1, `another session knows nothing of ${one}`)
})

test("a rule about an agent counts however that one is called", async (t) => {
  const names = ["code", "Code", " code ", "general", "general-purpose", "General"]
  const calls = names.map((name) => call("task", { prompt: "p", subagent_type: name }))
  const place = await stage(t, calling(...calls), {
    settings: { permissions: { deny: ["Task(code)", "Agent(general)"] } },
  })
  await place.go([...args, "--permission-mode", "bypass"])
  assert.deepEqual(
    resultsIn(place).map((text) => text.startsWith("not permitted: the rule task(")),
    names.map(() => true),
  )
})

test("what may not be read is not read by a command either, however it is spelled", async (t) => {
  const commands = [
    "cat .env",
    "cat .e*",
    "cat .en?",
    "cat {.env,a}",
    "cat $(echo .env)",
    "find . -name .env -exec cat {} +",
  ]
  const place = await stage(t, calling(...commands.map(bash)), {
    files: { ".env": "KEY=1\n" },
    settings: { permissions: { deny: ["Read(.env)"] } },
  })
  await place.go(args)
  assert.deepEqual(
    resultsIn(place).map((text) => text.includes("KEY")),
    commands.map(() => false),
  )
})

test("in the fence even a search through all files does not see what may not be read", needsFence, async (t) => {
  const commands = ["grep -r KEY .", "f=.env; cat $f", `python3 -c 'print(open(".env").read())'`, "cat ok.txt"]
  const place = await stage(t, exploring(...commands.map(bash)), {
    files: { ".env": "KEY=1\n", "ok.txt": "fine\n" },
    settings: { permissions: { deny: ["Read(.env)"], allow: ["Bash"] } },
  })
  await place.go(args)
  const results = place.server.requests.flatMap(({ messages }) =>
    messages.flatMap(({ role, text }) => (role === "result" ? [text] : [])),
  )
  const said = (word: string) => results.some((text) => text.includes(word))
  assert.deepEqual([said("KEY=1"), said("fine")], [false, true])
})

test("a redirection through a link that leads out is no writing inside, whatever the mode allows there", async (t) => {
  const elsewhere = await mkdtemp(join(tmpdir(), "legwork-outside-"))
  t.after(() => remove(elsewhere, { recursive: true }))
  const place = await stage(t, calling(bash("echo in > in.txt"), bash("echo out > link/out.txt")), {})
  await symlink(elsewhere, join(place.work, "link"))
  await place.go([...args, "--permission-mode", "acceptEdits"])
  assert.deepEqual([await place.file("in.txt"), await readdir(elsewhere)], ["in\n", []])
})
