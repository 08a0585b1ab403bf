import assert from "node:assert/strict"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { HookEvent, Moment } from "../../src/core/hook.ts"
import { hooks } from "../../src/hooks/run.ts"
import { nameOf, readHooks } from "../../src/hooks/settings.ts"
import { bash, denial, fire, from, hook, moment, prints, world } from "./fire.ts"

const never = new AbortController().signal
const quiet = { notes: [] }
const named = (event: HookEvent, command: string) => `the ${nameOf(hook(event, command))}`

/** What a hook is told at a moment, by a hook that hands it back. */
async function told(at: Moment, mode = "default") {
  const file = join(await mkdtemp(join(tmpdir(), "legwork-hook-")), "input")
  try {
    assert.deepEqual(await hooks([hook(at.event, `cat >"${file}"`)], { ...world, mode }).fire(at, never), quiet)
    return JSON.parse(await readFile(file, "utf8"))
  } finally {
    await rm(join(file, ".."), { recursive: true })
  }
}

const common = (event: HookEvent) => ({
  session_id: "s1",
  transcript_path: "/state/s1.jsonl",
  cwd: tmpdir(),
  permission_mode: "default",
  hook_event_name: event,
})

test("before and after a tool a hook is told which, with what, and for whom", async () => {
  const agent = { id: "run-2", type: "explore" }
  const before = {
    ...common("PreToolUse"),
    tool_name: "Bash",
    legwork_tool_name: "bash",
    tool_input: { command: "ls" },
    tool_use_id: "c1",
  }
  assert.deepEqual(await told({ event: "PreToolUse", tool: bash }), before)
  assert.deepEqual(await told({ event: "PostToolUse", tool: { ...bash, response: { ok: true } }, agent }), {
    ...before,
    hook_event_name: "PostToolUse",
    tool_response: { ok: true },
    agent_id: "run-2",
    agent_type: "explore",
  })
})

test("a tool that Claude Code has no name for is told by ours", async () => {
  const tool = { name: "mcp__a__b", aliases: [], input: {}, id: "c2" }
  assert.deepEqual(await told({ event: "PreToolUse", tool }), {
    ...common("PreToolUse"),
    tool_name: "mcp__a__b",
    legwork_tool_name: "mcp__a__b",
    tool_input: {},
    tool_use_id: "c2",
  })
})

test("at other events a hook is told what belongs to them", async () => {
  const agent = { id: "run-2", type: "explore" }
  const child = { agent_id: "run-2", agent_type: "explore" }
  const rows: [Moment, object][] = [
    [{ event: "SessionStart", source: "resume" }, { source: "resume" }],
    [{ event: "UserPromptSubmit", prompt: "do it" }, { prompt: "do it" }],
    [{ event: "SubagentStart", agent }, child],
    [
      { event: "SubagentStop", agent, stopActive: true },
      { ...child, stop_hook_active: true },
    ],
    [{ event: "Stop" }, { stop_hook_active: false }],
    [{ event: "SessionEnd", reason: "other" }, { reason: "other" }],
  ]
  for (const [at, more] of rows) assert.deepEqual(await told(at), { ...common(at.event), ...more })
})

test("a mode is told in Claude's word for it", async () => {
  assert.equal((await told({ event: "Stop" }, "bypass")).permission_mode, "bypassPermissions")
  assert.equal((await told({ event: "Stop" }, "acceptEdits")).permission_mode, "acceptEdits")
})

test("a hook runs in the session's folder and knows it, with the given environment and no start-up files", async (t) => {
  const home = await mkdtemp(join(tmpdir(), "legwork-home-"))
  t.after(() => rm(home, { recursive: true }))
  for (const name of [".bashrc", ".bash_profile", ".profile"]) await writeFile(join(home, name), "echo started up")
  const command = 'echo "$PWD $CLAUDE_PROJECT_DIR $LEGWORK_PROJECT_DIR"; env | cut -d= -f1 | sort | tr "\\n" " "'
  assert.deepEqual(await fire([hook("SessionStart", command)], { env: { ...world.env, HOME: home }, cwd: home }), {
    context: `${home} ${home} ${home}\nCLAUDE_PROJECT_DIR HOME LEGWORK_PROJECT_DIR PATH PWD SHLVL _`,
    notes: [],
  })
})

