import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { join, resolve } from "node:path"
import { type TestContext, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import { call, type Script } from "../../src/testing.ts"
import { chain, children, type Hook, hears, hooksOf, promptIn, prompts, says, stage } from "./chain.ts"

const args = ["-p", "go", "--model", "anthropic/any", "--output-format", "json"]
const bypass = [...args, "--permission-mode", "bypass"]

const before = (decision: object): string => says({ hookSpecificOutput: { hookEventName: "PreToolUse", ...decision } })

const events = [
  ...["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
  ...["SubagentStart", "SubagentStop", "Stop", "SessionEnd"],
]

test("hooks hear the same at every depth, with the right ids and names", async (t) => {
  const hooks = events.map((event) => ({ event, command: hears }))
  const script = chain(call("bash", { command: "echo hi" }))
  const { go, heard, work, state, server } = await stage(t, script, { hooks })
  const { sessionId, runs } = JSON.parse((await go(bypass)).stdout)
  const [lead, code] = runs.slice(1).map(({ id, agent }: { id: string; agent: string }) => ({
    agent_id: id,
    agent_type: agent,
  }))
  assert.deepEqual([lead.agent_type, code.agent_type], ["lead", "code"])
  const result = (depth: number) =>
    server.requests.findLast((asked) => promptIn(asked) === prompts[depth])!.messages.at(-1)!.text
  const bash = { tool_name: "Bash", legwork_tool_name: "bash", tool_use_id: "call_1_1" }
  const echoed = { command: "echo hi", timeout: 120_000 }
  type Told = [event: string, more: object]
  const ran = (who: object): Told[] => [
    ["PreToolUse", { ...who, ...bash, tool_input: echoed }],
    ["PostToolUse", { ...who, ...bash, tool_input: echoed, tool_response: { ok: true, text: "hi" } }],
  ]
  const task = { tool_name: "Task", legwork_tool_name: "task", tool_use_id: "call_2_1" }
  const handed = (who: object, depth: number, inside: Told[]): Told[] => {
    const about = { ...who, ...task, tool_input: { prompt: prompts[depth + 1], subagent_type: children[depth] } }
    return [
      ["PreToolUse", about],
      ...inside,
      ["PostToolUse", { ...about, tool_response: { ok: true, text: result(depth) } }],
    ]
  }
  const child = (who: object, inside: Told[]): Told[] => [
    ["SubagentStart", who],
    ...inside,
    ["SubagentStop", { ...who, stop_hook_active: false }],
  ]
  const below = child(lead, [...ran(lead), ...handed(lead, 1, child(code, ran(code)))])
  const expected: Told[] = [
    ["SessionStart", { source: "startup" }],
    ["UserPromptSubmit", { prompt: "go" }],
    ...ran({}),
    ...handed({}, 0, below),
    ["Stop", { stop_hook_active: false }],
    ["SessionEnd", { reason: "exit" }],
  ]
  const always = {
    session_id: sessionId,
    transcript_path: join(state, `legwork/sessions/${sessionId}.jsonl`),
    cwd: work,
    permission_mode: "bypassPermissions",
  }
  assert.deepEqual(
    await heard(),
    expected.map(([event, more]) => ({ ...always, hook_event_name: event, ...more })),
  )
  assert.deepEqual(server.refused, [])
})

const touch = call("bash", { command: "touch made" })
const guard = (command: string, more: Partial<Hook> = {}): Hook => ({
  event: "PreToolUse",
  matcher: "Bash",
  command,
  ...more,
})
/** What a hook says to a command that makes a file, and what comes of it. `said`: what people see, once for each depth. */
type Case = { hooks: Hook[]; told: RegExp | string; made?: true; args?: string[]; settings?: object; said?: RegExp }

const refusedAs = (words: string) => `not permitted: a hook refused it: ${words}`
const allows = guard(before({ permissionDecision: "allow" }))
const noted = (event: string, what: string) =>
  new RegExp(`the ${event} hook "sleep 1000" of \\S+/config/legwork/settings\\.json ${what}`, "gm")
const slow = "did not end within 0\\.3s and was stopped"

const cases: Record<string, Case> = {
  "one that exits with 2 blocks, and the model is told its words": {
    hooks: [guard("echo not on Sundays >&2; exit 2")],
    told: refusedAs("not on Sundays"),
  },
  "one that denies blocks, whatever others allow": {
    hooks: [allows, guard(before({ permissionDecision: "deny", permissionDecisionReason: "not today" }))],
    told: refusedAs("not today"),
  },
  "one that hangs is stopped at its timeout and denies": {
    hooks: [guard("sleep 1000", { timeout: 0.3 })],
    told: noted("PreToolUse", `${slow}; the user has to mend or remove it$`),
    said: noted("PreToolUse", `${slow}$`),
  },
  "one that prints garbage denies": {
    hooks: [guard("echo '{ nonsense'")],
    told: /^not permitted: a hook refused it: not done, because .* printed what looks like JSON and is not; /,
  },
  "one that is not there denies": {
    hooks: [guard("./nowhere/guard.sh")],
    told: /^not permitted: a hook refused it: not done, because .* exited with code 127: /,
  },
  "one that changes the input has the changed command run": {
    hooks: [guard(before({ updatedInput: { command: "echo instead" } }))],
    told: "instead",
  },
  "a changed input is checked anew: one that no tool understands is not run": {
    hooks: [guard(before({ updatedInput: { file: "made" } }))],
    told: /^a hook changed the input to something unusable: /,
  },
  "one that allows gets past no rule that asks": {
    hooks: [allows],
    args,
    settings: { permissions: { ask: ["Bash(touch *)"] } },
    told: /^not permitted: nobody is there to permit it /,
  },
  "a changed input is judged anew: what rules deny stays denied": {
    hooks: [guard(before({ permissionDecision: "allow", updatedInput: { command: "rm -f made" } }))],
    settings: { permissions: { deny: ["Bash(rm *)"] } },
    told: "not permitted: the rule bash(rm *) denies it; go on without it, and say so",
  },
  "one that allows spares a question": { hooks: [allows], args, told: "(no output)", made: true },
  "one that allows does not get past a rule that denies": {
    hooks: [allows],
    settings: { permissions: { deny: ["Bash(touch *)"] } },
    told: "not permitted: the rule bash(touch *) denies it; go on without it, and say so",
  },
  "one that allows does not get past plan mode": {
    hooks: [allows],
    args: [...args, "--permission-mode", "plan"],
    told: /Read-only file system|may only run inside a sandbox/,
  },
  "one that asks has a person asked, in any mode; with nobody there it is refused": {
    hooks: [guard(before({ permissionDecision: "ask" }))],
    told: "not permitted: nobody is there to permit it (run touch made); go on without it and say so",
  },
  "what one adds after a call stands below its result": {
    hooks: [{ event: "PostToolUse", command: says({ hookSpecificOutput: { additionalContext: "mind the docs" } }) }],
    told: "(no output)\n\nmind the docs",
    made: true,
  },
  "one that hangs after a call is stopped and reported, and changes nothing": {
    hooks: [guard("sleep 1000", { event: "PostToolUse", timeout: 0.3 })],
    told: "(no output)",
    made: true,
    said: noted("PostToolUse", `${slow}$`),
  },
  "one for other tools, by either name, is not run": {
    hooks: [guard("exit 2", { matcher: "Edit|read" }), guard("exit 2", { matcher: "BashOutput" })],
    told: "(no output)",
    made: true,
  },
}

for (const [what, { hooks, told: expected, made, args = bypass, settings = {}, said }] of Object.entries(cases)) {
  test(`a hook counts the same at every depth: ${what}`, async (t) => {
    const { go, told, work } = await stage(t, chain(touch), { hooks, settings })
    const ran = await go(args)
    assert.equal(ran.code, 0, ran.stderr)
    const [[text = ""] = []] = told()
    assert.deepEqual(told(), [[text], [text], [text]])
    if (typeof expected === "string") assert.equal(text, expected)
    else assert.match(text, expected)
    assert.deepEqual(await readdir(work), made ? ["made"] : [])
    if (said) assert.equal(ran.stderr.match(said)?.length, prompts.length, ran.stderr)
  })
}

test("what hooks add at the start of a session, to a prompt and to a child's task reaches the model", async (t) => {
  const adds = (event: string, text: string): Hook => ({
    event,
    command: says({ hookSpecificOutput: { hookEventName: event, additionalContext: text } }),
  })
  const hooks = [
    { event: "SessionStart", command: "echo it is Monday" },
    adds("UserPromptSubmit", "answer in French"),
    adds("SubagentStart", "you are watched"),
  ]
  const { go, server } = await stage(t, chain(), { hooks })
  await go(bypass)
  const first = (prompt: string) => server.requests.find((asked) => promptIn(asked) === prompt)!.messages[0]!.text
  assert.deepEqual(prompts.map(first), [
    "go\n\nit is Monday\n\nanswer in French",
    "one\n\nyou are watched",
    "two\n\nyou are watched",
  ])
})

test("a hook that allows makes no read-only agent write, nor what it starts", async (t) => {
  const hooks = [{ event: "PreToolUse", command: before({ permissionDecision: "allow" }) }]
  const files = { "../config/legwork/agents/lead.md": "---\ndescription: d\nreadonly: true\n---\nYou look.\n" }
  const write = [call("write", { file_path: "made", content: "x" }), touch]
  const { go, told, work } = await stage(t, chain(...write), { hooks, files })
  await go(bypass)
  const [, lead, code] = told()
  for (const texts of [lead, code]) {
    assert.match(texts![0]!, /there is no tool named "write" here|not permitted: this (agent|run) is read-only/)
    assert.match(texts![1]!, /Read-only file system|there is no tool named "bash" here|^not permitted: /)
  }
  assert.deepEqual(await readdir(work), ["made"])
})

test("the hooks in an agent's own file run while that agent does, and for nobody else", async (t) => {
  const hooks = ["PreToolUse", "Stop"].map(
    (event) => `  ${event}:\n    - hooks: [{ type: command, command: ${JSON.stringify(hears)} }]`,
  )
  const files = {
    "../config/legwork/agents/lead.md": `---\ndescription: d\nhooks:\n${hooks.join("\n")}\n---\nYou lead.\n`,
  }
  const { go, heard } = await stage(t, chain(touch), { files })
  await go(bypass)
  assert.deepEqual(
    (await heard()).map(({ hook_event_name, tool_name, agent_type }) => [hook_event_name, tool_name, agent_type]),
    [
      ["PreToolUse", "Bash", "lead"],
      ["PreToolUse", "Task", "lead"],
      ["SubagentStop", undefined, "lead"],
    ],
  )
})

test("a hook that blocks the end makes the run go on with its words, at every depth", async (t) => {
  const once = `${hears}; tail -1 "$HOME/heard" | grep -q '"stop_hook_active":true' || { echo "you forgot the tests" >&2; exit 2; }`
  const hooks = ["Stop", "SubagentStop"].map((event) => ({ event, command: once }))
  const script: Script = (asked) => (asked.last === "you forgot the tests" ? "with tests" : chain()(asked, 0))
  const { go, heard, server } = await stage(t, script, { hooks })
  const { status, text } = JSON.parse((await go(bypass)).stdout)
  assert.deepEqual([status, text], ["completed", "with tests"])
  assert.deepEqual(
    (await heard()).map(({ hook_event_name, agent_type, stop_hook_active }) => [
      hook_event_name,
      agent_type,
      stop_hook_active,
    ]),
    [
      ...["code", "lead"].flatMap((agent) => [
        ["SubagentStop", agent, false],
        ["SubagentStop", agent, true],
      ]),
      ["Stop", undefined, false],
      ["Stop", undefined, true],
    ],
  )
  assert.deepEqual(server.refused, [])
})

test("a hook that blocks every end keeps the run going eight times, and then it ends", async (t) => {
  const hooks = [{ event: "Stop", command: "echo more >&2; exit 2" }]
  const { go, server } = await stage(t, ({ last }) => `heard ${last}`, { hooks, settings: { limits: { turns: 20 } } })
  const { status, text } = JSON.parse((await go(bypass)).stdout)
  assert.deepEqual([status, text, server.requests.length], ["completed", "heard more", 9])
})

test("a hook that blocks a prompt ends it at once with its words; no model hears of it", async (t) => {
  const hooks = [{ event: "UserPromptSubmit", command: "echo no swearing >&2; exit 2" }]
  const { go, server } = await stage(t, chain(), { hooks })
  const ran = await go(bypass)
  const { status, error, text } = JSON.parse(ran.stdout)
  const message = "a hook refused the prompt: no swearing"
  assert.deepEqual([ran.code, status, text, error], [1, "failed", "", { kind: "refused", message }])
  assert.match(ran.stderr, new RegExp(`^ {2}failed: ${message} · `, "m"))
  assert.deepEqual(server.requests, [])
})

test("a hook that stops the session at its start ends the prompt with its words; no model hears of it", async (t) => {
  const hooks = [{ event: "SessionStart", command: says({ continue: false, stopReason: "not on this machine" }) }]
  const { go, server } = await stage(t, chain(), { hooks })
  const { status, error } = JSON.parse((await go(args)).stdout)
  const message = "a hook refused the prompt: not on this machine"
  assert.deepEqual([status, error], ["failed", { kind: "refused", message }])
  assert.deepEqual(server.requests, [])
})

test("Claude's switch turns off the hooks of Claude's files, agents' too, and no others", async (t) => {
  const hook = (name: string) => hooksOf([{ event: "SessionStart", command: `touch "$HOME/${name}"` }])
  const agent = (name: string) =>
    `---\ndescription: d\nhooks: ${JSON.stringify(hooksOf([{ event: "SubagentStart", command: `touch "$HOME/${name}"` }]))}\n---\nx\n`
  const script: Script = ({ messages }) =>
    promptIn({ messages } as never) === "go" && messages.length === 1
      ? ["one", "two"].map((subagent_type) => call("task", { prompt: "p", subagent_type }))
      : "end"
  const { go, work } = await stage(t, script, {
    settings: { hooks: hook("ran-own") },
    files: {
      "../.claude/settings.json": JSON.stringify({ disableAllHooks: true, hooks: hook("ran-claude") }),
      "../.claude/agents/one.md": agent("ran-claude-agent"),
      "../config/legwork/agents/two.md": agent("ran-own-agent"),
    },
  })
  const ran = await go(bypass)
  assert.equal(ran.code, 0, ran.stderr)
  const names = await readdir(join(work, ".."))
  assert.deepEqual(names.filter((name) => name.startsWith("ran-")).sort(), ["ran-own", "ran-own-agent"])
})

test("what an agent writes in the workspace does not become what a hook runs, outside of the fence", async (t) => {
  for (const files of [{}, { "guard.sh": "true" }]) {
    const [file_path, content] = ["guard.sh", 'touch "$HOME/escaped"']
    const steps = [[call("read", { file_path })], [call("write", { file_path, content })], [touch]]
    const script: Script = ({ messages }) => steps[messages.filter(({ role }) => role === "assistant").length] ?? "end"
    const hooks = [{ event: "PreToolUse", matcher: "Bash", command: "sh guard.sh" }]
    const { go, work, told } = await stage(t, script, { hooks, files })
    await go(bypass)
    assert.match(told()[0]!.at(-1)!, /guard\.sh has changed since the session began; look at it, then start anew; /)
    assert.deepEqual([await readdir(work), existsSync(join(work, "../escaped"))], [["guard.sh"], false])
  }
})

/** The program with a hook that waits, at that moment; `waited` is the hook's process. */
async function pending(t: TestContext, hook: Hook, then: string) {
  const command = `[ -e "$HOME/pid" ] || { echo $$ > "$HOME/pid"; exec sleep 1000; }; ${then}`
  const place = await stage(t, chain(touch), { hooks: [{ ...hook, command }], settings: { limits: { depth: 0 } } })
  const more = ["-p", "go", "--model", "anthropic/any", "--permission-mode", "bypass", "--output-format", "stream-json"]
  const running = place.start(more, { env: place.server.env })
  const opened = await running.event(({ type }) => type === "run.opened")
  while (!/\n/.test(await place.file("../pid").catch(() => ""))) await setImmediate()
  const waiting = Number(await place.file("../pid"))
  t.after(() => isAlive(waiting) && process.kill(waiting, "SIGKILL"))
  assert.ok(opened.type === "run.opened")
  return { ...place, running, waiting, session: opened.session! }
}

/** What is dead and not buried yet does nothing. */
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))

