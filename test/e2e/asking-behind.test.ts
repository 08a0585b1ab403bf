import assert from "node:assert/strict"
import { readdir } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { setImmediate } from "node:timers/promises"
import type { Question, Reply } from "../../src/agent/permission.ts"
import type { Fact } from "../../src/core/event.ts"
import { open } from "../../src/session.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { type Asked, call, type Script, serve } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { type Home, home } from "./binary.ts"
import { type Terminal, terminal } from "./terminal.ts"

const many = 20
const all = Array.from({ length: many }, (_, n) => n)
const files = { "../config/legwork/settings.json": JSON.stringify({ limits: { parallel: many } }) }

/** The main agent starts all children behind; each wants to make a folder, and says what came of it. */
const script: Script = (asked) => {
  const { messages, last } = asked
  if (!isChild(asked)) return turnsIn(asked) === 0 ? all.map(launch) : `${heard(asked).length} are there`
  const label = messages[0]!.text
  return turnsIn(asked) === 0 ? [call("bash", { command: `mkdir d${label}` })] : `<${label}: ${last}>`
}

const launch = (n: number) =>
  call("task", { description: `${n}`, prompt: `${n}`, subagent_type: "code", run_in_background: true })

/** What the main agent was told of its children, each as often as it was. */
const heard = ({ messages }: Asked): string[] =>
  messages
    .filter(({ role }) => role === "user")
    .flatMap(({ text }) => text.match(/^<\d+: .*>$/gm) ?? [])
    .sort()

const isAllowed = (asker: number): boolean => asker % 2 === 0

const expected = all
  .map((n) => `<${n}: ${isAllowed(n) ? "(no output)" : `not permitted: the user said no: not you, ${n}`}>`)
  .sort()

/** Each question was stored once, each has one answer, and only what was allowed was done. */
async function check({ state, work }: Home, id: string, asked: Asked | undefined): Promise<void> {
  const { facts } = await jsonl({ folder: join(state, "legwork") }).read(id)
  for (const type of ["gate.asked", "gate.answered"] as const) {
    const found = facts.flatMap((fact) =>
      fact.type === type && fact.access.kind === "run" ? [fact.access.command] : [],
    )
    assert.deepEqual(found.sort(), all.map((n) => `mkdir d${n}`).sort(), type)
  }
  const folders = all.filter(isAllowed).map((n) => `d${n}`)
  assert.deepEqual((await readdir(work)).sort(), folders.sort())
  assert.deepEqual(asked && heard(asked), expected)
}

const mainIn = (requests: readonly Asked[]): Asked | undefined => requests.findLast((asked) => !isChild(asked))

test("children behind ask a program, each once with its name; closed and opened again, it is asked what it had not answered", async (t) => {
  await using server = await serve(script)
  const place = await home(t, files)
  const env = { ...place.env, ...server.env }
  /** Answers at once those that it is told to, and leaves the others. */
  const start = async (answered: (asker: number) => boolean, resume?: string) => {
    const shown: string[] = []
    const answer = ({ path, access }: Question): Promise<Reply> => {
      const command = access.kind === "run" ? access.command : ""
      shown.push(`${path.join(" > ")}: ${command}`)
      const asker = Number(command.slice("mkdir d".length))
      if (!answered(asker)) return new Promise(() => {})
      return Promise.resolve(isAllowed(asker) ? { allow: true } : { allow: false, word: `not you, ${asker}` })
    }
    const model = "anthropic/any"
    const session = await open({ cwd: place.work, env, model, answer, ...(resume !== undefined && { resume }) })
    t.after(() => session.close())
    return { session, shown }
  }
  const questions = (askers: readonly number[]) => askers.map((n) => `main > code: mkdir d${n}`).sort()
  const early = all.filter((n) => n % 3 === 0)
  const one = await start((asker) => early.includes(asker))
  assert.equal((await one.session.prompt("go")).status, "completed")
  while (one.shown.length < many || one.session.runningCount() > many - early.length) await setImmediate()
  await one.session.close()
  assert.deepEqual(one.shown.sort(), questions(all))

  const two = await start(() => true, one.session.id)
  const report = await two.session.proceed()
  await two.session.close()
  assert.deepEqual([report.status, report.text], ["completed", `${many} are there`])
  assert.deepEqual(two.shown.sort(), questions(all.filter((n) => !early.includes(n))))
  await check(place, one.session.id, mainIn(server.requests))
  assert.deepEqual(server.refused, [])
})

/** Answers the question that is shown, and returns who asked it. */
async function answerOn({ see, type }: Terminal): Promise<number> {
  await see("main > code wants to run mkdir d")
  const asker = Number(await see("\r\n"))
  await see("allow?")
  type(isAllowed(asker) ? "y\r" : `n not you, ${asker}\r`)
  return asker
}

test("killed -9 with questions of children behind before a person, it shows those that are left once, each with its name", async (t) => {
  await using server = await serve(script)
  const place = await home(t, files)
  const store = jsonl({ folder: join(place.state, "legwork") })
  const args = ["--model", "anthropic/any"]
  const one = terminal(t, place, server.env, [...args, "go"])
  const early = 7
  const shown: number[] = []
  while (shown.length < early) shown.push(await answerOn(one))
  const id = (await store.list())[0]!.header.id
  const count = async (is: (fact: Fact) => boolean) => (await store.read(id)).facts.filter(is).length
  while ((await count(({ type }) => type === "gate.asked")) < many) await setImmediate()
  while ((await count((fact) => fact.type === "mail.sent" && fact.from !== undefined)) < early) await setImmediate()
  one.kill("SIGKILL")
  await one.exit

  const two = terminal(t, place, server.env, [...args, "-r", id])
  while (shown.length < many) shown.push(await answerOn(two))
  assert.doesNotMatch(await two.see(`${many} are there`), /wants to/)
  two.type("\u0004")
  assert.equal(await two.exit, 0)
  assert.deepEqual(
    shown.toSorted((a, b) => a - b),
    all,
  )
  await check(place, id, mainIn(server.requests))
  assert.deepEqual(server.refused, [])
})