test("a program with arguments gets them as they are written", async () => {
  const args = ["%s|", "a b", "it's", "$HOME `id`", "$" + "{CLAUDE_PROJECT_DIR}/x"]
  const { hooks: list } = readHooks({ SessionStart: [{ hooks: [{ type: "command", command: "printf", args }] }] }, from)
  assert.deepEqual(await fire(list), { context: `a b|it's|$HOME \`id\`|${tmpdir()}/x|`, notes: [] })
})

test("a hook that says nothing decides nothing", async () => {
  for (const command of ["true", "echo just talking", "echo talking >&2", prints({}), prints({ suppressOutput: true })])
    assert.deepEqual(await fire([hook("PreToolUse", command)]), quiet)
})

test("exit 2 blocks, and standard error is the reason", async () => {
  const command = `${prints({ decision: "approve" })}; echo 'not on a Friday' >&2; exit 2`
  for (const event of ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"] as const)
    assert.deepEqual(await fire([hook(event, command)]), { decision: "deny", reason: "not on a Friday", notes: [] })
})

test("a block without a reason says who blocked", async () => {
  for (const command of ["exit 2", prints({ decision: "block", reason: "" })])
    assert.deepEqual(await fire([hook("PreToolUse", command)]), {
      decision: "deny",
      reason: `${named("PreToolUse", command)} said no and gave no reason`,
      notes: [],
    })
})

test("where nothing can be blocked, a block is a note", async () => {
  for (const event of ["SubagentStart", "SessionStart", "SessionEnd"] as const) {
    const command = "echo no >&2; exit 2"
    const note = `${named(event, command)} said no (no), which has no effect at ${event}`
    assert.deepEqual(await fire([hook(event, command)]), { notes: [note] })
    assert.deepEqual(await fire([hook(event, prints({ decision: "approve" }))]), quiet)
  }
})

test("a hook is named by its event, the beginning of its command, and where it stands", () => {
  assert.equal(nameOf(hook("Stop", "./check.sh")), 'Stop hook "./check.sh" of settings.json')
  assert.equal(nameOf(hook("Stop", "x".repeat(81))), `Stop hook "${"x".repeat(80)}…" of settings.json`)
})

test("any other exit denies before a tool and is a note elsewhere, with the first line of standard error", async () => {
  const command = "echo one >&2; echo two >&2; exit 1"
  assert.deepEqual(await fire([hook("PreToolUse", command)]), denial(command, "exited with code 1: one"))
  assert.deepEqual(await fire([hook("PreToolUse", "exit 3")]), denial("exit 3", "exited with code 3"))
  for (const event of ["PostToolUse", "UserPromptSubmit", "Stop", "SubagentStart", "SessionEnd"] as const)
    assert.deepEqual(await fire([hook(event, command)]), {
      notes: [`${named(event, command)} exited with code 1: one`],
    })
})

test("a hook can allow, deny or ask", async () => {
  for (const permissionDecision of ["allow", "deny", "ask"] as const) {
    const hookSpecificOutput = {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: "as I said",
    }
    assert.deepEqual(await fire([hook("PreToolUse", prints({ hookSpecificOutput }))]), {
      decision: permissionDecision,
      reason: "as I said",
      notes: [],
    })
  }
  const bare = prints({ hookSpecificOutput: { permissionDecision: "ask" } })
  assert.deepEqual(await fire([hook("PreToolUse", bare)]), { decision: "ask", notes: [] })
})

test("the older words for a decision are understood", async () => {
  const blocks = prints({ decision: "block", reason: "no" })
  for (const event of ["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"] as const)
    assert.deepEqual(await fire([hook(event, blocks)]), { decision: "deny", reason: "no", notes: [] })
  assert.deepEqual(await fire([hook("PreToolUse", prints({ decision: "approve", reason: "fine" }))]), {
    decision: "allow",
    reason: "fine",
    notes: [],
  })
})

test("a hook that says two things means the stricter one", async () => {
  const reply = { decision: "block", reason: "no", hookSpecificOutput: { permissionDecision: "allow" } }
  assert.deepEqual(await fire([hook("PreToolUse", prints(reply))]), { decision: "deny", reason: "no", notes: [] })
})

test("null is as good as nothing", async () => {
  const hookSpecificOutput = { hookEventName: null, permissionDecision: null, updatedInput: null }
  const reply = { continue: null, decision: null, reason: null, systemMessage: null, hookSpecificOutput }
  assert.deepEqual(await fire([hook("PreToolUse", prints(reply))]), quiet)
  assert.deepEqual(await fire([hook("PreToolUse", prints({ hookSpecificOutput: null }))]), quiet)
})

test("a hook can change the input, with or without a decision", async () => {
  const updatedInput = { command: "ls -l", deep: [null, { a: 1 }] }
  assert.deepEqual(await fire([hook("PreToolUse", prints({ hookSpecificOutput: { updatedInput } }))]), {
    input: updatedInput,
    notes: [],
  })
  const hookSpecificOutput = { permissionDecision: "allow", updatedInput }
  assert.deepEqual(await fire([hook("PreToolUse", prints({ hookSpecificOutput }))]), {
    decision: "allow",
    input: updatedInput,
    notes: [],
  })
})

test("an input that was changed for a call that is denied is dropped", async () => {
  const changes = prints({ hookSpecificOutput: { updatedInput: { command: "ls -l" } } })
  const denies = prints({ hookSpecificOutput: { permissionDecision: "deny", updatedInput: { command: "x" } } })
  assert.deepEqual(await fire([hook("PreToolUse", changes), hook("PreToolUse", denies)]), {
    decision: "deny",
    reason: `${named("PreToolUse", denies)} said no and gave no reason`,
    notes: [],
  })
})

test("if several hooks change the input, the last in the settings counts, and people are told", async () => {
  const change = (command: string) => prints({ hookSpecificOutput: { updatedInput: { command } } })
  const [slow, fast] = [`sleep 0.1; ${change("slow")}`, change("fast")]
  const note = (winner: string) =>
    `several hooks changed the input of one call; what ${named("PreToolUse", winner)} said counts`
  assert.deepEqual(await fire([hook("PreToolUse", slow), hook("PreToolUse", fast)]), {
    input: { command: "fast" },
    notes: [note(fast)],
  })
  assert.deepEqual(await fire([hook("PreToolUse", fast), hook("PreToolUse", slow)]), {
    input: { command: "slow" },
    notes: [note(slow)],
  })
})

test("a permission or an input has no effect but before a tool, and people are told", async () => {
  const command = prints({ hookSpecificOutput: { permissionDecision: "deny", updatedInput: {} } })
  const vain = (what: string) => `${named("PostToolUse", command)} gave ${what}, which has no effect at PostToolUse`
  assert.deepEqual(await fire([hook("PostToolUse", command)]), {
    notes: [vain("a permissionDecision"), vain("an updatedInput")],
  })
})

test("a hook can add to what the model sees", async () => {
  for (const event of ["PreToolUse", "PostToolUse", "SubagentStart", "UserPromptSubmit"] as const) {
    const hookSpecificOutput = { hookEventName: event, additionalContext: "it is Friday" }
    assert.deepEqual(await fire([hook(event, prints({ hookSpecificOutput }))]), {
      context: "it is Friday",
      notes: [],
    })
  }
})

test("plain words are for the model at a prompt and at the start, and for nobody elsewhere", async () => {
  for (const event of ["UserPromptSubmit", "SessionStart"] as const)
    assert.deepEqual(await fire([hook(event, "echo; echo branch main")]), { context: "branch main", notes: [] })
  for (const event of ["PreToolUse", "PostToolUse", "Stop", "SessionEnd"] as const)
    assert.deepEqual(await fire([hook(event, "echo branch main")]), quiet)
})

test("a hook can end the run, and before a tool the call with it", async () => {
  const command = prints({ continue: false, stopReason: "out of office", systemMessage: "bye" })
  assert.deepEqual(await fire([hook("PostToolUse", command)]), { stop: "out of office", notes: ["bye"] })
  assert.deepEqual(await fire([hook("PreToolUse", command)]), {
    decision: "deny",
    reason: "out of office",
    stop: "out of office",
    notes: ["bye"],
  })
  const bare = prints({ continue: false })
  assert.deepEqual(await fire([hook("Stop", bare)]), { stop: `${named("Stop", bare)} ended the run`, notes: [] })
})

test("a long text is cut, and says so", async () => {
  const said = await fire([hook("SessionStart", "head -c 12000 /dev/zero | tr '\\0' x")])
  assert.deepEqual(said, {
    context: `${"x".repeat(10_000)}\n[the hook said 12000 characters, and only the first 10000 are shown]`,
    notes: [],
  })
})

test("texts of several hooks come in the order of the settings", async () => {
  const list = ["sleep 0.1; echo one", "echo two", "echo three"].map((command) => hook("SessionStart", command))
  assert.deepEqual(await fire(list), { context: "one\ntwo\nthree", notes: [] })
})

test("hooks of one moment run side by side", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "legwork-hook-"))
  t.after(() => rm(folder, { recursive: true }))
  const meets = (own: string, other: string) =>
    `: >"${folder}/${own}"; until [ -e "${folder}/${other}" ]; do sleep 0.01; done; echo met`
  assert.deepEqual(await fire([hook("SessionStart", meets("a", "b")), hook("SessionStart", meets("b", "a"))]), {
    context: "met\nmet",
    notes: [],
  })
})

