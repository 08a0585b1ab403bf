import assert from "node:assert/strict"
import { test } from "node:test"
import { owedBy } from "../src/agent/delivery.ts"
import { announcement } from "../src/announcement.ts"
import { busOf } from "../src/bus.ts"
import type { Fact, Place, Post, Stamped, Status } from "../src/core/event.ts"
import type { Posting } from "../src/posting.ts"
import { type Answered, type Ask, type Server, serverOf } from "../src/serve.ts"
import { call, fail, type Reply, scripted } from "../src/testing.ts"
import { world } from "./agent/world.ts"

/** Messages begin with what the model is to make of them. */
function answer(text: string, since: number): Reply {
  const about = /^A task that you were given earlier, "(.*)", (?:is done|could)/.exec(text)?.[1]
  if (about) return `by the way: ${about}`
  if (text.startsWith("behind ") && since === 0)
    return [call("task", { prompt: `work on ${text.slice(7)}`, label: text.slice(7), background: true })]
  if (text.startsWith("behind ")) return "I have begun"
  if (text === "no") return fail("overloaded", "529", { retry: false })
  return `answer to ${text}`
}

const model = () =>
  scripted(({ messages }) => {
    const asked = messages.findLastIndex(({ role }) => role === "user")
    const message = messages[asked]
    return answer(message?.role === "user" ? message.text : "", messages.length - 1 - asked)
  })

type Making = { stored?: Stamped<Fact>[]; prompt?: Ask; capacity?: number }

/** A session that is served, new or as a crash left it. */
function served({ stored = [], prompt, capacity }: Making = {}) {
  let server: Server | undefined
  const each = world(model(), { stored, announcement, place: () => server?.place() })
  const main = stored.length > 0 ? [...each.view.keys()][0]! : each.open()
  let ids = 0
  const { log, runtime } = each
  const bus = busOf({ log, main, newId: () => `n${++ids}`, ...(capacity !== undefined && { capacity }) })
  const asked: Parameters<Ask>[] = []
  const warned: string[] = []
  const ask: Ask = (text, options) => {
    asked.push([text, options])
    return prompt ? prompt(text, options) : runtime.prompt(main, { text, key: options.key })
  }
  server = serverOf({ log, main, bus, prompt: ask, warn: (text) => warned.push(text) })
  return { ...each, main, bus, server, asked, warned }
}

type Served = ReturnType<typeof served>

const said = (text: string, place: Place, id = text): Posting => ({ ...place, id, text })
const anna = { channel: "web", chatId: "anna" }
const bert = { channel: "phone", chatId: "b:ert" }

/** Resolves when all that came in is dealt with, and nobody is at work whose result would come in. */
function quiet({ log, view, main }: Served, came: readonly string[]): Promise<void> {
  const isQuiet = () =>
    came.every((id) => view.get(main)!.heard.has(id)) &&
    [...view.get(main)!.posts.values()].every(({ way }) => way === "out") &&
    [...view.values()].every((run) => !run.behind || (run.rest && !owedBy(view, run)))
  return new Promise((resolve) => {
    const look = () => {
      if (!isQuiet()) return
      unlisten()
      resolve()
    }
    const unlisten = log.listen(look)
    look()
  })
}

/** Publishes, serves until nothing is left to do, and gives back all that was answered so far. */
async function through(each: Served, postings: Posting[], first = async () => {}): Promise<Post[]> {
  const stop = new AbortController()
  for (const posting of postings) await each.bus.in.publish(posting)
  await first()
  const serving = each.server.serve({ signal: stop.signal })
  await quiet(
    each,
    postings.map(({ id }) => id!),
  )
  stop.abort()
  await serving
  return each.facts.flatMap((fact) => {
    if (fact.type !== "bus.posted" || fact.way !== "out") return []
    const { type, seq, at, run, ...post } = fact
    return [post]
  })
}

