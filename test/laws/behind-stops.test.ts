import assert from "node:assert/strict"
import { test } from "node:test"
import { call } from "../../src/testing/reply.ts"
import { behind, type Cast, front, scene } from "../agent/scene.ts"

/** Agents behind and in front, two deep, each with something to do. */
const cast: Cast = {
  main: (_, turn) => {
    if (turn === 0) return [behind("a", { agent: "lead" }), behind("b"), front("c", { agent: "lead" })]
    return turn === 1 ? [call("look")] : `main ${turn}`
  },
  lead: (_, turn) => {
    if (turn === 0) return [behind("d"), front("e")]
    return turn === 1 ? [call("look")] : `lead ${turn}`
  },
  child: (_, turn) => (turn === 0 ? [call("look")] : `child ${turn}`),
}

type Scene = ReturnType<typeof scene>

async function work({ runtime, run }: Scene): Promise<void> {
  await runtime.prompt(run, { text: "go" })
  await runtime.idle()
}

/** Works, and does something at one event of all. */
async function workUntil(each: Scene, at: number, then: () => Promise<void>): Promise<void> {
  let done: Promise<void> | undefined
  each.log.listen(({ seq }) => {
    if (seq === at) done = then()
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await done
  await each.runtime.idle()
}

/** Events of a whole session from the first prompt to its end, one of so many. */
async function* moments(oneOf: number, making: Parameters<typeof scene>[1] = {}): AsyncGenerator<number> {
  const whole = scene(cast, making)
  await work(whole)
  const first = whole.events.findIndex(({ type }) => type === "mail.read")
  for (let at = first; at < whole.events.length; at += oneOf) yield whole.events[at]!.seq
}

/** Runs that are at work, or would be if anybody woke them. */
const awake = ({ view }: Scene) =>
  [...view.values()].flatMap(({ id, rest, messages, stopping }) =>
    stopping || (!rest && messages.length > 0) ? [id] : [],
  )

test("after a stop of the family at any event nobody is asked anything, also not after a crash that came later", async () => {
  const making = { bounds: { parallel: 2 } }
  for await (const at of moments(3, making)) {
    const each = scene(cast, making)
    let asked = 0
    await workUntil(each, at, () => {
      const stopped = each.runtime.cancel(each.run)
      asked = each.model.requests.length
      return stopped
    })
    assert.deepEqual([each.model.requests.length, awake(each)], [asked, []], `stopped at event ${at}`)
    const told = each.facts.findLastIndex(({ type }) => type === "run.stopped") + 1
    for (let cut = told || each.facts.length; cut <= each.facts.length; cut++) {
      const again = scene(cast, { stored: each.facts.slice(0, cut) })
      await again.runtime.resume()
      assert.deepEqual([again.model.requests, awake(again)], [[], []], `stopped at event ${at}, cut after fact ${cut}`)
    }
  }
})

test("closed at any event and opened again, all ends as it would have", async () => {
  const whole = scene(cast)
  await work(whole)
  const ending = ({ view, sent, statuses }: Scene) => [view.size, sent().length, new Set(statuses())]
  for await (const at of moments(2)) {
    const each = scene(cast)
    await workUntil(each, at, () => each.runtime.close())
    const again = scene(cast, { stored: each.facts })
    await again.runtime.resume()
    assert.deepEqual(ending(again), ending(whole), `closed at event ${at}`)
  }
  assert.deepEqual(ending(whole), [8, 4, new Set(["completed"])])
})
