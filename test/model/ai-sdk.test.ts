import assert from "node:assert/strict"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath } from "node:url"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import fc from "fast-check"
import type { Message } from "../../src/core/message.ts"
import { noUsage } from "../../src/core/usage.ts"
import { type AiSdkModel, aiSdk } from "../../src/model/ai-sdk.ts"
import { callOptions } from "../../src/model/ai-sdk-encode.ts"
import { aiSdkPackages, loadAiSdk } from "../../src/model/ai-sdk-load.ts"
import type { Attempt } from "../../src/model/retry.ts"
import { ask, messages, reader, request, type Server, serve, sse } from "./openai-wire.ts"

let server: Server
before(async () => {
  server = await serve()
})
after(() => server[Symbol.asyncDispose]())

const here = path.dirname(fileURLToPath(import.meta.url))

const gemini = async (): Promise<Attempt> => {
  const google = await loadAiSdk("google", [here])
  return aiSdk({ model: google({ apiKey: "key", baseURL: server.url })("gemini-3-pro"), provider: "google" })
}

const google = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { parts, role: "model" }, ...more }],
})
const usageMetadata = {
  promptTokenCount: 100,
  cachedContentTokenCount: 60,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 5,
  totalTokenCount: 125,
}
const end = { ...google([], { finishReason: "STOP" }), usageMetadata }
const signed = (thoughtSignature: string) => ({ google: { thoughtSignature } })

test("Google's answer is read whole, and its signatures go back where they were", async () => {
  server.reply = () => ({
    chunks: [
      sse(
        google([{ text: "I must look", thought: true, thoughtSignature: "S1" }]),
        google([{ text: "Look" }]),
        google([{ text: "ing…" }]),
        google([{ text: "", thoughtSignature: "S2" }]),
        google([{ functionCall: { id: "c1", name: "read", args: { path: "a" } }, thoughtSignature: "S3" }]),
        google([{ functionCall: { id: "c2", name: "read", args: { path: "b" } } }]),
        end,
      ),
    ],
  })
  const { answer, deltas } = await ask(await gemini(), { tools: [reader] })
  const note = (proof: object) => ({ type: "reasoning", text: "", by: "google", proof })
  assert.deepEqual(answer, {
    ok: true,
    parts: [
      { type: "reasoning", text: "I must look", by: "google", proof: { of: "thought", metadata: signed("S1") } },
      note({ of: "text", metadata: signed("S2") }),
      { type: "text", text: "Looking…" },
      note({ of: "call", id: "c1", metadata: signed("S3") }),
      { type: "call", id: "c1", name: "read", input: { path: "a" } },
      { type: "call", id: "c2", name: "read", input: { path: "b" } },
    ],
    stop: "calls",
    usage: { input: 40, output: 25, cacheRead: 60, cacheWrite: 0, reasoning: 5 },
  })
  assert.deepEqual(deltas, [
    { kind: "reasoning", text: "I must look" },
    { kind: "text", text: "Look" },
    { kind: "text", text: "ing…" },
  ])
  assert.ok(answer.ok)
  server.reply = () => ({ chunks: [sse(google([{ text: "Done." }]), end)] })
  const { answer: next } = await ask(await gemini(), {
    tools: [reader],
    messages: [
      { role: "user", text: "hello", images: [{ mediaType: "image/png", data: "AAAA" }] },
      { role: "assistant", parts: answer.parts },
      { role: "result", call: "c1", name: "read", ok: true, text: "an A" },
      { role: "result", call: "c2", name: "read", ok: false, text: "not there" },
    ],
  })
  assert.equal(next.ok && next.stop, "end")
  assert.equal(
    server.bodies.at(-1),
    '{"generationConfig":{},"contents":[' +
      '{"role":"user","parts":[{"text":"hello"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},' +
      '{"role":"model","parts":[{"text":"I must look","thought":true,"thoughtSignature":"S1"},{"text":"Looking…","thoughtSignature":"S2"},' +
      '{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}},"thoughtSignature":"S3"},{"functionCall":{"id":"c2","name":"read","args":{"path":"b"}}}]},' +
      '{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"read","response":{"name":"read","content":"an A"}}},' +
      '{"functionResponse":{"id":"c2","name":"read","response":{"name":"read","error":"not there"}}}]}],' +
      '"systemInstruction":{"parts":[{"text":"Be brief."}]},' +
      '"tools":[{"functionDeclarations":[{"name":"read","description":"Reads a file.","parametersJsonSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}]}],' +
      '"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}',
  )
})