const out = (place: Place, replyTo: string, text: string): Post => ({
  id: `answer/${replyTo}`,
  way: "out",
  ...place,
  sender: "assistant",
  text,
  replyTo,
})

test("each message is answered where it came from, one after the other", async () => {
  const each = served()
  const answers = await through(each, [said("one", anna), said("two", bert), said("three", anna)])
  assert.deepEqual(answers, [
    out(anna, "one", "answer to one"),
    out(bert, "two", "answer to two"),
    out(anna, "three", "answer to three"),
  ])
  assert.deepEqual(
    each.asked,
    ["one", "two", "three"].map((text) => [text, { key: `bus/${text}`, by: "user" }]),
  )
  assert.equal(each.server.place(), undefined)
})

test("what is done behind is told of where it was asked for, in the model's words", async () => {
  const each = served()
  const answers = await through(each, [said("behind roofs", anna), said("behind doors", bert)])
  const about = (place: Place, label: string) =>
    answers.filter(({ text, chatId }) => text === `by the way: ${label}` && chatId === place.chatId).length
  assert.deepEqual([answers.length, about(anna, "roofs"), about(bert, "doors")], [4, 1, 1])
  assert.deepEqual(each.asked.map(([, { by }]) => by).sort(), ["system", "system", "user", "user"])
})

/** What anybody outside could tell. Ids of results have numbers in them that a crash may change. */
const told = (answers: Post[]) => answers.map(({ channel, chatId, text }) => `${channel} ${chatId} ${text}`).sort()

for (const order of ["resumed, then served", "served while it is resumed"]) {
  test(`killed after any fact and ${order}, each message is answered once, and what was done is told of once`, async () => {
    const postings = [said("behind roofs", anna), said("one", bert), said("no", anna), said("behind doors", bert)]
    const whole = served()
    const answers = told(await through(whole, postings))
    assert.equal(answers.length, 6)
    for (let cut = 1; cut <= whole.facts.length; cut++) {
      const again = served({ stored: whole.facts.slice(0, cut) })
      const resumed = again.runtime.resume.bind(again.runtime)
      const first = order === "resumed, then served" ? resumed : async () => void resumed()
      assert.deepEqual(told(await through(again, postings, first)), answers, `cut after fact ${cut}`)
      const { messages } = again.view.get(again.main)!
      const heard = messages.flatMap((message) => (message.role === "user" ? [message.text] : []))
      assert.equal(new Set(heard).size, heard.length, `nothing is asked twice (cut ${cut})`)
    }
  })
}

test("an answer that a crash held back is the one that was worked out, whatever was asked since", async () => {
  const whole = served()
  await through(whole, [said("one", anna)])
  const at = (wanted: Fact["type"]) => whole.facts.findIndex(({ type }) => type === wanted) + 1
  for (const cut of [at("mail.read"), at("turn.ended"), at("run.settled")]) {
    const again = served({ stored: whole.facts.slice(0, cut) })
    const answers = await through(again, [said("one", anna)], async () => {
      await again.runtime.resume()
      await again.runtime.prompt(again.main, { text: "a secret" })
    })
    assert.deepEqual(answers, [out(anna, "one", "answer to one")])
    assert.deepEqual(again.asked, [], "nothing has to be asked for that again")
  }
})

test("an answer that was given before a crash is not worked out again", async () => {
  const whole = served()
  const answers = await through(whole, [said("one", anna)])
  const stored = whole.facts.filter(({ type }) => type !== "bus.taken")
  const again = served({ stored })
  assert.deepEqual([await through(again, []), again.asked], [answers, []])
})

test("whoever is started goes by the place that is served, also between a crash and being served again", async () => {
  const places: (Place | undefined)[] = []
  const each = served({
    prompt: async () => {
      places.push(each.server.place())
      return { status: "completed", text: "x" }
    },
  })
  each.log.listen(({ type }) => type === "bus.taken" && places.push(each.server.place()))
  await through(each, [said("one", anna), said("r", { channel: "system", chatId: "phone:b:ert" })])
  assert.deepEqual(places, [anna, undefined, bert, undefined])
  const whole = served()
  await through(whole, [said("one", anna)])
  const cut = whole.facts.findIndex(({ type }) => type === "mail.read")
  assert.deepEqual(served({ stored: whole.facts.slice(0, cut) }).server.place(), anna)
})

