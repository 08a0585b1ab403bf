import assert from "node:assert/strict"
import { test } from "node:test"
import { scripted } from "../../../src/testing/model.ts"
import { world } from "../../agent/world.ts"
import { groundOn } from "./grounds.ts"

function face(picks?: (string | undefined)[]) {
  const each = world(
    scripted(() => ""),
    {},
  )
  const main = each.open()
  each.log.emit(main, { type: "model.chosen", model: "openai/gpt-6.1-sol" })
  const session = {
    models: () => ["anthropic/claude-sonnet-5-5", "openai/gpt-6.1-sol"],
    useModel: async (name: string) => {
      if (name === "nonsense") throw new Error('"nonsense" names no model;\u001b[2J write provider/model')
      return `full/${name}`
    },
  }
  return groundOn(each.log.view, { session, ...(picks && { picks }) })
}

test("the model is shown with those that could be used instead", async () => {
  assert.deepEqual(await face().say("/model"), [
    "the model is openai/gpt-6.1-sol; /model <name> sets another: anthropic/claude-sonnet-5-5",
  ])
})

test("a model is set by its name, and why it cannot be is said", async () => {
  assert.deepEqual(await face().say("/model sonnet"), ["the model is now full/sonnet"])
  assert.deepEqual(await face().say("/model nonsense"), ['"nonsense" names no model; write provider/model'])
})

test("a model can be chosen; to choose the same, or none, changes nothing", async () => {
  const picks = ["anthropic/claude-sonnet-5-5", "openai/gpt-6.1-sol", undefined]
  const { say, picked } = face(picks)
  assert.deepEqual(await say("/model"), ["the model is now full/anthropic/claude-sonnet-5-5"])
  assert.deepEqual([await say("/model"), await say("/model")], [[], []])
  assert.deepEqual(picked[0], {
    title: "model: openai/gpt-6.1-sol",
    items: [
      { value: "openai/gpt-6.1-sol", label: "openai/gpt-6.1-sol", description: "now in use" },
      { value: "anthropic/claude-sonnet-5-5", label: "anthropic/claude-sonnet-5-5" },
    ],
  })
})
