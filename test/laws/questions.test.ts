import assert from "node:assert/strict"
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import fc from "fast-check"
import type { Question, Reply } from "../../src/agent/permission.ts"
import type { Session } from "../../src/face.ts"
import { open } from "../../src/session.ts"
import { call, scripted, serve } from "../../src/testing.ts"
import { home } from "../e2e/binary.ts"
import { terminal } from "../e2e/terminal.ts"

const many = 20
const all = Array.from({ length: many }, (_, n) => n)

type Heard = { role: string; text?: string }

/** The main agent starts all children at once; each wants to make a folder, and says what came of it. */
function script({ messages }: { messages: readonly Heard[] }) {
  const [first, last] = [messages[0]!, messages.at(-1)!]
  if (first.text === "go")
    return last.role === "user" ? all.map((n) => call("task", { prompt: `${n}`, agent: "code" })) : "end"
  if (last.role === "user") return [call("bash", { command: `mkdir d${first.text}` })]
  return `${first.text}: ${last.text}`
}
const model = scripted(script)

type Place = { root: string; work: string; env: NodeJS.ProcessEnv }

async function place(t: TestContext): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "legwork-questions-")))
  t.after(() => rm(root, { recursive: true, force: true }))
  return furnished(root)
}

async function furnished(root: string): Promise<Place> {
  const work = join(root, "work")
  await mkdir(work, { recursive: true })
  await mkdir(join(root, "config/legwork"), { recursive: true })
  await writeFile(join(root, "config/legwork/settings.json"), JSON.stringify({ limits: { parallel: many } }))
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    XDG_CONFIG_HOME: join(root, "config"),
    XDG_STATE_HOME: join(root, "state"),
  }
  return { root, work, env }
}

/** Which child asks. */
const askerOf = ({ access }: Question): number =>
  Number(access.kind === "run" && access.command.slice("mkdir d".length))

type Desk = {
  /** In the order in which they came. */
  asked: Question[]
  answer(question: Question, signal: AbortSignal): Promise<Reply>
  reply(asker: number, reply: Reply): void
  full(count: number): Promise<void>
}

/** Where questions lie until somebody takes them up. */
function desk(): Desk {
  const asked: Question[] = []
  const open = new Map<number, (reply: Reply) => void>()
  return {
    asked,
    answer: (question) => {
      asked.push(question)
      const { promise, resolve } = Promise.withResolvers<Reply>()
      open.set(askerOf(question), resolve)
      return promise
    },
    reply(asker, reply) {
      open.get(asker)!(reply)
      open.delete(asker)
    },
    async full(count) {
      while (asked.length < count) await setImmediate()
    },
  }
}

const replyTo = (asker: number, allow: boolean): Reply =>
  allow ? { allow: true } : { allow: false, word: `not you, ${asker}` }

/** A session with all children waiting for an answer. `left`: those for whom nobody has decided yet. */
async function waitingFor(at: Place, left: readonly number[], resume?: string) {
  const { asked, answer, reply, full } = desk()
  const session = await open({ cwd: at.work, env: at.env, model, answer, ...(resume !== undefined && { resume }) })
  const report = resume === undefined ? session.prompt("go") : session.proceed()
  await full(left.length)
  return { session, report, asked, reply }
}

/** Every question as it must be, whichever comes first. */
const questions = (asked: readonly Question[]) =>
  asked.map(({ run: _, ...question }) => question).sort((a, b) => askerOf(a as Question) - askerOf(b as Question))

const expected = (askers: readonly number[]) =>
  askers
    .toSorted((a, b) => a - b)
    .map((n) => ({
      call: "call_1_1",
      tool: "bash",
      input: { command: `mkdir d${n}`, timeout: 120_000 },
      path: ["main", "code"],
      access: { kind: "run", command: `mkdir d${n}` },
      parts: [`mkdir d${n}`],
      always: [{ tool: "bash", pattern: "mkdir *", do: "allow" }],
    }))

/** What each child said in the end, by its task. */
const saidBy = ({ view }: Session): Record<string, string | undefined> =>
  Object.fromEntries(
    [...view.values()].filter(({ depth }) => depth > 0).map(({ label, rest }) => [label!, rest?.outcome.text]),
  )

const factsIn = async (
  { env }: Pick<Place, "env">,
  id: string,
): Promise<{ type: string; run: string; call: string }[]> =>
  (await readFile(join(env.XDG_STATE_HOME!, "legwork/sessions", `${id}.jsonl`), "utf8"))
    .split("\n")
    .slice(0, -1) // the last may still be on its way
    .map((line) => JSON.parse(line))

