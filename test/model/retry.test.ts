import assert from "node:assert/strict"
import { getEventListeners } from "node:events"
import { test } from "node:test"
import type { Failure } from "../../src/core/event.ts"
import { noUsage } from "../../src/core/usage.ts"
import { type Clock, Gate } from "../../src/model/gate.ts"
import type { Answer, Delta, Listen, Request } from "../../src/model/model.ts"
import { type Attempt, retrying, sleep } from "../../src/model/retry.ts"

const request: Request = { system: "", tools: [], messages: [], toolChoice: "auto", memo: {} }
const fine: Answer = {
  ok: true,
  parts: [{ type: "text", text: "hi" }],
  stop: "end",
  usage: { ...noUsage(), output: 1 },
}
const spent = { ...noUsage(), input: 7 }

const fault = (kind: Failure["kind"], more: { retryAfter?: number; retry?: boolean } = {}): Answer => ({
  ok: false,
  error: { kind, message: kind },
  retry: true,
  usage: spent,
  ...more,
})

/** A clock whose timers are over as soon as anybody waits for them. */
function rushing(random = () => 0.5) {
  let time = 0
  const clock: Clock = {
    now: () => time,
    random,
    after(ms, then) {
      const timer = setImmediate(() => {
        time += ms
        then()
      })
      return () => clearImmediate(timer)
    },
  }
  const wait = async (ms: number) => {
    time += ms
  }
  return { clock, wait, time: () => time }
}

/** Plays the answers one after the other, the last one again and again, and notes what was told. */
async function play(
  answers: (Answer | (() => Answer))[],
  options: { random?: () => number; signal?: AbortSignal } = {},
) {
  const { clock, wait, time } = rushing(options.random)
  const slept: number[] = []
  let tries = 0
  const attempt: Attempt = async () => {
    const next = answers[Math.min(tries++, answers.length - 1)]!
    return typeof next === "function" ? next() : next
  }
  const failed: Parameters<Listen["failed"]>[0][] = []
  const stream = retrying(attempt, {
    gate: new Gate(clock),
    random: clock.random,
    sleep: async (ms) => {
      slept.push(ms)
      await wait(ms)
    },
  })
  const answer = await stream(request, {
    signal: options.signal ?? new AbortController().signal,
    delta: () => {},
    failed: (failure) => failed.push(failure),
  })
  return { answer, failed, slept, tries, time: time() }
}

test("an answer at the first try is given as it is", async () => {
  assert.deepEqual(await play([fine]), { answer: fine, failed: [], slept: [], tries: 1, time: 0 })
})

for (const kind of ["overloaded", "network", "truncated", "stalled"] as const) {
  test(`${kind} is tried eight times with waits that double, and the last failure is the answer`, async () => {
    const { answer, failed, slept, tries } = await play([fault(kind)])
    assert.deepEqual(answer, fault(kind))
    assert.equal(tries, 8)
    assert.deepEqual(slept, [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000])
    assert.deepEqual(
      failed,
      slept.map((wait) => ({ error: { kind, message: kind }, wait, usage: spent })),
    )
  })

  test(`${kind} that passes is forgotten`, async () => {
    const { answer, failed, tries } = await play([fault(kind), fault(kind), fine])
    assert.deepEqual(answer, fine)
    assert.equal(failed.length, 2)
    assert.equal(tries, 3)
  })
}

test("waits are drawn from the whole span, so that runs do not come back together", async () => {
  const draws = [0, 0.999, 0.1]
  const { slept } = await play([fault("network"), fault("network"), fault("network"), fine], {
    random: () => draws.shift() ?? 0,
  })
  assert.deepEqual(slept, [0, 999, 200])
})

for (const kind of ["authentication", "bad_request", "not_found", "context_overflow", "refused"] as const) {
  test(`${kind} is never tried again, whatever the client says`, async () => {
    const { answer, failed, tries } = await play([fault(kind)])
    assert.deepEqual([answer, failed, tries], [fault(kind), [], 1])
  })
}

test("what the client calls final is final", async () => {
  const { answer, tries } = await play([fault("rate_limit", { retry: false })])
  assert.deepEqual([answer, tries], [fault("rate_limit", { retry: false }), 1])
})

test("a limit with a time is obeyed, also a long one, and shown", async () => {
  for (const retryAfter of [3_000, 60_000, 120_000]) {
    const { answer, failed, slept, time } = await play([fault("rate_limit", { retryAfter }), fine])
    assert.deepEqual(answer, fine)
    assert.deepEqual(failed, [{ error: { kind: "rate_limit", message: "rate_limit" }, wait: retryAfter, usage: spent }])
    assert.deepEqual(slept, [])
    assert.equal(time, retryAfter)
  }
})

test("a limit that asks for no wait at all is not taken as leave to hammer", async () => {
  const { failed } = await play([fault("rate_limit", { retryAfter: 0 }), fault("rate_limit", { retryAfter: 0 }), fine])
  assert.deepEqual(
    failed.map(({ wait }) => wait),
    [250, 500],
  )
})

