import assert from "node:assert/strict"
import { test } from "node:test"
import { Slots } from "../../src/agent/slots.ts"
import type { Priority } from "../../src/core/event.ts"

const never = new AbortController().signal

/** Starts one piece of work per priority, behind one that blocks, and returns the order in which they ran. */
async function order(priorities: Priority[]): Promise<number[]> {
  const slots = new Slots(1)
  const gate = Promise.withResolvers<void>()
  const ran: number[] = []
  const first = slots.use(never, "normal", () => gate.promise)
  const rest = priorities.map((priority, n) => slots.use(never, priority, async () => void ran.push(n)))
  gate.resolve()
  await Promise.all([first, ...rest])
  return ran
}

test("no more than its size works at a time, and a finished piece frees its place", async () => {
  const slots = new Slots(3)
  let now = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 20 }, () =>
      slots.use(never, "normal", async () => {
        most = Math.max(most, ++now)
        await null
        now--
      }),
    ),
  )
  assert.deepEqual([most, now], [3, 0])
})

test("the urgent go first, and equals in the order of arrival", async () => {
  assert.deepEqual(await order(["low", "normal", "high", "low", "high", "normal"]), [2, 4, 1, 5, 0, 3])
})

test("the least urgent is not passed over for ever", async () => {
  const ran = await order(["low", ...Array.from({ length: 40 }, (): Priority => "high")])
  assert.equal(ran.indexOf(0), 8)
})

test("work that fails frees its place", async () => {
  const slots = new Slots(1)
  await assert.rejects(slots.use(never, "normal", () => Promise.reject(new Error("no"))))
  assert.equal(await slots.use(never, "normal", async () => "yes"), "yes")
})

test("what is stopped while it waits never starts and takes no place", async () => {
  const slots = new Slots(1)
  const gate = Promise.withResolvers<void>()
  const stop = new AbortController()
  const first = slots.use(never, "normal", () => gate.promise)
  const stopped = slots.use(stop.signal, "normal", () => assert.fail("it must not start"))
  const last = slots.use(never, "normal", async () => "ran")
  stop.abort(new Error("stopped"))
  await assert.rejects(stopped, /stopped/)
  gate.resolve()
  await first
  assert.equal(await last, "ran")
})
