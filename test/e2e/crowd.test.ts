import assert from "node:assert/strict"
import { randomInt } from "node:crypto"
import { type TestContext, test } from "node:test"
import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import type { Status } from "../../src/core/event.ts"
import type { Session } from "../../src/face.ts"
import { type Asked, call, type Fault, type Reply, serve, status } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { library } from "./library.ts"
import { held, processesWith, soon } from "./resources.ts"

const launched = 300
const spawned = 700

/** How a child fares, and how that is to end. */
const endings = {
  answers: "completed",
  reads: "completed",
  runs: "completed",
  fails: "failed",
  hangs: "timeout",
  sleeps: "timeout",
  stops: "cancelled",
} satisfies Record<string, Status>
type Way = keyof typeof endings

const ways: fc.Arbitrary<Way> = fc.oneof(
  { weight: 40, arbitrary: fc.constant<Way>("answers") },
  { weight: 30, arbitrary: fc.constant<Way>("reads") },
  { weight: 4, arbitrary: fc.constant<Way>("runs") },
  { weight: 10, arbitrary: fc.constant<Way>("fails") },
  { weight: 10, arbitrary: fc.constant<Way>("hangs") },
  { weight: 2, arbitrary: fc.constant<Way>("sleeps") },
  { weight: 10, arbitrary: fc.constant<Way>("stops") },
)

type Child = { way: Way; turns: number }

/** Only a program can give a child a time of its own. */
const untimed = ({ way }: Child): Way => (endings[way] === "timeout" ? "stops" : way)

function childrenOf(seed: number): Child[] {
  const plan = fc.record({ way: ways, turns: fc.integer({ min: 1, max: 4 }) })
  const all = fc.sample(plan, { seed, numRuns: launched + spawned })
  return all.map((child, n) => (n < launched ? { ...child, way: untimed(child) } : child))
}

const never = new Promise<never>(() => {})

/** What the provider says to a child; `stop` ends it while it is asked. */
function replyTo(asked: Asked, child: Child, marker: string, stop: () => void): Reply | Fault | Promise<never> {
  const done = turnsIn(asked) >= child.turns
  const said = `${asked.messages[0]!.text} has its answer.`
  switch (child.way) {
    case "answers":
      return said
    case "reads":
      return done ? said : [call("read", { file_path: "../config/legwork/settings.json" })]
    case "runs":
      return turnsIn(asked) > 0 ? said : [call("bash", { command: `true ${marker}` })]
    case "fails":
      return status(400)
    case "hangs":
      return never
    case "sleeps":
      return [call("bash", { command: `trap '' TERM; sleep 1000 & wait # ${marker}` })]
    case "stops":
      stop()
      return never
    default:
      return child.way satisfies never
  }
}

async function crowd(t: TestContext, children: readonly Child[], marker: string) {
  let session: Session | undefined
  const runOf = (label: string) => [...session!.view.values()].find((run) => run.label === label)!
  const server = await serve(
    (asked) => {
      if (!isChild(asked)) return turnsIn(asked) === 0 ? children.slice(0, launched).map(launch) : "heard"
      const label = asked.messages[0]!.text
      return replyTo(asked, children[Number(label.slice("child ".length))]!, marker, () => {
        void session!.cancel(runOf(label).id)
      })
    },
    { keep: 1 },
  )
  const before = held()
  const settings = { limits: { parallel: 64, turns: 1_000 } }
  const place = await library(t, server, { settings, options: { permissionMode: "bypass" } })
  session = place.session
  const close = async () => {
    await place.session.close()
    await server.close()
  }
  return { server, session, before, [Symbol.asyncDispose]: close }
}

const launch = (_: Child, n: number) =>
  call("task", { description: `child ${n}`, prompt: `child ${n}`, subagent_type: "code", run_in_background: true })

/** Spawns the others, some of which are stopped before they had a place. */
async function spawnAll(session: Session, children: readonly Child[]): Promise<void> {
  for (const [n, { way, turns }] of children.entries()) {
    if (n < launched) continue
    const timeout = endings[way] === "timeout" ? 0.2 : 600
    const run = await session.spawn(`child ${n}`, { label: `child ${n}`, agent: "code", timeout })
    if (way === "stops" && turns === 1) void session.cancel(run)
  }
}

/** Takes what is announced, until as many were as are expected. Returns how often each run was. */
async function announced(session: Session): Promise<string[]> {
  const heard: string[] = []
  for await (const { id } of session.bus.in.consume({ channel: "system" })) {
    heard.push(id.split("/")[1]!)
    if (heard.length === spawned) return heard
  }
  return heard
}

test("of a thousand children in the background each ends as it must, each is heard once, and nothing is left of them", async (t) => {
  const seed = randomInt(2 ** 31)
  t.diagnostic(`seed ${seed}`)
  const children = childrenOf(seed)
  const marker = `crowd-${process.pid}-${seed}`
  const warnings: string[] = []
  const warn = ({ message }: Error) => void warnings.push(message)
  process.on("warning", warn)
  t.after(() => process.off("warning", warn))
  await using place = await crowd(t, children, marker)
  const { server, session, before } = place
  const out = announced(session)
  const [report] = await Promise.all([session.prompt("go", { drain: true }), spawnAll(session, children)])
  assert.equal(report.status, "completed")
  const heard = await out
  await session.drain()
  assert.equal(session.runningCount(), 0)

  const runs = [...session.view.values()].filter(({ depth }) => depth > 0)
  const byLabel = new Map(runs.map((run) => [run.label!, run]))
  assert.deepEqual([runs.length, byLabel.size], [children.length, children.length])
  const labels = children.map((_, n) => `child ${n}`)
  assert.deepEqual(
    labels.map((label) => byLabel.get(label)!.rest?.outcome.status),
    children.map(({ way }) => endings[way]),
  )
  assert.deepEqual(
    heard.map((id) => session.view.get(id)!.label).sort(),
    labels.slice(launched).sort(),
    "each that a program started is announced once",
  )
  const main = session.view.get(session.main)!
  const mail = main.messages.flatMap((message) => (message.role === "user" ? [message.text] : [])).join("\n")
  const told = [...mail.matchAll(/^Agent \w+ \(code: (child \d+)\):$/gm)].map(([, label]) => label!)
  assert.deepEqual(told.sort(), labels.slice(0, launched).sort(), "each that the model started is told of once")
  assert.deepEqual([main.mail, main.posts.size, server.refused], [[], 0, []])

  await session.close()
  await soon(() => isDeepStrictEqual(held(), before))
  assert.deepEqual([held(), processesWith(marker)], [before, []])
  assert.deepEqual(warnings, [])
})
