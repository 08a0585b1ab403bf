import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, type Fault, type Script, serve, status } from "../../src/testing.ts"
import { isChild, latch, turnsIn } from "./behind.ts"
import { library } from "./library.ts"

const many = 64
const turns = 2

const later = (n: number): Fault => status(n % 2 === 0 ? 429 : 529, { headers: { "retry-after-ms": "10" } })

/**
 * All children are at the provider at once, and it turns every one of them down. It answers again when half of them are
 * back, and turns down one request of three. `most`: the most that were with it at a time since then, less those that it
 * had answered well by then.
 */
function strained() {
  const [all, half] = [latch(), latch()]
  const tries = new Map<string, number>()
  const seen = { requests: 0, refused: 0, well: 0, inside: 0, first: 0, most: 0 }
  const refusals = (turn: number, child: number) => Number(turn === 0) + ((turn * many + child) % 4 === 3 ? 2 : 0)
  const script = async (asked: Asked) => {
    const [child, turn] = [Number(asked.messages[0]!.text), turnsIn(asked)]
    const key = `${child} ${turn}`
    const tried = tries.get(key) ?? 0
    tries.set(key, tried + 1)
    seen.requests++
    seen.inside++
    if (turn === 0 && tried === 0) {
      if (++seen.first === many) all.open()
      await all.wait
    } else {
      seen.most = Math.max(seen.most, seen.inside - seen.well)
      // Long enough for others to come too, if they were let in.
      if (seen.inside === many / 2) setTimeout(half.open, 300)
      await half.wait
    }
    seen.inside--
    const isRefused = tried < refusals(turn, child)
    seen[isRefused ? "refused" : "well"]++
    if (isRefused) return later(child + tried)
    return turn === turns - 1 ? `found ${child}` : [call("ls", { path: "." })]
  }
  const expected = { refused: 0, well: many * turns }
  for (let turn = 0; turn < turns; turn++)
    for (let child = 0; child < many; child++) expected.refused += refusals(turn, child)
  return { script, seen, expected }
}

test("of a provider that turns down many, no more is asked at a time than it can take, and each child has its answer", async (t) => {
  const { script, seen, expected } = strained()
  await using server = await serve(script)
  await using place = await library(t, server, { settings: { limits: { parallel: many } } })
  const { session } = place
  const results = await Promise.all(
    Array.from({ length: many }, (_, n) => session.task({ prompt: `${n}`, agent: "explore" })),
  )
  assert.deepEqual(
    results.map(({ status, content }) => `${status} ${content}`),
    results.map((_, n) => `completed found ${n}`),
  )
  const { refused, well, requests, inside } = seen
  assert.deepEqual({ refused, well, requests, inside }, { ...expected, requests: refused + well, inside: 0 })
  // Half of those who were there when it was too much for it, and one more with each that went well.
  assert.ok(seen.most <= many / 2, `${seen.most} more than had gone well were there at a time`)
  assert.deepEqual(server.refused, [])
})

test("of a provider that turns down everything, no more is asked than is set, and each child ends", async (t) => {
  const children = 3
  const script: Script = (asked, n) =>
    isChild(asked)
      ? later(n)
      : turnsIn(asked) === 0
        ? Array.from({ length: children }, (_, n) => call("task", { prompt: `${n}`, agent: "explore" }))
        : "they failed"
  await using server = await serve(script)
  await using place = await library(t, server)
  const { session } = place
  const { status, runs } = await session.prompt("go")
  assert.equal(status, "completed")
  assert.deepEqual(
    runs.map(({ status }) => status),
    ["completed", ...Array.from({ length: children }, () => "failed")],
  )
  // Eight tries, and as many when each child is asked once more.
  const asked = server.requests.filter(isChild).map(({ messages }) => messages[0]!.text)
  assert.deepEqual(
    [...Map.groupBy(asked, (text) => text).values()].map(({ length }) => length),
    Array.from({ length: children }, () => 16),
  )
})
