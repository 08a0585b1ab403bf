import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { promisify } from "node:util"
import type { Message } from "../../src/core/message.ts"
import { encodingOf } from "../../src/model/encoding.ts"
import type { Env, ProviderSettings } from "../../src/model/providers.ts"
import { type ModelSettings, resolver } from "../../src/model/resolve.ts"
import { reader, request, serve } from "./openai-wire.ts"

const settings = (providers: Record<string, ProviderSettings> = {}): ModelSettings => ({
  aliases: {},
  providers,
  prices: {},
})

const messages: Message[] = [
  { role: "user", text: "look" },
  { role: "assistant", parts: [{ type: "call", id: "c1", name: "read", input: { path: "a" } }] },
  { role: "result", call: "c1", name: "read", ok: false, text: "no such file" },
]
const asked = () => request({ messages, tools: [reader], effort: "low", inherited: 2 })

test("what is written for looking is what is sent, and it needs no key", async () => {
  await using server = await serve(() => ({ status: 400, chunks: ["{}"] }))
  const { url } = server
  const addresses: Env = {
    ANTHROPIC_BASE_URL: url,
    OPENAI_BASE_URL: url,
    OPENROUTER_BASE_URL: url,
    DEEPSEEK_BASE_URL: url,
  }
  const keys: Env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k", MINE: "k" }
  const config = settings({
    anthropic: { models: { small: { window: 4_000 } } },
    deepseek: { models: { chat: { maxTokens: 777 } } },
    mine: { api: "anthropic", baseURL: url, keyVariable: "MINE" },
    ours: { baseURL: url },
    sealed: { api: "responses", baseURL: url },
  })
  const models = resolver({ config, env: { ...addresses, ...keys }, packages: [] })
  const cases = [
    ["anthropic/claude-sonnet-5-5", "/v1/messages"],
    ["anthropic/unheard-of", "/v1/messages"],
    ["anthropic/small", "/v1/messages"],
    ["mine/org/model", "/v1/messages"],
    ["openai/gpt-5", "/chat/completions"],
    ["openai-responses/gpt-5", "/responses"],
    ["sealed/claude-3-5-haiku", "/responses"],
    ["openrouter/anthropic/claude-haiku-4.5", "/chat/completions"],
    ["deepseek/chat", "/chat/completions"],
    ["ours/model", "/chat/completions"],
  ] as const
  for (const [id, path] of cases) {
    const model = await models.resolve(id)
    await model.stream(asked(), { signal: new AbortController().signal, delta() {}, failed() {} })
    const encode = await encodingOf(id, { config, env: addresses })
    assert.deepEqual([path, encode?.(asked())], [server.paths.at(-1), server.bodies.at(-1)], id)
  }
  await models.close()
})

test("openai is looked at in the format of its own address, unless another is set", async () => {
  const keysIn = async (env: Env, providers: Record<string, ProviderSettings> = {}) => {
    const encode = await encodingOf("openai/gpt-5", { config: settings(providers), env })
    assert.ok(encode)
    return "input" in JSON.parse(encode(asked())) ? "responses" : "chat"
  }
  assert.equal(await keysIn({}), "responses")
  assert.equal(await keysIn({ OPENAI_BASE_URL: "https://api.openai.com/v1/" }), "responses")
  assert.equal(await keysIn({ OPENAI_BASE_URL: "http://127.0.0.1:1" }), "chat")
  assert.equal(await keysIn({ OPENAI_BASE_URL: "not an address" }), "chat")
  assert.equal(await keysIn({}, { openai: { baseURL: "http://127.0.0.1:1" } }), "chat")
  assert.equal(await keysIn({}, { openai: { api: "chat" } }), "chat")
})

test("a provider that cannot be asked from here can be looked at all the same", async () => {
  const config = settings({ mine: { keyVariable: "MINE" }, google: { api: "chat" } })
  for (const id of ["mine/x", "google/x"]) {
    const encode = await encodingOf(id, { config, env: { MINE: "two words" } })
    assert.deepEqual(JSON.parse(encode?.(request()) ?? ""), {
      model: "x",
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "hello" },
      ],
    })
  }
})

test("there is nothing to look at where the format is not ours", async () => {
  const others = ["offline/legwork", "google/gemini-2.5-pro", "bedrock/x", "scripted/model", "nobody/x"]
  for (const id of [...others, "constructor/x", "__proto__/x", "openai", "openai-", "/x", ""]) {
    assert.equal(await encodingOf(id, { config: settings(), env: { GEMINI_API_KEY: "k" } }), undefined, id)
  }
})

test("only the encoder that is used is loaded, and nothing that could send", async () => {
  const encoding = new URL("../../src/model/encoding.ts", import.meta.url).href
  const loaded = async (id: string): Promise<string[]> => {
    const script = `
      import { registerHooks } from "node:module"
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { encodingOf } = await import(${JSON.stringify(encoding)})
      await encodingOf(${JSON.stringify(id)}, { config: { aliases: {}, providers: {}, prices: {} }, env: {} })
      const names = loaded.map((url) => url.split("/").at(-1).replace(".ts", ""))
      const watched = ["http", "anthropic-encode", "openai-chat-encode", "openai-responses-encode"]
      console.log(JSON.stringify(watched.filter((name) => names.includes(name))))`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
    return JSON.parse(stdout)
  }
  assert.deepEqual(await loaded("offline/legwork"), [])
  assert.deepEqual(await loaded("anthropic/x"), ["anthropic-encode"])
  assert.deepEqual(await loaded("openai/x"), ["openai-responses-encode"])
  assert.deepEqual(await loaded("ollama/x"), ["openai-chat-encode"])
})
