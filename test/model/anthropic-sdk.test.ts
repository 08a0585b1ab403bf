import assert from "node:assert/strict"
import { test } from "node:test"
import Anthropic from "@anthropic-ai/sdk"
import type { ContentBlock, Message } from "@anthropic-ai/sdk/resources/messages"
import fc from "fast-check"
import type { Part, Stop } from "../../src/core/message.ts"
import { anthropic } from "../../src/model/anthropic.ts"
import type { Answer, Request } from "../../src/model/model.ts"
import { cutAt, dribble, poolFor, serve } from "./serve.ts"

const request: Request = {
  system: "s",
  tools: [],
  messages: [{ role: "user", text: "hi" }],
  toolChoice: "auto",
  memo: {},
}

type Event = { type: string; [field: string]: unknown }
type Spoken = { events: Event[]; eol: string; cuts: number[] }

/** The vendor's message in our words. */
function ours(message: Message): Answer {
  const { usage } = message
  return {
    ok: true,
    parts: message.content.flatMap(partOf),
    stop: stops[message.stop_reason ?? ""] ?? "other",
    usage: {
      input: usage.input_tokens,
      output: usage.output_tokens,
      cacheRead: usage.cache_read_input_tokens ?? 0,
      cacheWrite: usage.cache_creation_input_tokens ?? 0,
      reasoning: usage.output_tokens_details?.thinking_tokens ?? 0,
    },
  }
}

const stops: Record<string, Stop> = {
  end_turn: "end",
  stop_sequence: "end",
  pause_turn: "end",
  tool_use: "calls",
  max_tokens: "length",
  refusal: "refusal",
}

function partOf(block: ContentBlock): Part[] {
  switch (block.type) {
    case "text":
      return block.text ? [{ type: "text", text: block.text }] : []
    case "thinking": {
      const proof = block.signature ? { proof: { signature: block.signature } } : {}
      return [{ type: "reasoning", text: block.thinking, by: "anthropic", ...proof }]
    }
    case "redacted_thinking":
      return [{ type: "reasoning", text: "", by: "anthropic", proof: { redacted: block.data } }]
    case "tool_use":
      return [{ type: "call", id: block.id, name: block.name, input: structuredClone(block.input) }]
    default:
      return []
  }
}

const written = ({ events, eol }: Spoken): string =>
  events.map((event) => `event: ${event.type}${eol}data: ${JSON.stringify(event)}${eol}${eol}`).join("")

/** Cuts a text into pieces as they would stream in, none of them inside of a surrogate pair. */
const pieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat(), { maxLength: 4 })).map(([whole, places]) => {
    const points = [...whole]
    const cuts = [...new Set(places.map((place) => place % (points.length + 1)))].sort((a, b) => a - b)
    return [0, ...cuts].map((from, i) => points.slice(from, cuts[i] ?? points.length).join(""))
  })

const words = fc.string({ unit: "grapheme" })
const json = fc
  .dictionary(
    words.filter((key) => key !== "__proto__"),
    fc.jsonValue({ maxDepth: 3 }),
    { maxKeys: 4 },
  )
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes("__proto__"))

type Block = { content_block: object; deltas: object[] }
const block = fc.oneof<fc.Arbitrary<Block>[]>(
  pieces(words).map((texts) => ({
    content_block: { type: "text", text: "" },
    deltas: texts.map((text) => ({ type: "text_delta", text })),
  })),
  fc.tuple(pieces(words), fc.base64String()).map(([texts, signature]) => ({
    content_block: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...texts.map((thinking) => ({ type: "thinking_delta", thinking })),
      ...(signature ? [{ type: "signature_delta", signature }] : []),
    ],
  })),
  fc.base64String().map((data) => ({ content_block: { type: "redacted_thinking", data }, deltas: [] })),
  fc.tuple(fc.uuid(), words, fc.oneof(pieces(json), fc.constant([]), fc.constant([""]))).map(([id, name, raw]) => ({
    content_block: { type: "tool_use", id, name, input: {} },
    deltas: raw.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  })),
  fc.constant({ content_block: { type: "server_tool_use", id: "srv", name: "web_search", input: {} }, deltas: [] }),
)