test("what went wrong is said in a short plain sentence, or with the result that was to be told of", async () => {
  const failed = (kind: NonNullable<Answered["error"]>["kind"]): Answered => ({
    status: "failed",
    text: "half",
    error: { kind, message: "HTTP 500 x-api-key" },
  })
  const ended = (status: Status, text = ""): Answered => ({ status, text })
  const cases: [Answered, string][] = [
    [failed("overloaded"), "I could not get through just now. Please try again in a little while."],
    [failed("internal"), "Something went wrong, and I could not finish that."],
    [failed("refused"), "I cannot help with that."],
    [ended("completed", " \n"), "I have nothing to say to that."],
    [ended("cancelled"), "I was stopped before I had finished that."],
    [ended("timeout"), "That took too long, so I did not finish it."],
    [ended("max_turns", "So far: two."), "So far: two."],
    [ended("completed", "x".repeat(2_000_000)), `${"x".repeat(900_000)}…`],
  ]
  for (const [answered, words] of cases) {
    const [answer] = await through(served({ prompt: async () => answered }), [said("one", anna)])
    assert.equal(answer?.text, words)
  }
  const result = { ...said("r", { channel: "system", chatId: "web:anna" }), plain: "Roofs is done." }
  const [answer] = await through(served({ prompt: async () => failed("network") }), [result])
  assert.deepEqual(answer, out(anna, "r", "Roofs is done."))
})

test("a message with the longest of ids, from the longest of places, is answered", async () => {
  const [place, id] = [{ channel: "c".repeat(1_000), chatId: "i".repeat(1_000) }, "x".repeat(900)]
  assert.deepEqual(await through(served(), [said("one", place, id)]), [out(place, id, "answer to one")])
})

test("a message that cannot be asked does not keep the next from being answered", async () => {
  const each = served({
    prompt: async (text) => {
      if (text === "one") throw new Error("no such folder")
      return { status: "completed", text }
    },
  })
  const answers = await through(each, [said("one", anna), said("two", bert)])
  assert.deepEqual(
    answers.map(({ text }) => text),
    ["Something went wrong, and I could not finish that.", "two"],
  )
  assert.deepEqual(each.warned, ["a message could not be dealt with: no such folder"])
})

test("serving ends after what is at hand when it is told to, and only one serves at a time", async () => {
  const stop = new AbortController()
  const each = served({
    prompt: async (text) => {
      await assert.rejects(each.server.serve(), /this session is being served already: stop that first/)
      stop.abort()
      return { status: "completed", text }
    },
  })
  for (const text of ["one", "two"]) await each.bus.in.publish(said(text, anna))
  await each.server.serve({ signal: stop.signal })
  const { posts } = each.view.get(each.main)!
  assert.deepEqual([...posts.keys()], ["two", "answer/one"])
  const again = new AbortController()
  again.abort()
  await each.server.serve({ signal: again.signal })
})

test("closed in the middle, it ends without an answer; the message is answered when the session is opened again", async () => {
  const each = served({
    prompt: async () => {
      each.bus.close()
      return { status: "cancelled", text: "" }
    },
  })
  await each.bus.in.publish(said("one", anna))
  await each.server.serve()
  assert.deepEqual(await through(served({ stored: each.facts }), []), [out(anna, "one", "answer to one")])
})

test("a store that fails ends the serving with what is wrong", async () => {
  const each = served()
  await each.bus.in.publish(said("one", anna))
  each.bus.out.publish = () => Promise.reject(new Error("the disk is full"))
  await assert.rejects(each.server.serve(), /the disk is full/)
})
