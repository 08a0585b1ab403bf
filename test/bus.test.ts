import assert from "node:assert/strict"
import { getEventListeners } from "node:events"
import { test } from "node:test"
import fc from "fast-check"
import { busOf, Closed } from "../src/bus.ts"
import type { Fact, Post, Stamped } from "../src/core/event.ts"
import { Log } from "../src/core/log.ts"
import type { Posting } from "../src/posting.ts"
import { scripted } from "../src/testing.ts"
import { world } from "./agent/world.ts"

/** A bus over a log in memory, new or as a crash left it. */
function bused({ stored = [], capacity }: { stored?: Stamped<Fact>[]; capacity?: number } = {}) {
  const { log, facts, open, view } = world(
    scripted(() => "x"),
    { stored },
  )
  const main = stored.length > 0 ? [...view.keys()][0]! : open()
  let ids = 0
  const bus = busOf({ log, main, newId: () => `n${++ids}`, ...(capacity !== undefined && { capacity }) })
  const untaken = () => [...view.get(main)!.posts.keys()]
  return { bus, log, main, facts, untaken, view }
}

const hello = (text: string, more: Partial<Posting> = {}): Posting => ({ channel: "a", chatId: "1", text, ...more })

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function texts(posts: AsyncIterable<Post>, count: number): Promise<string[]> {
  const heard: string[] = []
  for await (const { text } of posts) if (heard.push(text) === count) break
  return heard
}

test("what is published comes out whole and in order, with what was left out filled in", async () => {
  const { bus, main, view, untaken } = bused()
  assert.equal(await bus.in.publish(hello("one")), "n1")
  assert.equal(await bus.out.publish(hello("two", { id: "mine", sender: "s", plain: "p", replyTo: "n1" })), "mine")
  const place = { channel: "a", chatId: "1" }
  for await (const post of bus.in.consume()) {
    assert.deepEqual(post, { id: "n1", way: "in", ...place, sender: "user", text: "one" })
    post.text = "mine now"
    assert.equal(view.get(main)?.posts.get("n1")?.text, "one")
    break
  }
  for await (const post of bus.out.consume()) {
    assert.deepEqual(post, { id: "mine", way: "out", ...place, sender: "s", text: "two", plain: "p", replyTo: "n1" })
    break
  }
  assert.deepEqual(untaken(), [])
})

test("it is dealt with when the next is asked for or the loop is left, and not before", async () => {
  const { bus, untaken } = bused()
  for (const text of ["one", "two", "three"]) await bus.in.publish(hello(text))
  const seen: string[][] = []
  for await (const { id } of bus.in.consume()) {
    seen.push(untaken())
    if (id === "n2") break
  }
  assert.deepEqual(seen, [
    ["n1", "n2", "n3"],
    ["n2", "n3"],
  ])
  assert.deepEqual(untaken(), ["n3"])
})

test("many consumers share what comes: each post goes to one that it fits, in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 }),
      fc.array(fc.constantFrom("a", "b", "c", undefined), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 10 }),
      async (channels, filters, capacity, paces) => {
        const { bus, untaken } = bused({ capacity })
        const stop = new AbortController()
        const read = filters.map(() => [] as Post[])
        const consumers = filters.map(async (channel, n) => {
          for await (const post of bus.in.consume({ signal: stop.signal, ...(channel && { channel }) })) {
            read[n]!.push(post)
            for (let wait = paces[read[n]!.length % paces.length]!; wait > 0; wait--) await null
          }
        })
        const fit = channels.filter((channel) => filters.includes(channel) || filters.includes(undefined))
        for (const [n, channel] of fit.entries()) {
          const published = bus.in.publish(hello(String(n), { channel }))
          if (paces[n % paces.length]! > 1) await published
        }
        while (untaken().length > 0 || read.flat().length < fit.length) await settled()
        stop.abort()
        await Promise.all(consumers)
        const numbers = read.map((posts) => posts.map(({ text }) => Number(text)))
        assert.deepEqual(
          numbers.flat().sort((a, b) => a - b),
          [...fit.keys()],
        )
        for (const each of numbers)
          assert.deepEqual(
            each,
            each.toSorted((a, b) => a - b),
          )
        for (const [n, channel] of filters.entries())
          assert.ok(read[n]!.every((post) => channel === undefined || post.channel === channel))
      },
    ),
    { numRuns: 100 },
  )
})