const tokens = fc.nat({ max: 200_000 })
const stream: fc.Arbitrary<Event[]> = fc
  .record({
    blocks: fc.array(block, { maxLength: 5 }),
    reason: fc.constantFrom("end_turn", "stop_sequence", "pause_turn", "tool_use", "refusal"),
    started: fc.record({
      input_tokens: tokens,
      output_tokens: tokens,
      cache_read_input_tokens: fc.option(tokens),
      cache_creation_input_tokens: fc.option(tokens),
    }),
    ended: fc.record(
      {
        output_tokens: tokens,
        input_tokens: fc.option(tokens),
        cache_read_input_tokens: fc.option(tokens),
        output_tokens_details: fc.option(fc.record({ thinking_tokens: tokens })),
      },
      { requiredKeys: ["output_tokens"] },
    ),
  })
  .map(({ blocks, reason, started, ended }) => [
    { type: "message_start", message: { id: "m", type: "message", role: "assistant", content: [], usage: started } },
    { type: "ping" },
    ...blocks.flatMap(({ content_block, deltas }, index) => [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: ended },
    { type: "message_stop" },
  ])

const spoken: fc.Arbitrary<Spoken> = fc.record({
  events: stream,
  eol: fc.constantFrom("\n", "\r\n"),
  cuts: fc.array(fc.nat(), { maxLength: 5 }),
})

/** A stream with thoughts and two calls, in the form that the provider's own documentation shows. */
const recorded: Spoken = {
  eol: "\n",
  cuts: [],
  events: [
    {
      type: "message_start",
      message: {
        id: "msg_01",
        type: "message",
        role: "assistant",
        model: "claude-x",
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 472, cache_creation_input_tokens: 0, cache_read_input_tokens: 1024, output_tokens: 2 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
    { type: "ping" },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "27 × 453 is " } },
    { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "12,231." } },
    {
      type: "content_block_delta",
      index: 0,
      delta: { type: "signature_delta", signature: "EqQBCgIYAhIM1gbcDa9GJwZA" },
    },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Let’s check the weather — 🌦" } },
    { type: "content_block_stop", index: 1 },
    {
      type: "content_block_start",
      index: 2,
      content_block: { type: "tool_use", id: "toolu_01", name: "get_weather", input: {} },
    },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "" } },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"location": "Z' } },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: 'ürich", "days": 3' } },
    { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: ', "exact": 1.50e1}' } },
    { type: "content_block_stop", index: 2 },
    {
      type: "content_block_start",
      index: 3,
      content_block: { type: "tool_use", id: "toolu_02", name: "ls", input: {} },
    },
    { type: "content_block_stop", index: 3 },
    { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 89 } },
    { type: "message_stop" },
  ],
}

test("law: any stream gives the same message as it does with the vendor's own client", async (t) => {
  let bytes: Buffer[] = []
  const { url } = await serve(t, (response) => void dribble(response, bytes))
  const options = { provider: "anthropic", name: "claude-x", baseURL: url, key: "k", maxTokens: 100 }
  const own = anthropic({ ...options, pool: poolFor(t) })
  const vendor = new Anthropic({ baseURL: url, apiKey: "k", maxRetries: 0 })
  const same = async (each: Spoken): Promise<void> => {
    bytes = cutAt(Buffer.from(written(each)), each.cuts)
    const heard = { text: "", reasoning: "" }
    const answer = await own(request, {
      signal: new AbortController().signal,
      delta: ({ kind, text }) => {
        heard[kind] += text
      },
    })
    const body = { model: "claude-x", max_tokens: 100, messages: [{ role: "user" as const, content: "hi" }] }
    const theirs = ours(await vendor.messages.stream(body).finalMessage())
    assert.deepEqual(answer, theirs)
    assert.ok(theirs.ok)
    const said = (type: "text" | "reasoning") =>
      theirs.parts.map((part) => (part.type === type ? part.text : "")).join("")
    assert.deepEqual(heard, { text: said("text"), reasoning: said("reasoning") })
  }
  await same(recorded)
  await same({ ...recorded, eol: "\r\n", cuts: [100, 700, 701, 702, 1_500] })
  await fc.assert(fc.asyncProperty(spoken, same), { numRuns: 120 })
})