for (const [what, then, made] of [
  ["refuses", "echo not now >&2; exit 2", []],
  ["has nothing to say", "true", ["made"]],
] as const) {
  test(`killed -9 while a hook thinks, the call waits for the hook again; it ${what}`, async (t) => {
    const { running, session, work, go } = await pending(t, guard(""), then)
    running.child.kill("SIGKILL")
    assert.equal((await running.done).signal, "SIGKILL")
    assert.deepEqual(await readdir(work), [])
    const ran = await go(["-r", session, "-p", ...bypass.slice(2)])
    assert.equal(ran.code, 0, ran.stderr)
    assert.deepEqual(await readdir(work), made)
  })
}

test("a hook does not outlive a program that was killed", async (t) => {
  const { running, waiting } = await pending(t, guard(""), "true")
  running.child.kill("SIGKILL")
  await running.done
  const deadline = performance.now() + 2_000
  while (isAlive(waiting) && performance.now() < deadline) await setImmediate()
  assert.equal(isAlive(waiting), false)
})

test("ctrl-c while a hook looks at a call ends the run, and the call is not made", async (t) => {
  const { running, work, waiting } = await pending(t, guard(""), "true")
  running.child.kill("SIGINT")
  assert.equal((await running.done).code, 130)
  assert.deepEqual([await readdir(work), isAlive(waiting)], [[], false])
})

