import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { costOf, priceOf, pricesAsOf } from "../../src/model/price.ts"

const million = { input: 1_000_000, output: 1_000_000, cacheRead: 1_000_000, cacheWrite: 1_000_000, reasoning: 500_000 }
const short = { input: 1_000, output: 1_000, cacheRead: 10_000, cacheWrite: 1_000, reasoning: 0 }

test("the table says of which day it is", () => {
  assert.match(pricesAsOf, /^\d{4}-\d{2}-\d{2}$/)
})

test("Anthropic's cache costs a quarter more to write and a tenth to read", () => {
  assert.deepEqual(priceOf("anthropic/claude-sonnet-4-5"), {
    input: 3,
    output: 15,
    cacheRead: 0.3,
    cacheWrite: 3.75,
  })
  assert.equal(costOf(priceOf("anthropic/claude-opus-4-5"), million), 5 + 25 + 0.5 + 6.25)
})

test("another date or a moving name of a model is the same model, anything else is not", () => {
  const sonnet = priceOf("anthropic/claude-sonnet-4-5")
  for (const tail of ["-20250929", "-latest", "@20250929", "-preview", "-preview-0929"]) {
    assert.deepEqual(priceOf(`anthropic/claude-sonnet-4-5${tail}`), sonnet)
  }
  assert.deepEqual(priceOf("openai/gpt-5-2025-08-07"), priceOf("openai/gpt-5"))
  assert.deepEqual(priceOf("google/gemini-2.5-pro-preview-05-06"), null)
  for (const id of ["anthropic/claude-opus-4-9", "openai/gpt-5-pro", "openai/gpt-4o-audio-preview", "openai/o3-pro"]) {
    assert.equal(priceOf(id), null)
  }
})

test("the longest family that fits decides", () => {
  assert.deepEqual(priceOf("openai/gpt-5-mini-2025-08-07"), { input: 0.25, cacheRead: 0.025, output: 2 })
  assert.deepEqual(priceOf("anthropic/claude-opus-4-20250514")?.input, 15)
  assert.deepEqual(priceOf("anthropic/claude-opus-4-1-20250805")?.input, 15)
})

test("both of OpenAI's formats cost the same", () => {
  assert.deepEqual(priceOf("openai-chat/gpt-5"), priceOf("openai/gpt-5"))
  assert.deepEqual(priceOf("openai-responses/gpt-5"), priceOf("openai/gpt-5"))
})

test("a long prompt costs more where its model says so, and all of it does", () => {
  const haiku = priceOf("anthropic/claude-haiku-5-5")
  const usage = { ...short, input: 0, cacheWrite: 0, cacheRead: 100_000, output: 0 }
  assert.equal(costOf(haiku, usage), 0.001)
  assert.equal(costOf(haiku, { ...usage, cacheRead: 100_001 }), (100_001 * 0.05) / 1_000_000)
  assert.equal(costOf(priceOf("openai/gpt-6.1-sol"), million), 4 + 15 + 0.2 + 5)
})

test("without a price of its own the cache costs what input does", () => {
  assert.equal(costOf({ input: 2, output: 3 }, million), 2 + 3 + 2 + 2)
})

test("an unknown price gives an unknown cost, never nothing", () => {
  for (const id of ["openrouter/anthropic/claude-sonnet-4.5", "mine/x", "groq/llama", "anthropic/any"]) {
    assert.equal(priceOf(id), null)
  }
  assert.equal(costOf(null, short), null)
})

test("what runs on the user's own machine costs nothing", () => {
  for (const id of ["offline/legwork", "ollama/llama3:8b", "lmstudio/x", "llamacpp/x", "vllm/org/model"]) {
    assert.equal(costOf(priceOf(id), million), 0)
  }
})

test("the user's own prices win, for the model named and its other dates", () => {
  const mine = { input: 1, output: 1 }
  const overrides = { "openai/gpt-5": mine, "vllm/big": mine, "mine/x": mine }
  assert.equal(priceOf("openai/gpt-5", overrides), mine)
  assert.equal(priceOf("openai-chat/gpt-5-2025-08-07", overrides), mine)
  assert.equal(priceOf("vllm/big", overrides), mine)
  assert.equal(priceOf("mine/x", overrides), mine)
  assert.deepEqual(priceOf("openai/gpt-5-mini", overrides), priceOf("openai/gpt-5-mini"))
  assert.equal(priceOf("openai/constructor", overrides), null)
})

test("law: more tokens never cost less, and two short requests cost what one of their sum does", () => {
  const count = fc.nat(20_000)
  const usage = fc.record({
    input: count,
    output: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: fc.constant(0),
  })
  const id = fc.constantFrom("anthropic/claude-sonnet-5-5", "openai/gpt-6-luna", "google/gemini-2.5-pro")
  fc.assert(
    fc.property(id, usage, usage, (id, a, b) => {
      const price = priceOf(id)
      const sum = {
        input: a.input + b.input,
        output: a.output + b.output,
        cacheRead: a.cacheRead + b.cacheRead,
        cacheWrite: a.cacheWrite + b.cacheWrite,
        reasoning: 0,
      }
      const [one, other, both] = [costOf(price, a)!, costOf(price, b)!, costOf(price, sum)!]
      assert.ok(one >= 0 && both >= one)
      assert.ok(Math.abs(one + other - both) < 1e-9)
    }),
  )
})