test("Google's refusals have their meaning and their fate", async () => {
  const failing = async (status: number, message: string, headers: Record<string, string> = {}) => {
    server.reply = () => ({
      status,
      headers,
      chunks: [JSON.stringify({ error: { code: status, message, status: "X" } })],
    })
    const { answer } = await ask(await gemini())
    return answer
  }
  assert.deepEqual(await failing(429, "slow down", { "retry-after": "7" }), {
    ok: false,
    error: { kind: "rate_limit", message: "google said: slow down", status: 429 },
    retry: true,
    retryAfter: 7000,
    usage: noUsage(),
  })
  for (const [status, said, kind, retry] of [
    [400, "bad schema", "bad_request", false],
    [400, "API key not valid. Please pass a valid API key.", "authentication", false],
    [400, "The input token count (2) exceeds the maximum number of tokens allowed (1).", "context_overflow", false],
    [403, "no", "authentication", false],
    [404, "no such model", "not_found", false],
    [413, "too large", "context_overflow", false],
    [429, "too many tokens in this minute", "rate_limit", true],
    [503, "busy", "overloaded", true],
  ] as const) {
    const answer = await failing(status, said)
    assert.ok(!answer.ok)
    assert.deepEqual([answer.error.kind, answer.error.status, answer.retry], [kind, status, retry], said)
    assert.match(answer.error.message, new RegExp(said.slice(0, 10)))
  }
})

test("an answer that breaks off, or has an error inside, does not count and may be tried again", async () => {
  const half = sse(google([{ text: "half" }]))
  for (const [reply, kind] of [
    [{ chunks: [half, "data: {"], cut: true }, "truncated"],
    [{ chunks: [half] }, "truncated"],
    [{ chunks: [half, sse({ error: { code: 503, message: "busy", status: "UNAVAILABLE" } })] }, "overloaded"],
  ] as const) {
    server.reply = () => ({ ...reply, chunks: [...reply.chunks] })
    const { answer } = await ask(await gemini())
    assert.deepEqual(answer.ok || [answer.error.kind, answer.retry], [kind, true])
  }
})

test("a server that cannot be reached is tried again", async () => {
  const create = await loadAiSdk("google", [here])
  const nowhere = create({ apiKey: "key", baseURL: "http://127.0.0.1:1" })("gemini-3-pro")
  const { answer } = await ask(aiSdk({ model: nowhere, provider: "google" }))
  assert.equal(!answer.ok && answer.error.kind, "network")
  assert.equal(!answer.ok && answer.retry, true)
})

/** A model of any version whose stream is written by hand. */
const scripted = (version: "v2" | "v3" | "v4", parts: object[], seen: object[] = []): AiSdkModel =>
  ({
    specificationVersion: version,
    provider: "test",
    modelId: "m",
    supportedUrls: {},
    doStream: async (options: object) => {
      seen.push(options)
      return { stream: ReadableStream.from(parts) }
    },
  }) as unknown as LanguageModelV4

const said = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "1" },
  { type: "text-delta", id: "1", delta: "hi" },
  { type: "text-end", id: "1" },
]

test("the usage and the stop of all three versions are understood", async () => {
  const byKind = {
    inputTokens: { total: 100, noCache: 30, cacheRead: 60, cacheWrite: 10 },
    outputTokens: { total: 20, text: 15, reasoning: 5 },
  }
  const plain = { inputTokens: 90, outputTokens: 20, totalTokens: 110, reasoningTokens: 5, cachedInputTokens: 60 }
  for (const [version, usage, finishReason, cacheWrite] of [
    ["v4", byKind, { unified: "stop", raw: "x" }, 10],
    ["v3", byKind, { unified: "stop", raw: "x" }, 10],
    ["v2", plain, "stop", 0],
  ] as const) {
    const model = scripted(version, [...said, { type: "finish", usage, finishReason }])
    const { answer } = await ask(aiSdk({ model, provider: "test" }))
    assert.deepEqual(answer, {
      ok: true,
      parts: [{ type: "text", text: "hi" }],
      stop: "end",
      usage: { input: 30, output: 20, cacheRead: 60, cacheWrite, reasoning: 5 },
    })
  }
  for (const [unified, stop] of [
    ["length", "length"],
    ["content-filter", "refusal"],
    ["tool-calls", "end"],
    ["other", "other"],
  ] as const) {
    const finish = { type: "finish", usage: { inputTokens: {}, outputTokens: {} }, finishReason: { unified } }
    const { answer } = await ask(aiSdk({ model: scripted("v4", [...said, finish]), provider: "test" }))
    assert.deepEqual(answer, { ok: true, parts: [{ type: "text", text: "hi" }], stop, usage: noUsage() })
  }
})

test("an answer that the provider calls interrupted, or that has no end, does not count", async () => {
  for (const unified of ["interrupted", "error"]) {
    const finish = { type: "finish", usage: { inputTokens: {}, outputTokens: {} }, finishReason: { unified } }
    const { answer } = await ask(aiSdk({ model: scripted("v4", [...said, finish]), provider: "test" }))
    assert.equal(!answer.ok && answer.error.kind, "truncated")
    assert.equal(!answer.ok && answer.retry, true)
  }
})

