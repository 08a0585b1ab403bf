import assert from "node:assert/strict"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { call, serve, steps } from "../../src/testing.ts"
import { behind, heard, inFront, isChild, latch, launching, until } from "./behind.ts"
import { type Home, home } from "./binary.ts"
import { type Terminal, terminal } from "./terminal.ts"

/** The program on a terminal in a home of its own. */
async function talk(t: TestContext, env: NodeJS.ProcessEnv, args: string[] = []): Promise<Terminal & { place: Home }> {
  const place = await home(t, { "a.txt": "alpha\n" })
  return { place, ...terminal(t, place, env, ["--model", "anthropic/any", ...args]) }
}

/** All that is stored of the only session. */
async function storedIn({ state }: Home): Promise<string> {
  const folder = join(state, "legwork/sessions")
  const [name] = (await readdir(folder)).filter((each) => each.endsWith(".jsonl"))
  return readFile(join(folder, name!), "utf8")
}

test("a conversation on a terminal: prompt, answer, prompt, leave", async (t) => {
  await using server = await serve(({ messages }) => `answer ${messages.length}`)
  const { type, see, exit } = await talk(t, server.env)
  await see("> ")
  type("hello\r")
  await see("answer 1")
  await see("completed")
  await see("> ")
  type("and again\r")
  await see("answer 3")
  await see("> ")
  type("\u0004")
  await see("to go on: legwork -r ")
  assert.equal(await exit, 0)
})

test("a question is asked on the terminal; yes does it, no and a word reach the model", async (t) => {
  await using server = await serve(
    steps(
      [call("bash", { command: "mkdir hi" })],
      [call("bash", { command: "mkdir ho" })],
      ({ last }) => `told: ${last}`,
    ),
  )
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  await see("main wants to run mkdir hi")
  await see("allow?")
  type("y\r")
  await see("main wants to run mkdir ho")
  await see("allow?")
  type("n use printf\r")
  await see("told: not permitted: the user said no: use printf")
})

test("what is typed while it works is heard between two turns", async (t) => {
  const gate = Promise.withResolvers<void>()
  await using server = await serve(
    steps(
      async () => {
        await gate.promise
        return [call("ls", {})]
      },
      ({ messages }) =>
        messages
          .filter(({ role }) => role === "user")
          .map(({ text }) => text)
          .join(" + "),
    ),
  )
  const { type, see, place } = await talk(t, server.env)
  await see("> ")
  type("first\r")
  await until(() => server.pending > 0)
  type("second\r")
  while (!(await storedIn(place)).includes("second")) await new Promise((resolve) => setImmediate(resolve))
  gate.resolve()
  await see("first + second")
})

test("ctrl-c once ends the turn, twice the program", async (t) => {
  await using server = await serve(() => new Promise(() => {}))
  const { type, see, exit } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  await until(() => server.pending > 0)
  type("\u0003")
  await see("cancelled")
  await see("> ")
  type("\u0003")
  await see("to go on: legwork -r ")
  assert.equal(await exit, 130)
})

for (const [name, keys, code] of [
  ["ctrl-c twice", "\u0003\u0003", 130],
  ["ctrl-d", "\u0004", 0],
  ["/exit", "/exit\r", 0],
] as const) {
  test(`${name} while it works ends the program and leaves a session that goes on`, async (t) => {
    await using server = await serve(() => new Promise(() => {}))
    const { type, see, exit } = await talk(t, server.env)
    await see("> ")
    type("go\r")
    await until(() => server.pending > 0)
    type(keys)
    await see("to go on: legwork -r ")
    assert.equal(await exit, code)
  })
}

test("what was half typed when ctrl-c came is not joined to the next line", async (t) => {
  await using server = await serve(({ last }) => `heard: ${last}.`)
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("rm everything")
  await see("rm everything")
  type("\u0003")
  await see("ctrl-c again to leave")
  type("hello\r")
  await see("heard: hello.")
})

test("what is typed before the prompt appears is not lost", async (t) => {
  await using server = await serve(({ last }) => `heard: ${last}.`)
  const { type, see } = await talk(t, server.env)
  type("early\r")
  await see("heard: early.")
})

test("a question shows what would hide in a command", async (t) => {
  await using server = await serve(steps([call("bash", { command: "echo hi \u001b]; touch x; \u0007 \u202e" })], "end"))
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  await see("wants to run echo hi \\x1b]; touch x; \\x07 \\u{202e}")
})

test("a model that cannot be had ends the program at once", async (t) => {
  const { exit } = await talk(t, {}, ["--model", "nobody/x"])
  assert.equal(await exit, 2)
})

