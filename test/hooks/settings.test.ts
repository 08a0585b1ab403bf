import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { HookEvent } from "../../src/core/hook.ts"
import { type Hook, readHooks } from "../../src/hooks/settings.ts"

const from = "settings.json"
const hook = (event: HookEvent, more: Partial<Hook> = {}): Hook => ({
  event,
  matcher: "",
  command: "true",
  timeout: 60_000,
  from,
  ...more,
})
const broken = (what: string, matcher = ""): Hook => hook("PreToolUse", { matcher, command: "", broken: what })
const denied = (what: string) => ({ message: `${what}; until it is put right, the calls that it may guard are denied` })
const entry = { type: "command", command: "true" }

test("every event is read, with its matchers, commands and timeouts in order", () => {
  const value = {
    SessionStart: [{ matcher: "startup", hooks: [entry] }],
    UserPromptSubmit: [{ hooks: [entry] }],
    PreToolUse: [
      {
        matcher: "Bash",
        hooks: [
          { ...entry, timeout: 5 },
          { type: "command", command: "./second" },
        ],
      },
      { matcher: "*", hooks: [{ ...entry, timeout: 0.5, statusMessage: "looking" }] },
    ],
    PostToolUse: [{ matcher: "Edit|Write", hooks: [entry] }],
    SubagentStart: [{ matcher: null, hooks: [entry] }],
    SubagentStop: [{ hooks: [entry] }],
    Stop: [{ hooks: [] }, { hooks: [entry] }],
    SessionEnd: [{ hooks: [entry] }],
  }
  assert.deepEqual(readHooks(value, from), {
    hooks: [
      hook("SessionStart", { matcher: "startup" }),
      hook("UserPromptSubmit"),
      hook("PreToolUse", { matcher: "Bash", timeout: 5_000 }),
      hook("PreToolUse", { matcher: "Bash", command: "./second" }),
      hook("PreToolUse", { matcher: "*", timeout: 500 }),
      hook("PostToolUse", { matcher: "Edit|Write" }),
      hook("SubagentStart"),
      hook("SubagentStop"),
      hook("Stop"),
      hook("SessionEnd"),
    ],
    problems: [],
  })
})

test("no hooks are no problem", () => {
  for (const value of [undefined, null, {}, [], { PreToolUse: [] }, { PreToolUse: null }])
    assert.deepEqual(readHooks(value, from), { hooks: [], problems: [] })
})

test("an event's name is read in any case", () => {
  assert.deepEqual(readHooks({ preToolUse: [{ hooks: [entry] }] }, from), { hooks: [hook("PreToolUse")], problems: [] })
})

test("events that only Claude Code has are told as never happening", () => {
  assert.deepEqual(readHooks({ Notification: [{ hooks: [entry] }], PreCompact: "?", PostToolUseFailure: [] }, from), {
    hooks: [],
    problems: [
      { message: "hooks.Notification: there is no such event here, so its hooks never run" },
      { message: "hooks.PreCompact: there is no such event here, so its hooks never run" },
      { message: "hooks.PostToolUseFailure: there is no such event here, so its hooks never run" },
    ],
  })
})

test("an event that nobody knows is told and left out, but one that is nearly PreToolUse denies", () => {
  const meant = "hooks.PreTolUse: there is no such event; perhaps PreToolUse was meant"
  assert.deepEqual(readHooks({ Subagentstopp: [], Whenever: [{ hooks: [entry] }], PreTolUse: [] }, from), {
    hooks: [broken(meant)],
    problems: [
      { message: "hooks.Subagentstopp: there is no such event; perhaps SubagentStop was meant; it is left out" },
      {
        message:
          "hooks.Whenever: there is no such event; there are SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, SubagentStart, SubagentStop, Stop, SessionEnd; it is left out",
      },
      denied(meant),
    ],
  })
})

const command = "must be text that a shell can run"
const unreadable: [string, unknown, string, string][] = [
  ["a group that is no object", ["Bash"], "[0]: must be an object with matcher and hooks", ""],
  [
    "a matcher that is no text",
    [{ matcher: ["Bash"], hooks: [entry] }],
    "[0]: matcher must be text, such as Bash or Edit|Write",
    "",
  ],
  [
    "a group without a list",
    [{ matcher: "Bash", ...entry }],
    "[0]: hooks must be a list of objects with type and command",
    "Bash",
  ],
  ["no list of groups", { hooks: [entry] }, ": must be a list of objects that have hooks", ""],
  [
    "an entry that is no object",
    [{ matcher: "Bash", hooks: ["true"] }],
    "[0].hooks[0]: must be an object with type and command",
    "Bash",
  ],
  ["no command", [{ hooks: [{ type: "command" }] }], `[0].hooks[0]: command ${command}`, ""],
  ["an empty command", [{ hooks: [{ type: "command", command: " " }] }], `[0].hooks[0]: command ${command}`, ""],
  [
    "a command that no shell takes",
    [{ hooks: [{ ...entry, command: "a\0b" }] }],
    `[0].hooks[0]: command ${command}`,
    "",
  ],
  [
    "another type",
    [{ matcher: "Edit", hooks: [{ type: "prompt", prompt: "?" }] }],
    '[0].hooks[0]: type must be "command"; hooks of other types are not run here',
    "Edit",
  ],
  ["another shell", [{ hooks: [{ ...entry, shell: "powershell" }] }], '[0].hooks[0]: shell must be "bash"', ""],
  ["arguments that are none", [{ hooks: [{ ...entry, args: [1] }] }], "[0].hooks[0]: args must be a list of texts", ""],
]