test("whoever publishes waits while too many are not dealt with, each way for itself, and first come is first served", async () => {
  const { bus, untaken } = bused({ capacity: 2 })
  const done: string[] = []
  for (const text of ["1", "2", "3", "4", "5"]) void bus.in.publish(hello(text)).then((id) => done.push(id))
  await settled()
  assert.deepEqual(
    [done, untaken()],
    [
      ["n1", "n2"],
      ["n1", "n2"],
    ],
  )
  assert.equal(await bus.out.publish(hello("other way")), "n3")
  assert.deepEqual(await texts(bus.in.consume(), 1), ["1"])
  // The place that is free now is that of the next in the row.
  const late = bus.in.publish(hello("6"))
  await settled()
  assert.deepEqual(untaken(), ["n2", "n3", "n4"])
  assert.deepEqual(await texts(bus.in.consume(), 5), ["2", "3", "4", "5", "6"])
  assert.deepEqual([done, await late], [["n1", "n2", "n4", "n5", "n6"], "n7"])
})

test("whoever waits to publish can leave, and what it had to say is not said", async () => {
  const { bus } = bused({ capacity: 1 })
  await bus.in.publish(hello("1"))
  const stop = new AbortController()
  const second = bus.in.publish(hello("2"), { signal: stop.signal })
  const third = bus.in.publish(hello("3"))
  stop.abort(new Error("gone"))
  await assert.rejects(second, /^Error: gone$/)
  await assert.rejects(bus.in.publish(hello("4"), { signal: stop.signal }), /^Error: gone$/)
  assert.deepEqual(getEventListeners(stop.signal, "abort"), [])
  assert.deepEqual(await texts(bus.in.consume(), 2), ["1", "3"])
  await third
})

test("whoever listens to the log and acts at once neither gets what is another's nor takes another's turn", async () => {
  const { log, open } = world(scripted(() => "x"))
  const main = open()
  let told = (_type: string) => {}
  // Before the bus itself hears of it.
  log.listen(({ type }) => told(type))
  const bus = busOf({ log, main, capacity: 1, newId: () => assert.fail() })
  const second = texts(bus.in.consume(), 2)
  await settled()
  const first: Promise<string[]>[] = []
  told = (type) => type === "bus.posted" && first.length === 0 && first.push(texts(bus.in.consume(), 1))
  await bus.in.publish(hello("1", { id: "1" }))
  told = (type) => {
    if (type !== "bus.taken") return
    told = () => {}
    void bus.in.publish(hello("3", { id: "3" }))
  }
  await bus.in.publish(hello("2", { id: "2" }))
  assert.deepEqual([await first[0], await second], [["1"], ["2", "3"]])
})

test("a signal that never fires is left as it was found", async () => {
  const { bus } = bused({ capacity: 1 })
  const { signal } = new AbortController()
  const published = ["1", "2"].map((text) => bus.in.publish(hello(text), { signal }))
  assert.deepEqual(await texts(bus.in.consume({ signal }), 2), ["1", "2"])
  await Promise.all(published)
  assert.deepEqual(getEventListeners(signal, "abort"), [])
})