test("agents have a line at their start and end; a result wakes the main agent, whose answer is shown", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching([behind("task 1"), inFront("task 2")], async ({ messages }) => {
      if (messages[0]!.text === "task 1") await gate.wait
      return `found ${messages[0]!.text.slice(-1)}`
    }),
  )
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  const passed = await see("[explore] task 2 - done (0 tools, ")
  assert.ok(passed.includes("  [explore] task 1 (background)\r\n") && passed.includes("  [explore] task 2\r\n"), passed)
  await see("all are on their way")
  await see("completed · 2 tools")
  await see("1 agent at work in the background · /tasks lists them")
  await see("> ")
  type("half a li")
  await see("half a li")
  gate.open()
  await see("[explore] task 1 - done (0 tools, ")
  await see("1 of 2 are there")
  await see("completed · 2 tools")
  await see("> half a li")
  type("ne\r")
  await see("1 of 2 are there")
  const last = server.requests.at(-1)!
  assert.deepEqual(heard(last, ["found 1", "half a line"]), [1, 1])
})

test("ctrl-c stops the main agent and what it waits for; those in the background go on", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching([behind("task 1"), inFront("task 2")], async ({ messages }) => {
      await (messages[0]!.text === "task 1" ? gate.wait : new Promise(() => {}))
      return "found 1"
    }),
  )
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  await until(() => server.pending === 2)
  type("\u0003")
  await see("  cancelled · 2 tools")
  await see("1 agent at work in the background")
  await see("[explore] task 2 - cancelled")
  gate.open()
  await see("[explore] task 1 - done")
  await see("1 of 2 are there")
})

test("/tasks, /behind and /stop list agents, send them to the background and stop them", async (t) => {
  await using server = await serve(launching([inFront("task 1"), inFront("task 2")], () => new Promise(() => {})))
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("/tasks\r")
  await see("no agent was started yet")
  type("/taks\r")
  await see("there is no /taks; did you mean /tasks?")
  type("go\r")
  await until(() => server.pending === 2)
  type("/behind\r")
  const passed = await see("2 agents at work in the background")
  for (const label of ["task 1", "task 2"]) assert.ok(passed.includes(`[explore] ${label} goes on in the background`))
  await see("> ")
  type("/tasks\r")
  const listed = await see("[explore] task 2 (background) · thinking · 0 tools, ")
  const [, id] = /(\w{8}) {2}\[explore\] task 1 \(background\) · thinking · 0 tools, /.exec(listed) ?? []
  assert.ok(id, listed)
  type("/stop\r")
  await see(`say which, as in /stop ${id}; there are ${id} (explore), `)
  type(`/stop ${id.slice(0, 6)}\r`)
  await see("[explore] task 1 - cancelled")
  await see("all are on their way")
  type("/help\r")
  await see("/stop <id>")
})

test("a question of an agent in the background is asked while the main agent rests, and takes no words meant for that", async (t) => {
  const gate = latch()
  await using server = await serve(
    launching([behind("task 1", { subagent_type: "code" })], async ({ last, messages }) => {
      await gate.wait
      return messages.length === 1 ? [call("bash", { command: "mkdir hi" })] : `found 1: ${last}`
    }),
  )
  const { type, see } = await talk(t, server.env)
  await see("> ")
  type("go\r")
  await see("1 agent at work in the background")
  await see("> ")
  type("yes and")
  await see("yes and")
  gate.open()
  await see("main > code wants to run mkdir hi")
  await see("allow? y")
  type("n not now\r")
  await see("1 of 1 are there")
  await see("> yes and")
  assert.ok(server.requests.some((asked) => isChild(asked) && asked.last.includes("the user said no: not now")))
})

for (const [name, leave, code] of [
  ["/exit", ({ type }: Terminal) => type("/exit\r"), 0],
  ["TERM", ({ kill }: Terminal) => kill("SIGTERM"), 130],
  ["HUP", ({ kill }: Terminal) => kill("SIGHUP"), 130],
] as const) {
  test(`${name} puts agents in the background aside, and they can be gone on with`, async (t) => {
    const gate = latch()
    await using server = await serve(
      launching([behind("task 1")], async () => {
        await gate.wait
        return "found 1"
      }),
    )
    const shown = await talk(t, server.env)
    await shown.see("> ")
    shown.type("go\r")
    await shown.see("1 agent at work in the background")
    await shown.see("> ")
    leave(shown)
    await shown.see("what was under way is put aside; to go on: legwork -r ")
    const id = (await shown.see("\r\n")).trim()
    assert.equal(await shown.exit, code)
    gate.open()
    const again = terminal(t, shown.place, server.env, ["-r", id])
    await again.see("[explore] task 1 (background) goes on")
    await again.see("1 of 1 are there")
    await again.see("completed")
    await again.see("> ")
    assert.deepEqual(
      heard(
        server.requests.findLast((asked) => !isChild(asked)),
        ["found 1"],
      ),
      [1],
    )
  })
}