test("the same command in two places is run once", async () => {
  const twice = hook("SessionStart", "echo here")
  assert.deepEqual(await fire([twice, hook("SessionStart", "echo there"), { ...twice, from: "other.json" }]), {
    context: "here\nthere",
    notes: [],
  })
})

test("only hooks of the event whose matcher fits are run", async () => {
  const says = (event: HookEvent, matcher: string) =>
    hook(event, `${prints({ systemMessage: matcher })} # ${event}`, { matcher })
  const list = (
    ["PreToolUse", "SubagentStop", "SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"] as const
  ).flatMap((event) =>
    ["Bash", "shell", "Edit|Write", "^E", "Explore", "startup", "other", ""].map((matcher) => says(event, matcher)),
  )
  const all = hooks(list, world)
  const notes = async (at: Moment) => (await all.fire(at, never)).notes
  assert.deepEqual(await notes(moment("PreToolUse")), ["Bash", "shell"])
  assert.deepEqual(await notes({ event: "SubagentStop", agent: { id: "r", type: "explore" } }), ["^E", "Explore"])
  assert.deepEqual(await notes({ event: "SessionStart", source: "startup" }), ["startup"])
  assert.deepEqual(await notes({ event: "SessionEnd", reason: "other" }), ["other"])
  const any = ["Bash", "shell", "Edit|Write", "^E", "Explore", "startup", "other"]
  assert.deepEqual(await notes({ event: "UserPromptSubmit", prompt: "hi" }), any)
  assert.deepEqual(await notes({ event: "Stop" }), any)
})

