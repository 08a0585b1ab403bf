import assert from "node:assert/strict"
import { getEventListeners } from "node:events"
import { test } from "node:test"
import fc from "fast-check"
import type { Failure } from "../../src/core/event.ts"
import { type Clock, type Entry, Gate, type Leaving, stopped } from "../../src/model/gate.ts"

/** A clock that stands still until it is moved. */
class Hands implements Clock {
  time = 0
  chance = 0.5
  readonly timers = new Map<object, { at: number; then(): void }>()

  now = () => this.time
  random = () => this.chance

  after(ms: number, then: () => void): () => void {
    const key = {}
    this.timers.set(key, { at: this.time + ms, then })
    return () => this.timers.delete(key)
  }

  async pass(ms: number): Promise<void> {
    const end = this.time + ms
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)[0]
      if (!due) break
      this.timers.delete(due[0])
      this.time = Math.max(this.time, due[1].at)
      due[1].then()
      await settled()
    }
    this.time = end
  }
}

const settled = () => new Promise(setImmediate)
const calm = new AbortController().signal

/** Comes to the gate `count` times and notes who was let in, at what time. */
function crowd(gate: Gate, clock: Hands, { count, signal = calm }: { count: number; signal?: AbortSignal }) {
  const inside: { who: number; at: number; leave(leaving: Leaving): void }[] = []
  const refused: { who: number; error: Failure }[] = []
  for (let who = 0; who < count; who++) {
    gate.enter(signal).then((entry) => {
      if (entry.open) inside.push({ who, at: clock.time, leave: entry.leave })
      else refused.push({ who, error: entry.error })
    })
  }
  return { inside, refused }
}

async function entered(gate: Gate): Promise<Extract<Entry, { open: true }>> {
  const entry = await gate.enter(calm)
  assert.ok(entry.open)
  return entry
}

test("as long as all goes well everyone enters at once", async () => {
  const clock = new Hands()
  const { signal } = new AbortController()
  const { inside } = crowd(new Gate(clock), clock, { count: 1_000, signal })
  await settled()
  assert.equal(inside.length, 1_000)
  assert.equal(getEventListeners(signal, "abort").length, 0)
  assert.equal(clock.timers.size, 0)
})

test("a limit closes the gate to everyone for the time that was asked for", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const first = await entered(gate)
  first.leave({ how: "limited", wait: 3_000 })
  const { inside } = crowd(gate, clock, { count: 1 })
  await clock.pass(2_999)
  assert.equal(inside.length, 0)
  await clock.pass(1)
  assert.deepEqual(
    inside.map(({ at }) => at),
    [3_000],
  )
})

test("the longest of several waits counts", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const [first, second] = [await entered(gate), await entered(gate)]
  first.leave({ how: "limited", wait: 3_000 })
  second.leave({ how: "limited", wait: 1_000 })
  const { inside } = crowd(gate, clock, { count: 1 })
  await clock.pass(2_999)
  assert.equal(inside.length, 0)
  await clock.pass(1)
  assert.equal(inside.length, 1)
})

test("a wait longer than a timer can count does not open the gate", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const first = await entered(gate)
  first.leave({ how: "limited", wait: 2 ** 40 })
  const { inside } = crowd(gate, clock, { count: 1 })
  await settled()
  assert.deepEqual(
    [...clock.timers.values()].map(({ at }) => at),
    [2 ** 31 - 1],
  )
  await clock.pass(2 ** 40 - 1)
  assert.equal(inside.length, 0)
})

test("after a pause those who waited enter one by one, in order", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const begun = crowd(gate, clock, { count: 20 })
  await settled()
  for (const { leave } of begun.inside) leave({ how: "limited", wait: 1_000 })
  // The limit is out of the way here: each that enters leaves well at once.
  const { inside } = crowd(gate, clock, { count: 10 })
  for (let i = 0; i < 3_000; i++) {
    await clock.pass(1)
    for (const { leave } of inside) leave({ how: "well" })
  }
  assert.deepEqual(
    inside.map(({ who }) => who),
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  const gaps = inside.slice(1).map(({ at }, i) => at - inside[i]!.at)
  assert.ok(gaps.every((gap) => gap >= 100 && gap <= 102))
})

test("a crowd of any size is through in about two seconds, and then the gate is as open as before", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const begun = crowd(gate, clock, { count: 2_000 })
  await settled()
  begun.inside[0]?.leave({ how: "limited", wait: 1_000 })
  for (const { leave } of begun.inside) leave({ how: "ill" })
  const { inside } = crowd(gate, clock, { count: 1_000 })
  await clock.pass(1_000)
  assert.equal(inside.length, 1)
  await clock.pass(2_000)
  assert.equal(inside.length, 1_000)
  for (const { leave } of inside) leave({ how: "ill" })
  const next = crowd(gate, clock, { count: 50 })
  await settled()
  assert.equal(next.inside.length, 50)
})

