import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, fail, type Reply, type Script, steps } from "../../src/testing.ts"
import { isChild, latch, turnsIn, until } from "./behind.ts"
import { calm, keys, stopped, talk } from "./screen.ts"

const task = (name: string, more: object = {}) =>
  call("task", { description: name, prompt: name, subagent_type: "explore", ...more })
const nameIn = ({ messages }: Asked): string => messages[0]!.text.split("\n")[0]!
const never = () => new Promise<Reply>(() => {})

/** The main agent starts them all at once, each does what is written for it, and then the main agent sums up. */
const crew =
  (children: Record<string, Script>, more: object = {}): Script =>
  (asked, n) => {
    if (isChild(asked)) return children[nameIn(asked)]!(asked, n)
    if (turnsIn(asked) > 0) return `the crew is back: ${asked.last}`
    return Object.keys(children).map((name) => task(name, more))
  }

const rowOf = (text: string, name: string): string =>
  text.split("\n").find((row) => row.includes(` ${name} · `) || row.includes(` ${name} (behind)`)) ??
  `no row of ${name}`
const wordOf = (text: string, name: string): string | undefined => /^[> ] +\S ([\w-]+) /.exec(rowOf(text, name))?.[1]

test("each agent has a row that says by word what it does, with its numbers; those in line are counted", async (t) => {
  const script = crew(
    {
      thinker: never,
      worker: steps<Asked>([call("bash", { command: "cat" })], never),
      asker: steps<Asked>([call("bash", { command: "mkdir x" })], never),
      again: () => fail("overloaded", "busy", { retryAfter: 60_000 }),
      limited: () => fail("rate_limit", "slower", { retryAfter: 60_000 }),
      late: never,
    },
    { subagent_type: "code" },
  )
  const settings = { limits: { parallel: 5 }, permissions: { allow: ["bash(cat)"] } }
  const { type, see, until } = await talk(t, script, { settings, columns: 120, rows: 50 })
  type("go\r")
  await see("1 queued")
  const names = ["thinker", "worker", "asker", "again", "limited"]
  const words = ["thinking", "tool", "asking", "retrying", "rate-limited"]
  const text = await until((text) => names.every((name, at) => wordOf(text, name) === words[at]), words.join(", "))
  assert.match(rowOf(text, "thinker"), /^ {2}∴ thinking {2}code thinker · 0 tools · 0 tokens · \$0\.00 · \d+s$/)
  assert.match(rowOf(text, "worker"), /^ {2}▸ tool {6}code worker · \d tools? · .* tokens · .* · \d+s · bash cat$/)
  assert.match(rowOf(text, "again"), /busy/)
  assert.match(rowOf(text, "limited"), /slower/)
})

test("children stand below their parents, whose numbers are told with and without them", async (t) => {
  const script: Script = (asked) => {
    if (!isChild(asked)) return turnsIn(asked) === 0 ? [task("lead", { subagent_type: "general" })] : "all"
    if (nameIn(asked) === "lead" && turnsIn(asked) === 0) return [task("scout")]
    return turnsIn(asked) === 0 ? [call("ls"), call("grep", { pattern: "x" })] : never()
  }
  const { type, see, rows } = await talk(t, script, { settings: { limits: { depth: 2 } }, columns: 120, rows: 40 })
  type("go\r")
  await see(/explore scout · 2 tools/)
  await see("✓ grep x")
  const at = rows().findIndex((row) => row.includes("general lead ·"))
  const panel = rows()
    .slice(at, at + 4)
    .map((row) => row.replace(/ · [\d.]+k? (\([^)]*\) )?tokens.*?\d+s(?= |$)/, ""))
  assert.deepEqual(panel, [
    "  ▸ tool      general lead · 0 (2) tools · task scout",
    "    ∴ thinking  explore scout · 2 tools",
    "      ✓ ls",
    "      ✓ grep x",
  ])
})

test("with more agents than there is room for the panel stays small and counts the rest", async (t) => {
  const names = Array.from({ length: 12 }, (_, n) => `agent-${n}`)
  const script = crew(Object.fromEntries(names.map((name) => [name, never])))
  const { type, see, rows } = await talk(t, script, { settings: { limits: { parallel: 10 } } })
  type("go\r")
  await see("+3 more · 2 queued")
  assert.equal(rows().filter((row) => /^[ >] ∴ thinking/.test(row)).length, 7)
  assert.ok(rows().some((row) => row.includes("window")))
})

test("those that have ended are counted by what became of them", async (t) => {
  const script = crew({ good: () => "found it", bad: () => fail("bad_request", "no"), long: never })
  const { type, see } = await talk(t, script)
  type("go\r")
  await see("1 done · 1 failed")
})