test("a limit without a time is tried three times: it may be a spending cap", async () => {
  const { answer, failed, tries } = await play([fault("rate_limit")])
  assert.deepEqual([answer, failed.length, tries], [fault("rate_limit"), 2, 3])
})

test("a limit with a time is tried eight times", async () => {
  const { tries } = await play([fault("rate_limit", { retryAfter: 1 })])
  assert.equal(tries, 8)
})

test("a bug in the client is an answer too", async () => {
  const { answer, failed, tries } = await play([
    () => {
      throw new Error("oops")
    },
  ])
  assert.ok(!answer.ok)
  assert.equal(answer.error.kind, "internal")
  assert.match(answer.error.message, /oops/)
  assert.deepEqual([answer.retry, failed, tries], [false, [], 1])
})

test("a signal that fires during a try, a wait or before all ends it without another request", async () => {
  const controller = new AbortController()
  const cut = () => {
    controller.abort()
    return fault("network")
  }
  const during = await play([cut], { signal: controller.signal })
  assert.deepEqual(during.answer, { ...fault("network"), retry: false })
  assert.deepEqual([during.failed, during.tries], [[], 1])

  const before = await play([fine], { signal: controller.signal })
  const error = { kind: "network", message: "the request was stopped" }
  assert.deepEqual(before.answer, { ok: false, error, retry: false, usage: noUsage() })
  assert.equal(before.tries, 0)
})

test("a long wait can be stopped at once", async () => {
  const { clock } = rushing()
  const still: Clock = { ...clock, after: () => () => {} }
  const controller = new AbortController()
  const stream = retrying(async () => fault("rate_limit", { retryAfter: 3_600_000 }), {
    gate: new Gate(still),
    random: Math.random,
    sleep,
  })
  const answer = await stream(request, {
    signal: controller.signal,
    delta: () => {},
    failed: () => setImmediate(() => controller.abort()),
  })
  const error = { kind: "network", message: "the request was stopped" }
  assert.deepEqual(answer, { ok: false, error, retry: false, usage: noUsage() })
})

test("what a try says is passed on as it comes", async () => {
  const heard: Delta[] = []
  const stream = retrying(
    async (_request, { delta }) => {
      delta({ kind: "text", text: "h" })
      delta({ kind: "reasoning", text: "i" })
      return fine
    },
    { gate: new Gate(rushing().clock), random: Math.random, sleep },
  )
  await stream(request, { signal: new AbortController().signal, delta: (each) => heard.push(each), failed: () => {} })
  assert.deepEqual(heard, [
    { kind: "text", text: "h" },
    { kind: "reasoning", text: "i" },
  ])
})

test("a refused key stops the other runs with the same message and without a request of their own", async () => {
  const { clock } = rushing()
  let requests = 0
  const attempt: Attempt = async () => {
    requests++
    return requests <= 2 ? fault("rate_limit", { retryAfter: 1_000 }) : fault("authentication", { retry: false })
  }
  const stream = retrying(attempt, { gate: new Gate(clock), random: clock.random, sleep })
  const listen = { signal: new AbortController().signal, delta: () => {}, failed: () => {} }
  const answers = await Promise.all(Array.from({ length: 8 }, () => stream(request, listen)))
  // Eight were under way when the key was refused or the limit met; nobody asked again after that.
  assert.deepEqual(
    answers.map((answer) => answer.ok || answer.error),
    Array(8).fill({ kind: "authentication", message: "authentication" }),
  )
  assert.equal(requests, 8)
})

test("64 runs that meet a limit together come back one by one", async () => {
  const { clock } = rushing()
  const gate = new Gate(clock)
  let inside = 0
  const most: number[] = []
  let tries = 0
  const attempt: Attempt = async () => {
    const first = ++tries <= 64
    most.push(++inside)
    await new Promise(setImmediate)
    inside--
    return first ? fault("rate_limit", { retryAfter: 2_000 }) : fine
  }
  const stream = retrying(attempt, { gate, random: clock.random, sleep })
  const listen = { signal: new AbortController().signal, delta: () => {}, failed: () => {} }
  const answers = await Promise.all(Array.from({ length: 64 }, () => stream(request, listen)))
  assert.ok(answers.every(({ ok }) => ok))
  assert.equal(tries, 128)
  assert.equal(Math.max(...most.slice(0, 64)), 64)
  assert.ok(Math.max(...most.slice(64)) <= 32)
})

test("sleep ends with its time or its signal and leaves no listener", async () => {
  const controller = new AbortController()
  await sleep(1, controller.signal)
  assert.equal(getEventListeners(controller.signal, "abort").length, 0)
  const long = sleep(1e12, controller.signal)
  controller.abort()
  await long
  await sleep(1e12, controller.signal)
  assert.equal(getEventListeners(controller.signal, "abort").length, 0)
})