test("ctrl-c while a hook looks at a prompt ends the run, and no model hears of it", async (t) => {
  const { running, server, waiting } = await pending(t, { event: "UserPromptSubmit", command: "" }, "true")
  running.child.kill("SIGINT")
  const deadline = performance.now() + 2_000
  while (isAlive(waiting) && performance.now() < deadline) await setImmediate()
  assert.equal(isAlive(waiting), false)
  assert.deepEqual([(await running.done).code, server.requests], [130, []])
})

test("a session that goes on tells hooks so, also without a new prompt", async (t) => {
  const hooks = ["SessionStart", "SessionEnd"].map((event) => ({ event, command: hears }))
  const { go, heard } = await stage(t, chain(), { hooks })
  const { sessionId } = JSON.parse((await go(bypass)).stdout)
  await go(["-r", sessionId, "-p", ...bypass.slice(2)])
  assert.deepEqual(
    (await heard()).map(({ hook_event_name, source }) => [hook_event_name, source]),
    [
      ["SessionStart", "startup"],
      ["SessionEnd", undefined],
      ["SessionStart", "resume"],
      ["SessionEnd", undefined],
    ],
  )
})

test("a guard of paths hears of the file, however the model spells its arguments", async (t) => {
  const guard = { event: "PreToolUse", matcher: "Read", command: `! grep -q '"file_path":"/[^"]*/.env"' || exit 2` }
  const spellings = [
    { file_path: ".env" },
    { path: ".env" },
    { path: "src/../.env" },
    { path: "x", file_path: "./.env" },
  ]
  const script: Script = ({ messages }) => (messages.length > 1 ? "end" : spellings.map((input) => call("read", input)))
  const { go, told, server } = await stage(t, script, { hooks: [guard], files: { ".env": "secret" } })
  await go(bypass)
  assert.deepEqual(
    told()[0]!.map((text) => text.replace(/ PreToolUse hook .*/, "")),
    spellings.map(() => "not permitted: a hook refused it: the"),
  )
  assert.deepEqual(server.refused, [])
})

