import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { tool } from "../../src/agent/scope.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { counting, countOf, factsOf, isSummary, long, weightOf } from "./long.ts"
import { type World, world } from "./world.ts"

const resultsOf = ({ view }: World) =>
  view.get("r0")!.messages.flatMap((message) => (message.role === "result" ? [message] : []))

test("where the results of one turn are too much by themselves, they are cut", async () => {
  const model = scripted(
    (request) => {
      if (isSummary(request)) return "notes"
      if (request.messages.length > 1) return "the end"
      return [1, 2, 3, 4].map((n) => call("long", { n, size: n === 1 ? 110 : 44_000 }))
    },
    { window: 8_000 },
  )
  const each = world(model, { tools: [long] })
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "the end" })
  assert.ok(weightOf(model.requests.at(-1)!) < 8_000)
  const texts = each.view.get(run)!.messages.flatMap((each) => (each.role === "result" ? [each.text] : []))
  assert.equal(texts[0]!.length, 119)
  for (const text of texts.slice(1)) assert.match(text, /… \(cut at \d+ of 44009 characters to save room: /)
})

test("with a task that weighs half the window, recent results that fit are not cut", async () => {
  const sizes = [2_200, 8_800, 1_650]
  const model = scripted(
    ({ messages }) => {
      const n = countOf(messages)
      return n < sizes.length ? [call("long", { n: n + 1, size: sizes[n]! })] : "the end"
    },
    { window: 20_000 },
  )
  const each = world(model, { tools: [long] })
  await each.runtime.prompt(each.open(), { text: "a word ".repeat(4_300) })
  assert.deepEqual(
    factsOf(each.facts, "run.compacted").map(({ from, most }) => ({ from, most })),
    [{ from: 5, most: undefined }],
  )
  assert.deepEqual(
    resultsOf(each).map(({ text }) => text.length),
    [50, 50, 1_659],
  )
})

/** Brings so many pictures, each of 1,600 tokens. */
const show = offer(
  tool({
    name: "show",
    description: "",
    input: z.strictObject({ images: z.number() }),
    repeatable: true,
    access: () => ({ kind: "none" }),
    run: async ({ images }) => ({
      ok: true,
      text: "shown",
      images: Array.from({ length: images }, () => ({ mediaType: "image/png", data: "A".repeat(6_000) })),
    }),
  }),
)

/** What is left of the results, if each call shows so many pictures. */
async function shown(images: number[]) {
  const model = scripted(
    ({ messages }) => {
      const n = messages.filter(({ role }) => role === "assistant").length
      return n < images.length ? [call("show", { images: images[n]! })] : "the end"
    },
    { window: 10_000 },
  )
  const each = world(model, { tools: [show] })
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.ok(model.requests.every((request) => weightOf(request) < 7_000))
  return resultsOf(each).map(({ text, images = [] }) => ({ text, images: images.length }))
}

test("old images become a line", async () => {
  const line = { text: "shown … (5 characters and 2 images, dropped to save room)", images: 0 }
  assert.deepEqual(await shown([2, 2, 1]), [line, line, { text: "shown", images: 1 }])
})

test("recent images are dropped where they are too heavy, with a note, and their words stay", async () => {
  const line = { text: "shown … (5 characters and an image, dropped to save room)", images: 0 }
  const note = "… (cut at 5 of 5 characters, without its images, to save room: ask for less at a time)"
  assert.deepEqual(await shown([1, 5]), [line, { text: `shown\n${note}`, images: 0 }])
})

test("what nothing can be taken from is asked as it is, and put on record as no shorter", async () => {
  const model = scripted(counting({ turns: 2, size: 110 }), { window: 4_000 })
  const each = world(model, { tools: [long] })
  const outcome = await each.runtime.prompt(each.open(), { text: "a word ".repeat(1_500) })
  assert.deepEqual(outcome, { status: "completed", text: "the end" })
  assert.equal(model.requests.length, 3)
  assert.deepEqual(factsOf(each.facts, "run.compacted"), [])
})