test("an entry that could not be read denies what it may have guarded", async () => {
  const { hooks: list } = readHooks(
    { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "http", url: "http://x" }] }] },
    from,
  )
  const note = `the PreToolUse hook of ${from} cannot be read (hooks.PreToolUse[0].hooks[0]: type must be "command"; hooks of other types are not run here)`
  assert.deepEqual(await fire(list), {
    decision: "deny",
    reason: `not done, because ${note}; the user has to mend or remove it`,
    notes: [note],
  })
  assert.deepEqual(
    await fire(list, { moment: { tool: { name: "read", aliases: ["Read"], input: {}, id: "c" } } }),
    quiet,
  )
})

test("entries that could not be read are told one by one", async () => {
  const { hooks: list } = readHooks({ PreToolUse: [{ hooks: [1, 2, { type: "command", command: "true" }] }] }, from)
  const note = (at: number) =>
    `the PreToolUse hook of ${from} cannot be read (hooks.PreToolUse[0].hooks[${at}]: must be an object with type and command)`
  assert.deepEqual((await fire(list)).notes, [note(0), note(1)])
})

test("without hooks a moment costs nothing", async () => {
  const some = hooks([hook("Stop", "true"), hook("PreToolUse", "true", { matcher: "Edit" })], world)
  const first = await some.fire({ event: "SessionEnd" }, never)
  assert.deepEqual(first, quiet)
  assert.equal(await some.fire(moment("PreToolUse"), never), first)
  assert.equal(await hooks([], world).fire(moment("PreToolUse"), never), first)
  assert.deepEqual(
    (["Stop", "PreToolUse", "PostToolUse"] as const).map((event) => some.has(event)),
    [true, true, false],
  )
})