test("broken arguments are kept, and what the provider ran itself is no call", async () => {
  const finish = {
    type: "finish",
    usage: { inputTokens: {}, outputTokens: {} },
    finishReason: { unified: "tool-calls" },
  }
  const model = scripted("v4", [
    { type: "tool-input-start", id: "a", toolName: "read" },
    { type: "tool-call", toolCallId: "a", toolName: "read", input: "{" },
    { type: "tool-call", toolCallId: "b", toolName: "search", input: "{}", providerExecuted: true },
    finish,
  ])
  const { answer } = await ask(aiSdk({ model, provider: "test" }))
  assert.deepEqual(answer.ok && answer.parts, [{ type: "call", id: "a", name: "read", input: {}, broken: "{" }])
})

test("metadata that comes with the end of a part counts, and goes back with it before a call too", async () => {
  const finish = {
    type: "finish",
    usage: { inputTokens: {}, outputTokens: {} },
    finishReason: { unified: "tool-calls" },
  }
  const model = scripted("v4", [
    { type: "reasoning-start", id: "0" },
    { type: "reasoning-end", id: "0", providerMetadata: signed("S0") },
    { type: "text-start", id: "1" },
    { type: "text-end", id: "1", providerMetadata: signed("S1") },
    { type: "tool-call", toolCallId: "a", toolName: "read", input: "{}" },
    finish,
  ])
  const { answer } = await ask(aiSdk({ model, provider: "test" }))
  assert.ok(answer.ok)
  const said: Message[] = [{ role: "assistant", parts: answer.parts }]
  const { prompt } = callOptions(request({ messages: said, system: "" }), {
    version: "v4",
    provider: "test",
    maxTokens: undefined,
  })
  assert.deepEqual(prompt[0]?.content, [
    { type: "reasoning", text: "", providerOptions: signed("S0") },
    { type: "text", text: "", providerOptions: signed("S1") },
    { type: "tool-call", toolCallId: "a", toolName: "read", input: {} },
  ])
})

test("a stream that fails without a word of why is tried again once it had begun", async () => {
  async function* broken(error: unknown) {
    yield* said
    throw error
  }
  for (const [error, kind, retry] of [
    [new TypeError("terminated"), "truncated", true],
    [{ message: "sorry", statusCode: 500 }, "overloaded", true],
    [{ message: "sorry", statusCode: 400 }, "bad_request", false],
  ] as const) {
    const stream = ReadableStream.from(broken(error))
    const model = { ...scripted("v4", []), doStream: async () => ({ stream }) } as never
    const { answer } = await ask(aiSdk({ model, provider: "test" }))
    assert.deepEqual(answer.ok || [answer.error.kind, answer.retry], [kind, retry])
  }
})

test("images are handed over as each version wants them", async () => {
  const image = { mediaType: "image/png", data: "AAAA" }
  const shown: Message[] = [
    { role: "user", text: "", images: [image] },
    { role: "assistant", parts: [{ type: "call", id: "a", name: "read", input: {} }] },
    { role: "result", call: "a", name: "read", ok: true, text: "an A", images: [image] },
  ]
  for (const [version, file, part] of [
    ["v4", { type: "file", mediaType: "image/png", data: { type: "data", data: "AAAA" } }, undefined],
    ["v3", { type: "file", ...image }, { type: "image-data", ...image }],
    ["v2", { type: "file", ...image }, { type: "media", ...image }],
  ] as const) {
    const call = { version, provider: "test", maxTokens: undefined }
    assert.deepEqual(callOptions(request({ messages: shown, system: "", effort: "low" }), call), {
      prompt: [
        { role: "user", content: [file] },
        { role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "read", input: {} }] },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "a",
              toolName: "read",
              output: { type: "content", value: [{ type: "text", text: "an A" }, part ?? file] },
            },
          ],
        },
      ],
      ...(version === "v4" && { reasoning: "low" }),
    })
  }
})

test("a signature on an empty text, and the settings of a request, are passed on; foreign thoughts are not", () => {
  const metadata = signed("S")
  const parts: Message = {
    role: "assistant",
    parts: [
      { type: "reasoning", text: "not ours", by: "other", proof: { of: "thought", metadata } },
      { type: "reasoning", text: "ours", by: "google" },
      { type: "reasoning", text: "", by: "google", proof: { of: "text", metadata } },
    ],
  }
  const call = { version: "v4", provider: "google", maxTokens: 9 } as const
  assert.deepEqual(
    callOptions(request({ messages: [parts], tools: [reader], toolChoice: "none", temperature: 0, topP: 1 }), call),
    {
      prompt: [
        { role: "system", content: "Be brief." },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "ours" },
            { type: "text", text: "", providerOptions: metadata },
          ],
        },
      ],
      maxOutputTokens: 9,
      temperature: 0,
      topP: 1,
      tools: [{ type: "function", name: "read", description: "Reads a file.", inputSchema: reader.schema }],
      toolChoice: { type: "none" },
    },
  )
})

