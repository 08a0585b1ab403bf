import assert from "node:assert/strict"
import { test } from "node:test"
import { call } from "../../src/testing/reply.ts"
import { behind, firstOf, forever, front, lastOf, scene, unbroken } from "./scene.ts"

test("a stop of everything also ends what a stop of the turn would have gone on with", async () => {
  const each = scene({
    main: ({ messages }) => (lastOf(messages).text === "go" ? [call("deaf")] : "rose"),
    child: () => "",
  })
  each.log.listen(({ type }) => {
    if (type !== "call.started") return
    void each.runtime.prompt(each.run, { text: "no, this" })
    void each.runtime.cancel(each.run, undefined, "turn")
    void each.runtime.cancel(each.run)
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual([each.model.requests.length, each.statuses()], [1, ["cancelled"]])
})

test("a child that was steered and then stopped does not rise when the session is opened again", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [behind("p", { agent: "lead" })] : "end"),
    child: () => [call("deaf")],
  })
  void each.runtime.prompt(each.run, { text: "go" })
  await each.happened("call.started", "r1")
  each.runtime.tell("r1", { text: "also b" })
  await each.runtime.cancel("r1")
  await each.runtime.idle()
  const again = scene({ main: () => "end", child: () => "at work again" }, { stored: each.facts })
  await again.runtime.resume()
  assert.deepEqual([again.model.requests, again.statuses()], [[], ["completed", "cancelled"]])
})

test("a stop of the family wakes nobody, not even for one that was told more and waits for a place", async () => {
  const each = scene(
    {
      main: ({ messages }, turn) => {
        const { text } = lastOf(messages)
        if (text === "go") return [behind("quick")]
        return text === "again" ? [behind("slow")] : `turn ${turn}`
      },
      child: ({ messages }) => (firstOf(messages) === "slow" ? forever() : "done"),
    },
    { bounds: { parallel: 1 } },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  await each.runtime.prompt(each.run, { text: "again" })
  await each.happened("mail.read", "r2")
  each.runtime.tell("r1", { text: "more" })
  await each.happened("run.queued", "r1")
  const before = each.model.requests.length
  await each.runtime.cancel(each.run)
  await each.runtime.idle()
  assert.equal(each.model.requests.length, before)
})

/** A report that says when it is being written, and is done when the gate is open. */
function writing() {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const report = async () => {
    begun.resolve()
    await gate.promise
    return "written"
  }
  return { gate, begun: begun.promise, report }
}

test("a stop while a result is being written wakes nobody", async () => {
  const { gate, begun, report } = writing()
  const each = scene(
    { main: (_, turn) => (turn === 0 ? [behind("p")] : `turn ${turn}`), child: () => "found" },
    { report },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await begun
  const before = each.model.requests.length
  const stopped = each.runtime.cancel(each.run)
  gate.resolve()
  await stopped
  await each.runtime.idle()
  assert.deepEqual([each.model.requests.length, each.sent()], [before, ["written"]])
})

test("a run that was stopped alone is not woken by a result that was there before the stop", async () => {
  const { gate, begun, report } = writing()
  const each = scene(
    { main: (_, turn) => (turn === 0 ? [behind("p")] : [call("deaf")]), child: () => "found" },
    { report },
  )
  void each.runtime.prompt(each.run, { text: "go" })
  await begun
  await each.until(() => each.events.some((event) => event.type === "call.started" && event.name === "deaf"))
  await each.runtime.cancel(each.run, undefined, "run")
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(
    [each.model.requests.length, each.sent(), each.statuses()],
    [3, ["written"], ["cancelled", "completed"]],
  )
})

test("an agent that was stopped with one behind it can be gone on with", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [behind("lead", { agent: "lead" })] : `main ${turn}`),
    lead: ({ messages }, turn) => {
      if (turn === 0) return [behind("a")]
      return lastOf(messages).text === "go on" ? "went on" : forever()
    },
    child: forever,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.happened("mail.read", "r2")
  await each.runtime.cancel("r1")
  await each.runtime.idle()
  const result = await each.runtime.finish(each.run, "c", { prompt: "go on", resume: "r1" }, unbroken)
  assert.deepEqual([result.status, result.content], ["completed", "went on"])
})

test("an agent that was stopped in the queue stays so when the session is opened again, and can be gone on with", async () => {
  const each = scene(
    { main: (_, turn) => (turn === 0 ? [behind("a"), behind("b")] : `main ${turn}`), child: forever },
    { bounds: { parallel: 1 } },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.happened("run.queued", "r2")
  await each.runtime.cancel(each.run)
  await each.runtime.idle()
  const again = scene({ main: () => "end", child: () => "went on" }, { stored: each.facts })
  await again.runtime.resume()
  assert.deepEqual([again.model.requests, again.statuses()], [[], ["completed", "cancelled", "cancelled"]])
  const result = await again.runtime.finish(again.run, "c", { prompt: "go on", resume: "r2" }, unbroken)
  assert.deepEqual([result.status, result.content], ["completed", "went on"])
})

test("a child that is being stopped is not sent behind any more", async () => {
  const moved: boolean[] = []
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("a", { agent: "lead" })] : `main ${turn}`),
    child: () => [call("deaf")],
  })
  each.log.listen(({ type, run }) => {
    if (run !== "r1") return
    if (type === "call.started") void each.runtime.cancel("r1")
    if (type === "run.stopped") moved.push(each.runtime.sendBehind("r1"))
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual([moved, each.statuses(), each.sent()], [[false], ["completed", "cancelled"], []])
})

test("nothing is said to a session that is closed", async () => {
  const each = scene({ main: () => "end", child: () => "" })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.close()
  const before = each.facts.length
  assert.throws(() => each.runtime.prompt(each.run, { text: "more" }), {
    message: "the session is closed; open it again to go on",
  })
  assert.equal(each.facts.length, before)
})

test("of a hundred behind, stopped or not, each is heard of once, and none is at work any more", async () => {
  const prompts = Array.from({ length: 100 }, (_, at) => (at % 7 === 0 ? `deaf ${at}` : `quick ${at}`))
  const deaf = prompts.filter((prompt) => prompt.startsWith("deaf")).length
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? prompts.map((prompt) => behind(prompt)) : "end"),
      child: ({ messages }) => (firstOf(messages).startsWith("deaf") ? forever() : "done"),
    },
    { bounds: { parallel: 20 }, report: async ({ agentId }) => agentId },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.until(() => each.sent().length === prompts.length - deaf)
  for (const { id, depth, rest } of each.view.values()) if (depth > 0 && !rest) void each.runtime.cancel(id)
  await each.runtime.idle()
  const everybody = prompts.map((_, at) => `r${at + 1}`)
  assert.deepEqual([each.sent().sort(), each.runtime.running()], [everybody.sort(), 0])
})