test("an id is posted once, and publishing it again waits for nothing", async () => {
  const { bus, facts, untaken } = bused({ capacity: 1 })
  await bus.in.publish(hello("1", { id: "x" }))
  assert.equal(await bus.in.publish(hello("1", { id: "x" })), "x")
  const twice = [bus.in.publish(hello("2", { id: "y" })), bus.in.publish(hello("2", { id: "y" }))]
  assert.deepEqual(await texts(bus.in.consume(), 2), ["1", "2"])
  assert.deepEqual(await Promise.all(twice), ["y", "y"])
  assert.equal(await bus.in.publish(hello("1", { id: "x" })), "x")
  assert.deepEqual(untaken(), [])
  assert.equal(facts.filter(({ type }) => type === "bus.posted").length, 2)
})

test("a new id is one that nobody has", async () => {
  const { bus } = bused()
  await bus.in.publish(hello("theirs", { id: "n1" }))
  assert.equal(await bus.in.publish(hello("ours")), "n2")
})

test("what cannot be posted is refused with what to do about it", async () => {
  const { bus, facts } = bused()
  const before = facts.length
  const wrong: [Partial<Record<keyof Post, unknown>>, RegExp][] = [
    [{ channel: " " }, /^Error: channel is empty: give it a text$/],
    [{ channel: undefined }, /channel is empty/],
    [{ channel: "a:b" }, /^Error: the channel "a:b" has a colon: choose another name$/],
    [{ chatId: "" }, /chatId is empty/],
    [{ chatId: 7 }, /chatId is empty/],
    [{ chatId: "x".repeat(1_001) }, /chatId has 1001 characters: keep it to 1000/],
    [{ sender: "" }, /sender is empty/],
    [{ text: "\n" }, /text is empty: there must be something to say/],
    [{ text: "x".repeat(1_000_001) }, /text has 1000001 characters: keep it to 1000000, or send a path or a link/],
    [{ plain: "" }, /plain is empty/],
    [{ id: "" }, /id is empty/],
    [{ id: "i".repeat(901) }, /id has 901 characters: keep it to 900/],
    [{ id: "bus/1" }, /the id bus\/1 is like the session's own: choose another/],
    [{ id: "answer/1" }, /like the session's own/],
    [{ channel: "system" }, /the chatId must be "channel:chatId" of the chat that it is about/],
    [{ channel: "system", chatId: ":1" }, /must be "channel:chatId"/],
    [{ channel: "system", chatId: "system:1" }, /system is no channel that anybody reads/],
  ]
  for (const [more, words] of wrong)
    await assert.rejects(
      bus.in.publish({ ...hello("x"), ...more } as Posting),
      words,
      JSON.stringify(more).slice(0, 99),
    )
  await assert.rejects(
    bus.out.publish(hello("x", { channel: "system", chatId: "a:1" })),
    /no channel that anybody reads/,
  )
  assert.equal(facts.length, before)
  await bus.in.publish(hello("x".repeat(1_000_000), { channel: "system", chatId: "a:1:2" }))
})

test("an id is given only when the post is safe", async () => {
  const gate = Promise.withResolvers<void>()
  const { facts, main } = bused()
  const log = new Log({ append: () => {}, synced: () => gate.promise }, () => 1, assert.ifError)
  log.replay(facts)
  const bus = busOf({ log, main, newId: () => "n" })
  let safe = false
  const published = bus.in.publish(hello("x")).then(() => (safe = true))
  await settled()
  assert.equal(safe, false)
  gate.reject(new Error("the disk is full"))
  await assert.rejects(published, /the disk is full/)
})

test("an abort ends the iteration; what came in the same moment goes to another", async () => {
  const { bus, untaken } = bused()
  const stop = new AbortController()
  const [first, second] = [texts(bus.in.consume({ signal: stop.signal }), 9), texts(bus.in.consume(), 2)]
  await settled()
  void bus.in.publish(hello("1"))
  stop.abort()
  void bus.in.publish(hello("2"))
  assert.deepEqual([await first, await second], [[], ["1", "2"]])
  assert.deepEqual([await texts(bus.in.consume({ signal: stop.signal }), 9), untaken()], [[], []])
  assert.deepEqual(getEventListeners(stop.signal, "abort"), [])
})

test("whoever was waiting when it was aborted gets nothing that comes before it has noticed", async () => {
  const { bus } = bused()
  const stop = new AbortController()
  const first = texts(bus.in.consume({ signal: stop.signal }), 9)
  await settled()
  stop.abort()
  void bus.in.publish(hello("1"))
  assert.deepEqual([await first, await texts(bus.in.consume(), 1)], [[], ["1"]])
})

test("closing ends all iterations and refuses what waits; what is in somebody's hands is given out again", async () => {
  const { bus, facts } = bused({ capacity: 1 })
  await bus.in.publish(hello("1"))
  const refused = assert.rejects(bus.in.publish(hello("2")), Closed)
  const idle = texts(bus.out.consume(), 9)
  for await (const { text } of bus.in.consume()) {
    assert.equal(text, "1")
    bus.close()
  }
  await refused
  assert.deepEqual([await idle, await texts(bus.in.consume(), 9)], [[], []])
  await assert.rejects(bus.in.publish(hello("3")), /^Closed: the session is closed; open it again/)
  assert.deepEqual(await texts(bused({ stored: facts }).bus.in.consume(), 1), ["1"])
})

test("a log that takes nothing any more lets nothing be lost: publishing is refused and nothing is given twice", async () => {
  const { bus, log, facts } = bused()
  await bus.in.publish(hello("1"))
  const seen: string[] = []
  const reading = (async () => {
    for await (const { text } of bus.in.consume()) {
      seen.push(text)
      log.seal()
    }
  })()
  await settled()
  await assert.rejects(bus.in.publish(hello("2")), Closed)
  bus.close()
  await reading
  assert.deepEqual(seen, ["1"])
  assert.deepEqual(await texts(bused({ stored: facts }).bus.in.consume(), 1), ["1"])
})

test("killed after any fact, every post that was safe is given out: once, or again if it was in somebody's hands", async () => {
  const whole = bused({ capacity: 3 })
  const numbers = Array.from({ length: 8 }, (_, n) => String(n))
  const publish = async ({ bus }: typeof whole) => {
    for (const text of numbers) await bus.in.publish(hello(text, { id: `m${text}` }))
  }
  await Promise.all([publish(whole), texts(whole.bus.in.consume(), 8)])
  for (let cut = 1; cut <= whole.facts.length; cut++) {
    const stored = whole.facts.slice(0, cut)
    const taken = stored.flatMap((fact) => (fact.type === "bus.taken" ? [fact.id] : []))
    const again = bused({ stored, capacity: 3 })
    const left = numbers.filter((text) => !taken.includes(`m${text}`))
    const [, read] = await Promise.all([
      publish(again),
      left.length > 0 ? texts(again.bus.in.consume(), left.length) : [],
    ])
    assert.deepEqual(read, left, `cut after fact ${cut}`)
    assert.deepEqual(again.untaken(), [])
  }
})

test("what the engine itself posts is given out too, and a bus listens with one listener until it is closed", async () => {
  const { facts, main } = bused()
  const log = new Log({ append: () => {}, synced: async () => {} }, () => 1, assert.ifError)
  log.replay(facts)
  let listeners = 0
  const listen = log.listen.bind(log)
  log.listen = (listener) => {
    listeners++
    const unlisten = listen(listener)
    return () => {
      listeners--
      unlisten()
    }
  }
  const bus = busOf({ log, main, newId: () => "n" })
  const reading = texts(bus.in.consume(), 1)
  await settled()
  const place = { channel: "system", chatId: "a:1", sender: "subagent" }
  log.emit(main, { type: "bus.posted", id: "result/r1/1", way: "in", ...place, text: "done" })
  assert.deepEqual([await reading, listeners], [["done"], 1])
  bus.close()
  assert.equal(listeners, 0)
})