test("what a hook adds before a call reaches the model", async (t) => {
  const hooks = [guard(before({ additionalContext: "mind the docs" }))]
  const { go, told } = await stage(t, chain(touch), { hooks })
  await go(bypass)
  assert.deepEqual(told().flat(), Array(3).fill("(no output)\n\nmind the docs"))
})

test("what a hook refused is listed by what it was", async (t) => {
  const { go } = await stage(t, chain(touch), {
    hooks: [guard("echo no >&2; exit 2")],
    settings: { limits: { depth: 0 } },
  })
  const { refused } = JSON.parse((await go(bypass)).stdout)
  assert.deepEqual(
    refused.map(({ what, why }: { what: string; why: string }) => [what, why]),
    [["run touch made", "a hook refused it: no"]],
  )
})

test("doctor lists the hooks, and what is wrong with some", async (t) => {
  const hooks = {
    ...hooksOf([guard("./check.sh"), { event: "Stop", command: "say done" }]),
    SessionEnd: [{ hooks: [{ type: "http" }] }],
  }
  const { run, work } = await stage(t, chain(), { settings: { hooks } })
  const file = resolve(work, "../config/legwork/settings.json")
  const findings: { what: string; state: string; said: string }[] = JSON.parse((await run(["doctor", "--json"])).stdout)
  assert.deepEqual(
    findings.filter(({ what }) => what === "hook"),
    [
      { what: "hook", state: "ok", said: `PreToolUse of Bash: ./check.sh   (${file})` },
      { what: "hook", state: "ok", said: `Stop: say done   (${file})` },
      {
        what: "hook",
        state: "note",
        said: `${file}: hooks.SessionEnd[0].hooks[0]: type must be "command"; hooks of other types are not run here; it is left out`,
      },
    ],
  )
})

test("doctor does not call a hook fine that denies every call", async (t) => {
  const { run } = await stage(t, chain(), { settings: { hooks: { PreToolUse: [{ hooks: [{ type: "http" }] }] } } })
  const findings: { what: string; state: string }[] = JSON.parse((await run(["doctor", "--json"])).stdout)
  assert.deepEqual(
    findings.filter(({ what, state }) => what === "hook" && state === "ok"),
    [],
  )
})