test("a limit halves the number inside once for all who were under way, and each success adds one", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const begun = crowd(gate, clock, { count: 16 })
  await settled()
  for (const { leave } of begun.inside) leave({ how: "limited", wait: 0 })
  clock.chance = 0
  const next = crowd(gate, clock, { count: 40 })
  await clock.pass(1)
  assert.equal(next.inside.length, 8)
  next.inside[0]?.leave({ how: "well" })
  await clock.pass(1)
  assert.equal(next.inside.length, 10)
  next.inside[1]?.leave({ how: "ill" })
  await clock.pass(1)
  assert.equal(next.inside.length, 11)
})

test("however often it is limited, one may enter", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  for (let i = 0; i < 5; i++) (await entered(gate)).leave({ how: "limited", wait: 0 })
  const { inside } = crowd(gate, clock, { count: 3 })
  await clock.pass(1_000)
  assert.equal(inside.length, 1)
})

test("waiting can be stopped, and leaves neither listener nor timer", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const first = await entered(gate)
  first.leave({ how: "limited", wait: 1_000_000 })
  const controller = new AbortController()
  const { inside, refused } = crowd(gate, clock, { count: 1_000, signal: controller.signal })
  controller.abort()
  await settled()
  assert.equal(inside.length, 0)
  assert.equal(refused.length, 1_000)
  assert.deepEqual(refused[0], { who: 0, error: stopped })
  assert.equal(getEventListeners(controller.signal, "abort").length, 0)
  assert.equal(clock.timers.size, 0)
  assert.deepEqual(await gate.enter(controller.signal), { open: false, error: stopped })
})

test("one who is stopped while the gate is full gives nobody's place away", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  ;(await entered(gate)).leave({ how: "limited", wait: 0 })
  const only = await entered(gate)
  const controller = new AbortController()
  const gone = crowd(gate, clock, { count: 1, signal: controller.signal })
  const next = crowd(gate, clock, { count: 1 })
  controller.abort()
  await clock.pass(1_000)
  assert.deepEqual([gone.inside.length, gone.refused.length, next.inside.length], [0, 1, 0])
  only.leave({ how: "ill" })
  await clock.pass(1_000)
  assert.equal(next.inside.length, 1)
})

test("one refused key turns everyone away with the same failure, for five seconds", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  ;(await entered(gate)).leave({ how: "limited", wait: 0 })
  const first = await entered(gate)
  const waiting = crowd(gate, clock, { count: 3 })
  const error: Failure = { kind: "authentication", message: "check the key" }
  first.leave({ how: "barred", error })
  const soon = crowd(gate, clock, { count: 1 })
  await settled()
  assert.deepEqual(waiting.refused, [
    { who: 0, error },
    { who: 1, error },
    { who: 2, error },
  ])
  assert.deepEqual(soon.refused, [{ who: 0, error }])
  await clock.pass(5_000)
  assert.equal((await gate.enter(calm)).open, true)
})

test("leaving twice counts once", async () => {
  const clock = new Hands()
  const gate = new Gate(clock)
  const [first] = [await entered(gate), await entered(gate)]
  first?.leave({ how: "limited", wait: 0 })
  first?.leave({ how: "well" })
  const { inside } = crowd(gate, clock, { count: 1 })
  await clock.pass(1_000)
  assert.equal(inside.length, 0)
})

test("law: whatever happens, whoever is not stopped or turned away enters in the end, in order", async () => {
  const leaving = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Leaving>({ how: "well" }) },
    fc.constant<Leaving>({ how: "ill" }),
    fc.nat({ max: 5_000 }).map((wait): Leaving => ({ how: "limited", wait })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(leaving, { minLength: 1, maxLength: 30 }), async (leavings) => {
      const clock = new Hands()
      const gate = new Gate(clock)
      const { inside } = crowd(gate, clock, { count: leavings.length })
      for (let round = 0; round < 40 && clock.time < 10_000_000; round++) {
        await settled()
        for (const { who, leave } of [...inside]) leave(leavings[who]!)
        await clock.pass(20_000)
      }
      assert.deepEqual(
        inside.map(({ who }) => who),
        leavings.map((_, i) => i),
      )
      assert.equal(clock.timers.size, 0)
    }),
    { numRuns: 50 },
  )
})