test("up and down choose an agent, enter opens its transcript, and typing there steers it", async (t) => {
  const gate = latch()
  const script = crew({
    one: never,
    two: steps<Asked>(
      async () => {
        await gate.wait
        return { reasoning: "let me see", calls: [call("ls")] }
      },
      ({ messages }) => `heard ${messages.filter(({ role }) => role === "user").at(-1)!.text}`,
    ),
  })
  const { type, see, until, rows } = await talk(t, script, { files: { "a.txt": "" }, rows: 40 })
  const chosen = () => rows().find((row) => row.startsWith("> ∴"))
  type("go\r")
  await see(/thinking +explore one/)
  await see(/thinking +explore two/)
  type(keys.down)
  await see("chosen: explore (thinking)")
  const first = chosen()
  type(keys.down)
  await until(() => chosen() !== first, "another chosen")
  const second = chosen()
  type(keys.up)
  await until(() => chosen() !== second, "the first chosen")
  if (!chosen()?.includes("two")) type(keys.down)
  await until(() => chosen()?.includes("two") === true, "two chosen")
  type(keys.enter)
  await see("what you type here steers it")
  await see("+ system prompt")
  await see("> two")
  type("look in b\r")
  await see("look in b")
  gate.open()
  await see("let me see")
  await see("● ls")
  await see("heard look in b")
  type(keys.escape)
  await see("> go")
})

test("ctrl+o opens the agent that was last at work, and goes back", async (t) => {
  const { type, see, miss } = await talk(t, crew({ one: () => "found it" }))
  type("go\r")
  await see("the crew is back")
  type(keys.ctrl("o"))
  await see("transcript of explore")
  await see("found it")
  type(keys.ctrl("o"))
  await miss("transcript of")
  await see("the crew is back")
})

test("ctrl+o with nobody to open says so", async (t) => {
  const { type, see } = await talk(t, () => "hi")
  type(keys.ctrl("o"))
  await see("there is no agent whose transcript could be opened yet")
})

test("esc stops just the chosen agent, and the others go on", async (t) => {
  const gate = latch()
  const held: Script = async () => {
    await gate.wait
    return "found it"
  }
  const { type, see, until } = await talk(t, crew({ one: held, two: held }), { rows: 40 })
  type("go\r")
  await see(/thinking +explore one/)
  await see(/thinking +explore two/)
  type(keys.down)
  await see("chosen: explore")
  type(keys.escape)
  await see(/^> ■ stopped +explore/m)
  gate.open()
  const text = await until((text) => text.includes("the crew is back"), "the end")
  assert.equal(text.match(/ - done/g)?.length, 1)
  assert.equal(text.match(/ - (cancelled|stopped)/g)?.length, 1)
})

test("ctrl+b sends the agent that is waited for behind, and its result comes by itself", async (t) => {
  const gate = latch()
  const script: Script = async (asked) => {
    if (!isChild(asked))
      return turnsIn(asked) === 0 ? [task("one")] : `turn ${turnsIn(asked)}: ${asked.last.includes("found it")}`
    await gate.wait
    return "found it"
  }
  const { type, see } = await talk(t, script)
  type("go\r")
  await see(/thinking +explore one/)
  type(keys.ctrl("b"))
  await see("1 agent sent behind")
  await see(/explore one \(behind\)/)
  await see("turn 1: false")
  gate.open()
  await see("turn 2: true")
})

test("ctrl+c once stops the main run and what it waits for; twice ends the program", async (t) => {
  const { type, see, exit, server } = await talk(t, crew({ one: never, two: never }))
  type("go\r")
  await see(/thinking +explore one/)
  await see(/thinking +explore two/)
  type(keys.ctrl("c"))
  await see(stopped)
  await see("2 stopped")
  await until(() => server.pending === 0)
  type(keys.ctrl("c"))
  await see("to go on: legwork -r ")
  assert.equal(await exit, 130)
})

test("? shows the keys and commands, but is a letter inside a line", async (t) => {
  const { type, see } = await talk(t, ({ last }) => `heard ${last}`, { columns: 120, rows: 50 })
  type("?")
  await see(/ctrl\+b +sends the agent that is waited for behind/)
  await see(/\/exit +leaves/)
  type("why?\r")
  await see("heard why?")
})

const scout = "---\nname: scout\ndescription: looks\nmodel: anthropic/small\ncolor: purple\n---\nLook.\n"
const withScout = { files: { "../config/legwork/agents/scout.md": scout }, columns: 120 }

test("an agent with another model than the main one shows it", async (t) => {
  const { type, see } = await talk(t, crew({ one: never }, { subagent_type: "scout" }), withScout)
  type("go\r")
  await see(/scout one · anthropic\/small · /)
})

test("an agent has the colour that its file names", async (t) => {
  const { type, see, sent } = await talk(t, crew({ one: never }, { subagent_type: "scout" }), withScout)
  type("go\r")
  await see(/scout one · /)
  assert.ok(sent().includes("\u001b[38;5;141mscout"))
})

test("esc lets go of a chosen agent that has ended", async (t) => {
  const { type, see, miss } = await talk(t, crew({ one: never, two: never }))
  type("go\r")
  await see(/thinking +explore one/)
  await see(/thinking +explore two/)
  type(keys.down)
  await see("chosen: explore (thinking)")
  type(keys.escape)
  await see("chosen: explore (stopped)")
  type(keys.escape)
  await miss("chosen:")
})

test("a question of a child is answered in the conversation, and the child goes on", async (t) => {
  const script = crew(
    { one: steps<Asked>([call("bash", { command: "mkdir x" })], ({ last }) => `told ${last}`) },
    { subagent_type: "code" },
  )
  const shown = await talk(t, script, { rows: 40 })
  shown.type("go\r")
  await shown.see("main > code wants to run a command:")
  await calm(shown)
  shown.type("y")
  await shown.see("the crew is back")
})
