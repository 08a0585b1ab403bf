import assert from "node:assert/strict"
import { test } from "node:test"
import type { Post, Priority } from "../../src/core/event.ts"
import type { Session } from "../../src/face.ts"
import { type Asked, call, type Script, serve, shaped } from "../../src/testing.ts"
import { latch, turnsIn, until } from "./behind.ts"
import { library } from "./library.ts"

const never = new Promise<never>(() => {})
const nameOf = ({ messages }: Asked): string => messages[0]!.text
const anna = { channel: "web", chatId: "anna" }

async function announced(session: Session, count: number): Promise<Post[]> {
  const posts: Post[] = []
  for await (const post of session.bus.in.consume({ channel: "system" })) if (posts.push(post) === count) break
  return posts
}

const statusOf = ({ view }: Session, run: string) => view.get(run)?.rest?.outcome.status

test("a spawn whose time is up ends, is announced where it came from, and takes nothing from the others", async (t) => {
  await using server = await serve((asked) => (nameOf(asked) === "slow" ? never : "found it"))
  await using place = await library(t, server)
  const { session } = place
  const slow = await session.spawn("slow", { label: "slow", timeout: 0.1, ...anna })
  const quick = await session.spawn("quick", { label: "quick", timeout: 600, ...anna })
  const posts = await announced(session, 2)
  assert.deepEqual([statusOf(session, slow), statusOf(session, quick)], ["timeout", "completed"])
  assert.deepEqual(
    posts.map(({ channel, chatId, sender, plain }) => [channel, chatId, sender, plain]).sort(),
    [
      ["system", "web:anna", "subagent", "quick is done:\n\nfound it"],
      ["system", "web:anna", "subagent", "slow took too long and was ended."],
    ].sort(),
  )
  assert.equal(session.runningCount(), 0)
})

test("a child around which nothing happens is ended; one that is at work is not, however long it takes", async (t) => {
  const turns = 12
  const script: Script = (asked) => {
    if (nameOf(asked) === "hangs") return never
    return shaped(turnsIn(asked) < turns ? [call("ls", { path: "." })] : "found it", { latency: 100 })
  }
  await using server = await serve(script)
  await using place = await library(t, server, { settings: { children: { idle: 1 } } })
  const { session } = place
  const results = await Promise.all(["hangs", "works"].map((prompt) => session.task({ prompt, agent: "explore" })))
  assert.deepEqual(
    results.map(({ status, content }) => `${status} ${content}`),
    ["timeout ", "completed found it"],
  )
})

/** The order in which children are asked that all wait for one place, which the first of them holds. */
async function order(session: Session, asked: Asked[], priorities: readonly Priority[], go: () => void) {
  await session.spawn("first")
  await until(() => asked.length === 1)
  for (const [n, priority] of priorities.entries()) await session.spawn(`${n}`, { priority })
  assert.equal(session.runningCount(), priorities.length + 1)
  go()
  await announced(session, priorities.length + 1)
  return asked.slice(1).map((each) => Number(nameOf(each)))
}

const cases: { name: string; priorities: Priority[]; expected(ran: number[]): void }[] = [
  {
    name: "the urgent go first, equals in the order of their coming",
    priorities: ["low", "normal", "high", "low", "high", "normal"],
    expected: (ran) => assert.deepEqual(ran, [2, 4, 1, 5, 0, 3]),
  },
  {
    name: "even the least urgent has its turn while urgent ones still wait",
    priorities: ["low", ...Array.from({ length: 30 }, (): Priority => "high")],
    expected: (ran) => assert.ok(ran.indexOf(0) <= 8, `it came as number ${ran.indexOf(0)}`),
  },
]

for (const { name, priorities, expected } of cases) {
  test(`where spawned children wait for a place, ${name}`, async (t) => {
    const gate = latch()
    await using server = await serve(async (asked) => {
      if (nameOf(asked) === "first") await gate.wait
      return "done"
    })
    await using place = await library(t, server, { settings: { limits: { parallel: 1 } } })
    const { session } = place
    expected(await order(session, server.requests, priorities, gate.open))
  })
}