const plan = fc.record({
  first: fc.shuffledSubarray(all, { minLength: many, maxLength: many }),
  later: fc.shuffledSubarray(all, { minLength: many, maxLength: many }),
  before: fc.integer({ min: 0, max: many - 1 }),
  yes: fc.array(fc.boolean(), { minLength: many, maxLength: many }),
})

test("of twenty questions none is lost by a crash, none is asked twice, and each answer reaches its asker", async (t) => {
  const base = await place(t)
  let runs = 0
  await fc.assert(
    fc.asyncProperty(plan, async ({ first, later, before, yes }) => {
      const at = await furnished(join(base.root, `${runs++}`))
      const one = await waitingFor(at, all)
      assert.deepEqual(questions(one.asked), expected(all))
      const early = first.slice(0, before)
      for (const n of early) one.reply(n, replyTo(n, yes[n]!))
      const isDone = (n: number) => saidBy(one.session)[n] !== undefined
      while (!early.every(isDone)) await setImmediate()
      await one.session.synced()
      // What a crash leaves is what is on disk.
      const after = { ...at, env: { ...at.env, XDG_STATE_HOME: join(at.root, "after") } }
      await cp(at.env.XDG_STATE_HOME!, after.env.XDG_STATE_HOME, { recursive: true })
      await rm(join(after.env.XDG_STATE_HOME, `legwork/sessions/${one.session.id}.lock`))

      const left = later.filter((n) => !early.includes(n))
      const two = await waitingFor(after, left, one.session.id)
      assert.deepEqual(questions(two.asked), expected(left))
      for (const n of left) two.reply(n, replyTo(n, yes[n]!))
      const { status, refused } = await two.report
      await two.session.close()
      await one.session.close()
      assert.equal(status, "completed")
      const words = (n: number) => (yes[n] ? "(no output)" : `not permitted: the user said no: not you, ${n}`)
      assert.deepEqual(saidBy(two.session), Object.fromEntries(all.map((n) => [n, `${n}: ${words(n)}`])))
      assert.deepEqual(
        (await readdir(at.work)).sort(),
        all
          .filter((n) => yes[n])
          .map((n) => `d${n}`)
          .sort(),
      )
      assert.deepEqual(
        refused.map(({ what }) => what).sort(),
        left
          .filter((n) => !yes[n])
          .map((n) => `run mkdir d${n}`)
          .sort(),
      )
      const facts = await factsIn(after, one.session.id)
      for (const type of ["gate.asked", "gate.answered"]) {
        const found = facts.filter((fact) => fact.type === type).map(({ run, call }) => `${run} ${call}`)
        assert.deepEqual([found.length, new Set(found).size], [many, many], type)
      }
    }),
    { numRuns: 5 },
  )
})

test("killed -9 with twenty questions before a person, the conversation goes on and shows each of them once", async (t) => {
  await using server = await serve(script)
  const settings = JSON.stringify({ limits: { parallel: many } })
  const house = await home(t, { "../config/legwork/settings.json": settings })
  const folder = join(house.state, "legwork/sessions")
  const one = terminal(t, house, server.env, ["--model", "anthropic/any", "go"])
  await one.see("main > code wants to run mkdir d")
  const idIn = async () => (await readdir(folder)).find((name) => name.endsWith(".jsonl"))!.slice(0, -".jsonl".length)
  const id = await idIn()
  const count = async (type: string) => (await factsIn(house, id)).filter((fact) => fact.type === type).length
  while ((await count("gate.asked")) < many) await setImmediate()
  one.kill("SIGKILL")
  await one.exit
  assert.deepEqual([await count("gate.asked"), await count("gate.answered")], [many, 0])

  const two = terminal(t, house, server.env, ["--model", "anthropic/any", "-r", id])
  const shown: number[] = []
  for (const _ of all) {
    await two.see("main > code wants to run mkdir d")
    const asker = Number(await two.see("\r\n"))
    shown.push(asker)
    await two.see("allow?")
    two.type(asker % 2 === 0 ? "y\r" : `n not you, ${asker}\r`)
  }
  assert.doesNotMatch(await two.see("completed"), /wants to/)
  two.type("\u0004")
  assert.equal(await two.exit, 0)
  assert.deepEqual(
    shown.toSorted((a, b) => a - b),
    all,
  )
  const results = server.requests.at(-1)!.messages.filter(({ role }) => role === "result")
  assert.deepEqual(
    results.map(({ text }) => text.split("\n")[0]),
    all.map((n) => `${n}: ${n % 2 === 0 ? "(no output)" : `not permitted: the user said no: not you, ${n}`}`),
  )
  assert.deepEqual(
    (await readdir(house.work)).sort(),
    all
      .filter((n) => n % 2 === 0)
      .map((n) => `d${n}`)
      .sort(),
  )
  assert.deepEqual(server.refused, [])
})