for (const [what, groups, message, matcher] of unreadable)
  test(`${what}: denies before a tool and is left out elsewhere`, () => {
    assert.deepEqual(readHooks({ PreToolUse: groups }, from), {
      hooks: [broken(`hooks.PreToolUse${message}`, matcher)],
      problems: [denied(`hooks.PreToolUse${message}`)],
    })
    assert.deepEqual(readHooks({ Stop: groups }, from), {
      hooks: [],
      problems: [{ message: `hooks.Stop${message}; it is left out` }],
    })
  })

test("hooks that are no object at all may have held a guard", () => {
  for (const value of ["x", 7, [{ event: "PreToolUse" }]])
    assert.deepEqual(readHooks(value, from), {
      hooks: [broken("hooks: must be an object of events")],
      problems: [denied("hooks: must be an object of events")],
    })
})

test("what is next to an unreadable entry still counts", () => {
  const { hooks } = readHooks({ PreToolUse: [{ hooks: [7, entry] }], Stop: [7, { hooks: [entry] }] }, from)
  assert.deepEqual(hooks, [
    broken("hooks.PreToolUse[0].hooks[0]: must be an object with type and command"),
    hook("PreToolUse"),
    hook("Stop"),
  ])
})

test("a timeout that is none is told, and none is longer than a timer can count", () => {
  const read = (timeout: unknown) => readHooks({ Stop: [{ hooks: [{ ...entry, timeout }] }] }, from)
  for (const timeout of [0, -1, "5", Number.NaN, {}])
    assert.deepEqual(read(timeout), {
      hooks: [hook("Stop")],
      problems: [{ message: "hooks.Stop[0].hooks[0]: timeout must be a number of seconds above 0; it is 60 now" }],
    })
  assert.deepEqual(read(1e9), { hooks: [hook("Stop", { timeout: 2 ** 31 - 1 })], problems: [] })
  assert.deepEqual(read(1e-9), { hooks: [hook("Stop", { timeout: 1 })], problems: [] })
})

test("a matcher that fits no tool or every tool by mistake is told", () => {
  const value = {
    PreToolUse: ["mcp__memory", "Bash|mcp__a-b", "(", "mcp__memory__.*", "mcp__a__b"].map((matcher) => ({
      matcher,
      hooks: [],
    })),
  }
  assert.deepEqual(readHooks(value, from), {
    hooks: [],
    problems: [
      {
        message:
          "hooks.PreToolUse[0].matcher: mcp__memory is no tool; all tools of that server are written mcp__memory__.*",
      },
      {
        message: "hooks.PreToolUse[1].matcher: mcp__a-b is no tool; all tools of that server are written mcp__a-b__.*",
      },
      { message: "hooks.PreToolUse[2].matcher: is no regular expression, so the hook runs for every tool" },
    ],
  })
})

test("a program with arguments becomes a command that passes them on as they are", () => {
  const args = ["a b", "it's", "$HOME", "$" + "{CLAUDE_PROJECT_DIR}/x"]
  assert.deepEqual(readHooks({ Stop: [{ hooks: [{ ...entry, command: "node", args }] }] }, from), {
    hooks: [hook("Stop", { command: `'node' 'a b' 'it'\\''s' '$HOME' ''"$CLAUDE_PROJECT_DIR"'/x'` })],
    problems: [],
  })
})

test("fields that have no effect here are told", () => {
  const hooks = [
    { ...entry, if: "Bash(git *)" },
    { ...entry, async: true },
  ]
  assert.deepEqual(readHooks({ PostToolUse: [{ hooks }] }, from), {
    hooks: [hook("PostToolUse"), hook("PostToolUse")],
    problems: [
      { message: "hooks.PostToolUse[0].hooks[0]: if is not read here; the hook runs for all that its matcher fits" },
      { message: "hooks.PostToolUse[0].hooks[1]: async has no effect here; the hook is waited for" },
    ],
  })
})

test("whatever stands there, reading it does not throw, and what is under PreToolUse is run or denies", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      readHooks(value, from)
      const { hooks } = readHooks({ PreToolUse: [{ hooks: [value] }] }, from)
      assert.equal(hooks.length, 1)
    }),
  )
})