test("whatever the messages, each call in the prompt has one result right after and no other", () => {
  fc.assert(
    fc.property(messages, (all) => {
      const { prompt } = callOptions(request({ messages: all }), { version: "v4", provider: "p", maxTokens: undefined })
      let due: string[] = []
      for (const { role, content } of prompt) {
        const ids = Array.isArray(content)
          ? content.flatMap((part) => ("toolCallId" in part ? [part.toolCallId] : []))
          : []
        if (role === "tool") assert.deepEqual(ids, due)
        else assert.deepEqual(due, [])
        due = role === "assistant" ? ids : []
      }
      assert.deepEqual(due, [])
    }),
  )
})

test("an abort is answered at once, before and during the stream, even by a model that ignores it", async () => {
  const deaf = (doStream: () => Promise<object>) =>
    aiSdk({ model: { ...scripted("v4", []), doStream } as never, provider: "test" })
  const never = new Promise<object>(() => {})
  const stopped = {
    ok: false,
    error: { kind: "network", message: "the request was stopped" },
    retry: false,
    usage: noUsage(),
  }
  const stop = new AbortController()
  const waiting = ask(
    deaf(() => never),
    {},
    stop.signal,
  )
  stop.abort()
  assert.deepEqual((await waiting).answer, stopped)
  assert.deepEqual(
    (
      await ask(
        deaf(() => never),
        {},
        AbortSignal.abort(),
      )
    ).answer,
    stopped,
  )
  const later = new AbortController()
  const silent = new ReadableStream({ pull: () => setImmediate(() => later.abort()) as never }, { highWaterMark: 0 })
  assert.deepEqual(
    (
      await ask(
        deaf(async () => ({ stream: silent })),
        {},
        later.signal,
      )
    ).answer,
    stopped,
  )
})

test("a model that falls silent is given up, to be tried again", async () => {
  const silent = { ...scripted("v4", []), doStream: async () => ({ stream: new ReadableStream() }) } as never
  const { answer } = await ask(aiSdk({ model: silent, provider: "test", idle: 5 }))
  assert.deepEqual(answer, {
    ok: false,
    error: { kind: "stalled", message: "test sent nothing for 0 s" },
    retry: true,
    usage: noUsage(),
  })
})

test("a model that throws at once is an answer too", async () => {
  const throwing = (error: unknown) =>
    ({
      ...scripted("v4", []),
      doStream: () => {
        throw error
      },
    }) as never
  for (const [error, kind] of [
    [new Error("what?"), "bad_request"],
    [Object.assign(new Error("no key"), { name: "AI_LoadAPIKeyError" }), "authentication"],
    ["words", "bad_request"],
  ] as const) {
    const { answer } = await ask(aiSdk({ model: throwing(error), provider: "test" }))
    assert.deepEqual(answer.ok || [answer.error.kind, answer.retry], [kind, false])
  }
})

test("a missing package is told with the command that brings it, an unknown provider with those that are known", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "legwork-"))
  try {
    await assert.rejects(loadAiSdk("mistral", [folder]), {
      message: "the provider mistral needs the package @ai-sdk/mistral; run: npm i @ai-sdk/mistral",
    })
    await assert.rejects(loadAiSdk("toString", [folder]), {
      message: `there is no provider named "toString"; packages are known for ${Object.keys(aiSdkPackages).join(", ")}`,
    })
    const home = path.join(folder, "node_modules/@ai-sdk/mistral")
    await mkdir(home, { recursive: true })
    await writeFile(
      path.join(home, "package.json"),
      '{"type":"module","exports":{".":{"import":{"types":"./x.d.ts","default":"./m.js"}}}}',
    )
    await writeFile(path.join(home, "m.js"), "export const createMistral = () => (name) => ({ modelId: name })")
    const create = await loadAiSdk("mistral", [path.join(folder, "elsewhere"), folder])
    assert.deepEqual(create()("large"), { modelId: "large" })
    await mkdir(path.join(folder, "node_modules/@ai-sdk/groq"))
    await writeFile(path.join(folder, "node_modules/@ai-sdk/groq/package.json"), '{"type":"module","main":"index.js"}')
    await writeFile(path.join(folder, "node_modules/@ai-sdk/groq/index.js"), "export {}")
    await assert.rejects(loadAiSdk("groq", [folder]), {
      message: "@ai-sdk/groq has no createGroq; run: npm i @ai-sdk/groq@latest",
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})
