import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { spawn } from "@lydell/node-pty"
import { call, serve, steps } from "../../src/testing.ts"
import { bin, home } from "./binary.ts"

type Terminal = { type(text: string): void; see(text: string): Promise<void>; exit: Promise<number> }

/** The program on a real pseudo-terminal. `see` waits until the text has appeared since the last `see`. */
async function terminal(t: TestContext, env: NodeJS.ProcessEnv, args: string[] = []): Promise<Terminal> {
  const { work, env: own } = await home(t, { "a.txt": "alpha\n" })
  const pty = spawn(bin, ["--model", "anthropic/any", ...args], {
    cwd: work,
    env: { ...own, ...env },
    cols: 100,
    rows: 30,
  })
  t.after(() => pty.kill("SIGKILL"))
  let unseen = ""
  let wake = () => {}
  pty.onData((data) => {
    unseen += data
    wake()
  })
  const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)))
  return {
    type: (text) => pty.write(text),
    async see(text) {
      while (!unseen.includes(text)) {
        const more = new Promise<void>((resolve) => (wake = resolve))
        const gone = await Promise.race([more.then(() => false), exit.then(() => !unseen.includes(text))])
        if (gone) assert.fail(`it ended without showing ${JSON.stringify(text)}; it showed ${JSON.stringify(unseen)}`)
      }
      unseen = unseen.slice(unseen.indexOf(text) + text.length)
    },
    exit,
  }
}

test("a conversation on a terminal: prompt, answer, prompt, leave", async (t) => {
  await using server = await serve(({ messages }) => `answer ${messages.length}`)
  const { type, see, exit } = await terminal(t, server.env)
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
  const { type, see } = await terminal(t, server.env)
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
  const { type, see } = await terminal(t, server.env)
  await see("> ")
  type("first\r")
  while (server.pending === 0) await new Promise((resolve) => setImmediate(resolve))
  type("second\r")
  await see("second")
  gate.resolve()
  await see("first + second")
})

test("ctrl-c once ends the turn, twice the program", async (t) => {
  await using server = await serve(() => new Promise(() => {}))
  const { type, see, exit } = await terminal(t, server.env)
  await see("> ")
  type("go\r")
  while (server.pending === 0) await new Promise((resolve) => setImmediate(resolve))
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
    const { type, see, exit } = await terminal(t, server.env)
    await see("> ")
    type("go\r")
    while (server.pending === 0) await new Promise((resolve) => setImmediate(resolve))
    type(keys)
    await see("to go on: legwork -r ")
    assert.equal(await exit, code)
  })
}

test("what was half typed when ctrl-c came is not joined to the next line", async (t) => {
  await using server = await serve(({ last }) => `heard: ${last}.`)
  const { type, see } = await terminal(t, server.env)
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
  const { type, see } = await terminal(t, server.env)
  type("early\r")
  await see("heard: early.")
})

test("a question shows what would hide in a command", async (t) => {
  await using server = await serve(steps([call("bash", { command: "echo hi \u001b]; touch x; \u0007 \u202e" })], "end"))
  const { type, see } = await terminal(t, server.env)
  await see("> ")
  type("go\r")
  await see("wants to run echo hi \\x1b]; touch x; \\x07 \\u{202e}")
})

test("a model that cannot be had ends the program at once", async (t) => {
  const { exit } = await terminal(t, {}, ["--model", "nobody/x"])
  assert.equal(await exit, 2)
})
