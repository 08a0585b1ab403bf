import assert from "node:assert/strict"
import { test } from "node:test"
import { setImmediate } from "node:timers/promises"
import type { Cache } from "../../src/agent/options.ts"
import { call } from "../../src/testing/reply.ts"
import { behind, type Cast, firstOf, front, heardIn, opening, scene, unbroken } from "./scene.ts"

const last = "No other agent is at work for you."

test("a child that is told more in the moment that it settles is heard once, by whoever waits for it", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("p")] : `turn ${turn}`),
    child: (_, turn) => `answer ${turn}`,
  })
  const unlisten = each.log.listen(({ type, run }) => {
    if (type !== "run.settled" || run !== "r1") return
    unlisten()
    each.runtime.tell("r1", { text: "more" })
  })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  const returned = each.main().messages.flatMap((message) => (message.role === "result" ? [message.text] : []))
  assert.deepEqual([returned, each.sent()], [["answer 1"], []])
})

test("a child that is gone on with and waited for can be sent behind", async () => {
  const gate = Promise.withResolvers<void>()
  const moved: boolean[] = []
  const each = scene({
    main: (_, turn) => {
      if (turn === 0) return [front("p")]
      return turn === 1 ? [call("task", { prompt: "more", resume: "r1" })] : `turn ${turn}`
    },
    child: async (_, turn) => {
      if (turn === 0) return "first"
      moved.push(each.runtime.sendBehind("r1"))
      await gate.promise
      return "second"
    },
  })
  const outcome = await each.runtime.prompt(each.run, { text: "go" })
  assert.deepEqual([moved, outcome, each.sent()], [[true], { status: "completed", text: "turn 2" }, []])
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(each.sent(), ["r1: second"])
})

test("a child that is sent behind while a chat is answered is announced to that chat", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [front("p")] : `turn ${turn}`),
      child: async () => {
        each.runtime.sendBehind("r1")
        await gate.promise
        return "late"
      },
    },
    { place: () => ({ channel: "chat", chatId: "7" }) },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  gate.resolve()
  await each.runtime.idle()
  assert.deepEqual([postsOf(each), each.sent()], [[{ chatId: "chat:7", text: "late" }], []])
})

const postsOf = ({ main }: ReturnType<typeof scene>) =>
  [...main().posts.values()].map(({ chatId, text }) => ({ chatId, text }))

test("an announcement for which there are no words is made with the result as it is", async () => {
  const announcement = () => {
    throw new Error("no words")
  }
  const each = scene({ main: () => "end", child: () => "found" }, { announcement })
  const announce = { channel: "chat", chatId: "7" }
  await each.runtime.task(each.run, "c", { agent: "explore", prompt: "p", background: true, announce }, unbroken)
  await each.runtime.idle()
  assert.deepEqual([postsOf(each), each.runtime.running()], [[{ chatId: "chat:7", text: "found" }], 0])
})

test("a child that a crash kept from being told its task holds nobody up when it may no longer be started", async () => {
  const cast: Cast = {
    main: (_, turn) => (turn === 0 ? [front("lead", { agent: "lead" })] : "end"),
    lead: (_, turn) => (turn === 0 ? [behind("a")] : "lead done"),
    child: () => "a done",
  }
  const each = scene(cast)
  await each.runtime.prompt(each.run, { text: "go" })
  const cut = each.facts.findIndex(({ type, run }) => type === "run.opened" && run === "r2") + 1
  const again = scene(cast, {
    stored: each.facts.slice(0, cut),
    gate: ({ access }) =>
      access.kind === "agent" && access.name === "explore" ? { do: "deny", why: "no longer" } : { do: "allow" },
  })
  await again.runtime.resume()
  assert.deepEqual(again.statuses(), ["completed", "completed", undefined])
})

test("what an agent says that was woken by one below it is heard above it", async () => {
  const each = scene({
    main: (_, turn) => (turn === 0 ? [front("lead", { agent: "lead" })] : `main ${turn}`),
    lead: (_, turn) => (turn === 0 ? [front("a")] : `lead ${turn}`),
    child: (_, turn) => `child ${turn}`,
  })
  await each.runtime.prompt(each.run, { text: "go" })
  each.runtime.tell("r2", { text: "more" })
  await each.runtime.idle()
  assert.deepEqual(
    ["r1", each.run].map((run) => heardIn(each.view.get(run)!.messages).at(-1)),
    [`${opening}\n\nr2: child 1\n\n${last}`, `${opening}\n\nr1: lead 2\n\n${last}`],
  )
})

test("results come in the order in which they were there, however long it takes to write one", async () => {
  const gate = Promise.withResolvers<void>()
  const each = scene(
    {
      main: (_, turn) => (turn === 0 ? [behind("a"), behind("b")] : `turn ${turn}`),
      child: async ({ messages }) => {
        if (firstOf(messages) === "b") await gate.promise
        return firstOf(messages)
      },
    },
    {
      report: async ({ content }) => {
        if (content === "b") return "b"
        gate.resolve()
        await each.happened("run.settled", "r2")
        await setImmediate() // by now the other would be written if it could
        return "a"
      },
    },
  )
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.idle()
  assert.deepEqual(each.sent(), ["a", "b"])
})

test("a child that a program waited for when a crash came can be gone on with", async () => {
  const each = scene({ main: () => "end", child: () => "first" })
  await each.runtime.prompt(each.run, { text: "go" })
  await each.runtime.finish(each.run, "program-1", { agent: "explore", prompt: "p" }, unbroken)
  const again = scene({ main: () => "end", child: () => "second" }, { stored: each.facts.slice(0, -1) })
  await again.runtime.resume()
  assert.deepEqual([again.model.requests, again.statuses()], [[], ["completed", "cancelled"]])
  const result = await again.runtime.finish(again.run, "program-2", { prompt: "go on", resume: "r1" }, unbroken)
  assert.deepEqual([result.status, result.content], ["completed", "second"])
})

const asked = { agent: "reader", prompt: "p", background: true, cache: true }
const known: Cache = async () => ({ text: "known", keep: async () => {} })

/** An agent whose answer is known, and whose report is being written until the gate is open. */
async function writing() {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const report = async ({ content }: { content: string }) => {
    begun.resolve()
    await gate.promise
    return content
  }
  const each = scene({ main: (_, turn) => `turn ${turn}`, child: () => "worked out" }, { cache: known, report })
  await each.runtime.task(each.run, "c", asked, unbroken)
  await begun.promise
  return { ...each, gate }
}

test("nothing is idle while a known answer is being written", async () => {
  const each = await writing()
  const idle = each.runtime.idle().then(() => each.sent())
  await setImmediate() // by now it would have said so
  each.gate.resolve()
  assert.deepEqual(await idle, ["known"])
})

test("a known answer is not lost when more is asked while it is being written", async () => {
  const each = await writing()
  each.runtime.tell("r1", { text: "more" })
  each.gate.resolve()
  await each.runtime.idle()
  assert.deepEqual(each.sent(), ["known", "worked out"])
})

test("an answer that cannot be kept is heard all the same", async () => {
  const keep = () => Promise.reject(new Error("the disk is full"))
  const each = scene({ main: (_, turn) => `turn ${turn}`, child: () => "found" }, { cache: async () => ({ keep }) })
  await each.runtime.task(each.run, "a", asked, unbroken)
  await each.runtime.idle()
  await setImmediate() // what nobody has caught fails the test here
  const result = await each.runtime.finish(each.run, "b", asked, unbroken)
  assert.deepEqual([each.sent(), result.content], [["r1: found"], "found"])
})
