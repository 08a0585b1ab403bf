import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { type Conversation, compacted, line } from "../../src/core/compact.ts"
import type { Message, Result, User } from "../../src/core/message.ts"
import { weigh } from "../../src/core/weight.ts"

const said = (text: string): User => ({ role: "user", text })
const answer = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] })
const result = (text: string, images = 0): Result => ({
  role: "result",
  call: "a",
  name: "look",
  ok: false,
  text,
  ...(images > 0 && {
    images: Array.from({ length: images }, () => ({ mediaType: "image/png", data: "A".repeat(300) })),
  }),
})

test("an old result becomes its first words and how much there was; a short one stays", () => {
  for (const [before, after] of [
    [result("x".repeat(240)), "x".repeat(240)],
    [result("x".repeat(241)), `${"x".repeat(120)} … (241 characters, dropped to save room)`],
    [result(`one\n${"x".repeat(300)}`), "one … (304 characters, dropped to save room)"],
    [
      result(`${"x".repeat(119)}😀${"x".repeat(200)}`),
      `${"x".repeat(119)}\ufffd … (321 characters, dropped to save room)`,
    ],
    [result("seen", 1), "seen … (4 characters and an image, dropped to save room)"],
    [result("", 12), " … (0 characters and 12 images, dropped to save room)"],
  ] as const)
    assert.deepEqual(line(before), result(after))
  for (const message of [said("x".repeat(999)), answer("x".repeat(999)), result("short")])
    assert.equal(line(message), message)
})

test("what became a line stays as it is", () => {
  const text = fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: "binary", maxLength: 900 }))
  const any = fc.tuple(text, fc.nat(3)).map(([text, images]) => result(text, images))
  fc.assert(
    fc.property(any, (message) => {
      const once = line(message)
      assert.equal(line(once), once)
      assert.ok(weigh(once) <= weigh(message) || message.images !== undefined)
    }),
  )
})

const long = result("long ".repeat(100))
const conversation: Conversation = {
  messages: [said("first"), answer("one"), long, said("task"), said("more of it"), answer("two"), long],
  task: 3,
}
const sum = (follows = "") =>
  said(`What came before in this conversation was summed up, to save room:\n\nNOTES${follows}`)
const follows = "\n\nThe task at hand follows, word for word."

test("without a summary nothing but old results changes, and the task is where it was", () => {
  const { messages } = conversation
  assert.deepEqual(compacted(conversation, { from: 5 }), {
    messages: [...messages.slice(0, 2), line(long), ...messages.slice(3)],
    task: 3,
  })
})

test("a summary stands for what is old, and the task at hand, all that was said at once, stays", () => {
  const [, , , task, more, two] = conversation.messages
  for (const [from, messages, at] of [
    [5, [sum(follows), task, more, two, long], 1],
    [4, [sum(follows), task, more, two, long], 1],
    [3, [sum(), task, more, two, long], 1],
    [2, [sum(), long, task, more, two, long], 2],
  ] as const)
    assert.deepEqual(compacted(conversation, { from, summary: "NOTES" }), { messages, task: at }, `from ${from}`)
})

test("what a fork was told that it is stays where it is, or before the task", () => {
  const words = said("you are a fork")
  const messages = [said("first"), answer("one"), words, said("task"), answer("two"), said("again"), answer("three")]
  const [, one, , task, two, again, three] = messages
  for (const [fork, from, after] of [
    [{ messages, task: 3, words }, 4, { messages: [sum(follows), words, task, two, again, three], task: 2 }],
    [{ messages, task: 3, words }, 3, { messages: [sum(), words, task, two, again, three], task: 2 }],
    [{ messages, task: 3, words }, 1, { messages: [sum(), one, words, task, two, again, three], task: 3 }],
    [{ messages, task: 5, words }, 6, { messages: [sum(follows), words, again, three], task: 2 }],
    [{ messages, task: 5, words }, 5, { messages: [sum(), words, again, three], task: 2 }],
    [{ messages, task: 5, words: said("elsewhere") }, 6, { messages: [sum(follows), again, three], task: 1 }],
  ] as [Conversation, number, object][])
    assert.deepEqual(compacted(fork, { from, summary: "NOTES" }), after, `from ${from}`)
})

test("recent results that weigh too much are cut, first at their images", () => {
  const note = (kept: number, all: number, images = "") =>
    `\n… (cut at ${kept} of ${all} characters${images} to save room: ask for less at a time)`
  const without = ", without its images,"
  for (const [before, most, after] of [
    [result("x".repeat(900)), 312, result("x".repeat(900))],
    [result("x".repeat(900)), 311, result("x".repeat(813) + note(813, 900))],
    [result("x".repeat(900)), 100, result("x".repeat(180) + note(180, 900))],
    [result("x".repeat(900)), 10, result(note(0, 900))],
    [result("seen", 2), 300, result("seen", 2)],
    [result("seen", 2), 100, result(`seen${note(4, 4, without)}`)],
    [result("x".repeat(900), 1), 340, result("x".repeat(900) + note(900, 900, without))],
    [result("x".repeat(900), 1), 140, result("x".repeat(300) + note(300, 900, without))],
  ] as const)
    assert.deepEqual(compacted({ messages: [before], task: 0 }, { from: 0, most }).messages, [after])
  const others = [said("x".repeat(900)), answer("x".repeat(900))]
  assert.deepEqual(
    compacted({ messages: [...others, long], task: 0 }, { from: 2, most: 50 }).messages.slice(0, 2),
    others,
  )
})
