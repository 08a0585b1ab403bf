import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import { promisify } from "node:util"
import fc from "fast-check"
import { noUsage } from "../../src/core/usage.ts"
import type { Facts } from "../../src/model/facts.ts"
import type { Model, Request } from "../../src/model/model.ts"
import { aliases } from "../../src/model/names.ts"
import { type Env, ModelError } from "../../src/model/providers.ts"
import { type ModelSettings, type Resolver, resolver } from "../../src/model/resolve.ts"

const settings = (more: Partial<ModelSettings> = {}): ModelSettings => ({
  aliases: { ...aliases },
  providers: {},
  prices: {},
  ...more,
})

const made = (env: Env = {}, config: Partial<ModelSettings> = {}, packages: string[] = []): Resolver =>
  resolver({ config: settings(config), env, packages })

const refused = async (resolver: Resolver, name?: string): Promise<{ kind: string; message: string }> => {
  const error = await resolver.resolve(name).then(
    () => assert.fail(`${name} was resolved`),
    (error: unknown) => error,
  )
  assert.ok(error instanceof ModelError)
  return { kind: error.kind, message: error.message }
}

const folder = await mkdtemp(join(tmpdir(), "legwork-resolve-"))
after(() => rm(folder, { recursive: true, force: true }))

type Seen = { path: string | undefined; headers: IncomingHttpHeaders; body: Record<string, unknown> }
const seen: Seen[] = []
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  seen.push({ path: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(chunks).toString()) })
  response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"no"}}')
})
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
after(() => server.close())

const request = (): Request => ({
  system: "s",
  tools: [],
  messages: [{ role: "user", text: "hello" }],
  toolChoice: "auto",
  memo: {},
})

/** What the server saw of one request of the model. */
async function asked(env: Env, name: string, config: Partial<ModelSettings> = {}) {
  const models = made(env, config)
  const model = await models.resolve(name)
  seen.length = 0
  const answer = await model.stream(request(), {
    signal: new AbortController().signal,
    delta: () => {},
    failed: () => {},
  })
  await models.close()
  assert.equal(answer.ok ? "" : answer.error.kind, "bad_request")
  const [first] = seen
  assert.ok(first)
  return {
    path: first.path,
    key: first.headers["x-api-key"] ?? first.headers.authorization,
    model: first.body.model,
    maxTokens: first.body.max_tokens ?? first.body.max_completion_tokens ?? first.body.max_output_tokens,
    extra: first.headers["x-extra"],
  }
}

test("a name without a provider finds its maker", () => {
  const makers = {
    "claude-sonnet-4-5": "anthropic",
    "gpt-5": "openai",
    o3: "openai",
    "o4-mini": "openai",
    "chatgpt-4o-latest": "openai",
    "gemini-2.5-pro": "google",
    "deepseek-chat": "deepseek",
    "kimi-k3": "moonshot",
    "moonshot-v1-8k": "moonshot",
    "grok-5": "xai",
    "glm-5": "zai",
    "mistral-large": "mistral",
    "command-a": "cohere",
  }
  const models = made()
  for (const [name, provider] of Object.entries(makers)) assert.equal(models.idOf(name), `${provider}/${name}`)
})

test("the part after the first slash is the model's, slashes and all", () => {
  assert.equal(made().idOf("openrouter/anthropic/claude-x"), "openrouter/anthropic/claude-x")
})

test("aliases lead to models, whatever their case, and may lead to each other", () => {
  const models = made({}, { aliases: { ...aliases, fast: "haiku", haiku: "mine/small" } })
  assert.equal(models.idOf("Sonnet"), "anthropic/claude-sonnet-5-5")
  assert.equal(models.idOf("opus"), "anthropic/claude-opus-5-5")
  assert.equal(models.idOf(" fast "), "mine/small")
  assert.equal(models.idOf("offline"), "offline/legwork")
})

test("small and plan are what the settings say, else the main model", () => {
  const all = made({}, { model: "a/main", smallModel: "haiku", planModel: "c/plan" })
  assert.deepEqual([all.idOf(), all.idOf("small"), all.idOf("plan")], ["a/main", aliases.haiku, "c/plan"])
  const one = made({}, { model: "a/main" })
  assert.deepEqual([one.idOf(), one.idOf("small"), one.idOf("plan")], ["a/main", "a/main", "a/main"])
})

test("without a configured model the keys at hand decide, and without any the offline model answers", async () => {
  const defaults: [Env, string][] = [
    [{}, "offline/legwork"],
    [{ ANTHROPIC_API_KEY: " " }, "offline/legwork"],
    [{ OPENROUTER_API_KEY: "k" }, "openrouter/anthropic/claude-sonnet-5.5"],
    [{ OPENROUTER_API_KEY: "k", GEMINI_API_KEY: "k" }, "google/gemini-4-argon"],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "google/gemini-4-argon"],
    [{ GEMINI_API_KEY: "k", OPENAI_API_KEY: "k" }, "openai/gpt-6.1-sol"],
    [{ OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }, "anthropic/claude-sonnet-5-5"],
    [{ DEEPSEEK_API_KEY: "k" }, "deepseek/deepseek-v4-pro"],
    [{ MOONSHOT_API_KEY: "k" }, "moonshot/kimi-k3"],
  ]
  for (const [env, id] of defaults) assert.equal(made(env).idOf(), id)
  const { id, images } = await made().resolve()
  assert.deepEqual({ id, images }, { id: "offline/legwork", images: false })
})

test("each mistake has its own error, which says what to do", async () => {
  const names = "anthropic, openai, openai-chat, openai-responses, openrouter, deepseek, moonshot, groq, xai, mistral, "
  const more = "together, fireworks, cerebras, zai, glm, qwen, ollama, lmstudio, llamacpp, vllm, google, cohere, "
  const last = "perplexity, deepinfra, huggingface, vercel, gateway, vertex, bedrock, azure"
  const cases: [string, Env, Partial<ModelSettings>, string, string][] = [
    ["llama3:8b", {}, {}, "unknown_model", '"llama3:8b" names no model; write provider/model, such as ollama/qwen3'],
    ["", {}, {}, "unknown_model", '"" names no model; write provider/model, such as ollama/qwen3'],
    ["anthropic/", {}, {}, "unknown_model", '"anthropic/" names no model; write provider/model, such as ollama/qwen3'],
    ["/x", {}, {}, "unknown_model", '"/x" names no model; write provider/model, such as ollama/qwen3'],
    ["antropic/x", {}, {}, "unknown_provider", 'there is no provider named "antropic"; did you mean anthropic?'],
    [
      "constructor/x",
      {},
      {},
      "unknown_provider",
      `there is no provider named "constructor"; there are ${names}${more}${last}`,
    ],
    [
      "mime/x",
      {},
      { providers: { mine: {} } },
      "unknown_provider",
      'there is no provider named "mime"; did you mean mine?',
    ],
    ["sonnet", {}, {}, "missing_key", "no key for anthropic: set ANTHROPIC_API_KEY"],
    ["openai/x", { OPENAI_API_KEY: "" }, {}, "missing_key", "no key for openai: set OPENAI_API_KEY"],
    ["google/x", {}, {}, "missing_key", "no key for google: set GOOGLE_GENERATIVE_AI_API_KEY"],
    ["groq/x", {}, { providers: { groq: { keyVariable: "G" } } }, "missing_key", "no key for groq: set G"],
    [
      "mine/x",
      {},
      { providers: { mine: { baseURL: "http://127.0.0.1:1", keyVariable: "MINE" } } },
      "missing_key",
      "no key for mine: set MINE",
    ],
    [
      "openai/x",
      { OPENAI_API_KEY: "sk-1 sk-2" },
      {},
      "missing_key",
      "OPENAI_API_KEY holds more than a key; set it to the key alone",
    ],
    [
      "mine/x",
      {},
      { providers: { mine: {} } },
      "bad_settings",
      "provider mine has no address; set providers.mine.baseURL in settings",
    ],
    [
      "openai/x",
      { OPENAI_BASE_URL: "localhost:8080" },
      {},
      "bad_settings",
      "OPENAI_BASE_URL must be an address that begins with http:// or https://",
    ],
    [
      "mine/x",
      {},
      { providers: { mine: { baseURL: "file:///x" } } },
      "bad_settings",
      "providers.mine.baseURL must be an address that begins with http:// or https://",
    ],
    ["a", {}, { aliases: { a: "b", b: "a" } }, "bad_settings", "the alias a leads back to itself; set it to a model"],
    ["small", {}, { model: "small" }, "bad_settings", "the alias small leads back to itself; set it to a model"],
    [
      "google/x",
      { GEMINI_API_KEY: "k" },
      {},
      "missing_package",
      "the provider google needs the package @ai-sdk/google; run: npm i @ai-sdk/google",
    ],
  ]
  for (const [name, env, config, kind, message] of cases) {
    assert.deepEqual(await refused(made(env, config), name), { kind, message })
  }
})

test("Anthropic is reached with and without /v1 in its address", async () => {
  const expected = {
    path: "/v1/messages",
    key: "k",
    model: "claude-sonnet-5-5",
    maxTokens: 32_000,
    extra: undefined,
  }
  for (const base of [address, `${address}/`, `${address}/v1`, `${address}/v1/`]) {
    assert.deepEqual(await asked({ ANTHROPIC_API_KEY: " k\n", ANTHROPIC_BASE_URL: base }, "sonnet"), expected)
  }
})

test("answers of older Claude models are asked for within their limits", async () => {
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address }
  assert.equal((await asked(env, "claude-3-5-haiku-latest")).maxTokens, 8_192)
  assert.equal((await asked(env, "claude-3-haiku-20240307")).maxTokens, 4_096)
  assert.equal((await asked(env, "anthropic/any")).maxTokens, 8_192)
})

test("an answer is asked for within a quarter of the window that the settings give, and the model tells how long it may be", async () => {
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: address, OPENAI_API_KEY: "k", OPENAI_BASE_URL: address }
  const known = async (name: string, facts?: Partial<Facts>) => {
    const [provider = "", model = ""] = name.split("/")
    const config = { providers: facts ? { [provider]: { models: { [model]: facts } } } : {} }
    const models = made(env, config)
    const { window, maxTokens } = await models.resolve(name)
    await models.close()
    assert.equal((await asked(env, name, config)).maxTokens, maxTokens)
    return { window, maxTokens }
  }
  const claude = "anthropic/claude-sonnet-5-5"
  assert.deepEqual(await known(claude), { window: 1_000_000, maxTokens: 32_000 })
  assert.deepEqual(await known(claude, { window: 20_001 }), { window: 20_001, maxTokens: 5_000 })
  assert.deepEqual(await known(claude, { window: 128_000 }), { window: 128_000, maxTokens: 32_000 })
  assert.deepEqual(await known(claude, { window: 20_000, maxTokens: 9_000 }), { window: 20_000, maxTokens: 9_000 })
  assert.deepEqual(await known(claude, { maxTokens: 9_000 }), { window: 1_000_000, maxTokens: 9_000 })
  assert.deepEqual(await known("anthropic/any"), { window: 128_000, maxTokens: 8_192 })
  assert.deepEqual(await known("anthropic/any", { window: 8_000 }), { window: 8_000, maxTokens: 2_000 })
  assert.deepEqual(await known("anthropic/any", { window: 1 }), { window: 1, maxTokens: 1 })
  assert.deepEqual(await known("openai/gpt-5"), { window: 400_000, maxTokens: undefined })
  assert.deepEqual(await known("openai/gpt-5", { window: 8_000 }), { window: 8_000, maxTokens: undefined })
  assert.deepEqual(await known("openai/claude-x", { window: 8_000 }), { window: 8_000, maxTokens: 2_000 })
})

test("openai speaks Chat Completions to any address but its own, unless told otherwise", async () => {
  const env = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${address}/v1` }
  const chat = { path: "/v1/chat/completions", key: "Bearer k", model: "x", maxTokens: undefined, extra: undefined }
  const responses = { ...chat, path: "/v1/responses" }
  assert.deepEqual(await asked(env, "openai/x"), chat)
  assert.deepEqual(await asked(env, "openai-chat/x"), chat)
  assert.deepEqual(await asked(env, "openai-responses/x"), responses)
  assert.deepEqual(await asked(env, "openai/x", { providers: { openai: { api: "responses" } } }), responses)
})

test("the environment's address wins over the settings', and another address needs no key", async () => {
  const config = { providers: { openai: { baseURL: "http://127.0.0.1:1/v1", headers: { "x-extra": "yes" } } } }
  assert.deepEqual(await asked({ OPENAI_BASE_URL: address }, "openai/x", config), {
    path: "/chat/completions",
    key: undefined,
    model: "x",
    maxTokens: undefined,
    extra: "yes",
  })
})

test("a provider of the user's own is asked as its settings say", async () => {
  const mine = {
    api: "anthropic" as const,
    baseURL: `${address}/gateway/v1`,
    keyVariable: "MINE",
    headers: { "x-extra": "1" },
    models: { "org/big": { window: 64_000, maxTokens: 999, images: true } },
  }
  assert.deepEqual(await asked({ MINE: "secret" }, "mine/org/big", { providers: { mine } }), {
    path: "/gateway/v1/messages",
    key: "secret",
    model: "org/big",
    maxTokens: 999,
    extra: "1",
  })
  const { window, images } = await made({ MINE: "k" }, { providers: { mine } }).resolve("mine/org/big")
  assert.deepEqual({ window, images }, { window: 64_000, images: true })
})

test("ollama is where OLLAMA_HOST says", async () => {
  const host = address.slice("http://".length)
  const port = host.split(":")[1]
  for (const value of [host, address, `${address}/`, `:${port}`, `0.0.0.0:${port}`]) {
    const { path, key } = await asked({ OLLAMA_HOST: value }, "ollama/llama3:8b")
    assert.deepEqual({ path, key }, { path: "/v1/chat/completions", key: undefined })
  }
})

test("what is known of a model's family is part of it, and its price", async () => {
  const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k" }
  const models = made(env, { prices: { "openrouter/x": { input: 1, output: 1 } } })
  const facts = async (name: string) => {
    const { id, window, images, cost } = await models.resolve(name)
    return { id, window, images, cost: cost({ ...noUsage(), input: 1_000 }) }
  }
  const openrouter = { id: "openrouter/anthropic/claude-haiku-4.5", window: 200_000, images: true, cost: null }
  assert.deepEqual(await facts("sonnet"), {
    id: "anthropic/claude-sonnet-5-5",
    window: 1_000_000,
    images: true,
    cost: 0.002,
  })
  assert.deepEqual(await facts("claude-haiku-4-5"), {
    id: "anthropic/claude-haiku-4-5",
    window: 200_000,
    images: true,
    cost: 0.001,
  })
  assert.deepEqual(await facts("gpt-5"), { id: "openai/gpt-5", window: 400_000, images: true, cost: 0.00125 })
  assert.deepEqual(await facts("openrouter/anthropic/claude-haiku-4.5"), openrouter)
  assert.deepEqual(await facts("openrouter/x"), { id: "openrouter/x", window: 128_000, images: false, cost: 0.001 })
  assert.deepEqual(await facts("ollama/qwen3"), { id: "ollama/qwen3", window: 128_000, images: false, cost: 0 })
  await models.close()
})

test("the same model is made once, and a failure is not remembered", async () => {
  const env: Env = {}
  const models = made(env)
  await assert.rejects(models.resolve("sonnet"), ModelError)
  env.ANTHROPIC_API_KEY = "k"
  assert.equal(await models.resolve("sonnet"), await models.resolve("anthropic/claude-sonnet-5-5"))
  await models.close()
})

test("models with the same address and key share one gate", async () => {
  let requests = 0
  const limited = createServer((_, response) => {
    requests++
    response.writeHead(401).end("{}")
  })
  await new Promise<void>((resolve) => limited.listen(0, "127.0.0.1", resolve))
  const base = `http://127.0.0.1:${(limited.address() as AddressInfo).port}/v1`
  const models = made({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: base })
  const listen = { signal: new AbortController().signal, delta: () => {}, failed: () => {} }
  const first = await (await models.resolve("openai/one")).stream(request(), listen)
  const second = await (await models.resolve("openai-responses/two")).stream(request(), listen)
  await models.close()
  limited.close()
  assert.equal(requests, 1)
  assert.deepEqual(second, first)
})

test("a model of the library's user is taken as it is", async () => {
  const model: Model = {
    id: "mine/x",
    images: false,
    window: 1,
    cost: () => null,
    stream: async () => ({ ok: true, parts: [], stop: "end", usage: noUsage() }),
  }
  assert.equal(await made().resolve(model), model)
})

const fake = `{
  specificationVersion: "v3", provider: "google.generative-ai", modelId: name, supportedUrls: {},
  doGenerate: async () => { throw new Error("not used") },
  doStream: async () => { throw new Error("asked with " + options.apiKey) },
}`

async function installed(): Promise<string> {
  const home = await mkdtemp(join(folder, "user-"))
  const at = join(home, "node_modules/@ai-sdk/google")
  await mkdir(at, { recursive: true })
  await writeFile(join(at, "package.json"), '{ "type": "module", "exports": "./index.js" }')
  await writeFile(join(at, "index.js"), `export const createGoogleGenerativeAI = (options) => (name) => (${fake})`)
  return home
}

test("other providers come from the user's package, which gets the key under any of its names", async () => {
  const models = made({ GEMINI_API_KEY: "k" }, {}, [await installed()])
  const model = await models.resolve("gemini-2.5-pro")
  const { id, window, images } = model
  assert.deepEqual({ id, window, images }, { id: "google/gemini-2.5-pro", window: 1_048_576, images: true })
  const signal = new AbortController().signal
  const answer = await model.stream(request(), { signal, delta: () => {}, failed: () => {} })
  assert.match(answer.ok ? "" : answer.error.message, /asked with k/)
})

test("a model object of the AI SDK is taken too", async () => {
  const home = await installed()
  const { createGoogleGenerativeAI } = await import(join(home, "node_modules/@ai-sdk/google/index.js"))
  const models = made()
  const { maxTokens } = await models.resolve(createGoogleGenerativeAI({})("claude-3-5-haiku"))
  assert.equal(maxTokens, 8_192)
  const { id, window, cost } = await models.resolve(createGoogleGenerativeAI({})("gemini-2.5-flash"))
  assert.deepEqual(
    { id, window, cost: cost({ ...noUsage(), input: 1_000_000 }) },
    { id: "google/gemini-2.5-flash", window: 1_048_576, cost: 0.3 },
  )
})

test("only the client that is used is loaded", async () => {
  const resolve = new URL("../../src/model/resolve.ts", import.meta.url).href
  const loaded = async (name: string): Promise<string[]> => {
    const script = `
      import { registerHooks } from "node:module"
      const loaded = []
      registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
      const { resolver } = await import(${JSON.stringify(resolve)})
      const config = { aliases: {}, providers: {}, prices: {} }
      const models = resolver({ config, env: { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }, packages: [] })
      await models.resolve(${JSON.stringify(name)})
      await models.close()
      const names = loaded.map((url) => url.split("/").at(-1).replace(".ts", ""))
      const clients = ["http", "anthropic", "openai-chat", "openai-responses", "ai-sdk", "offline"]
      console.log(JSON.stringify(clients.filter((name) => names.includes(name))))`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script])
    return JSON.parse(stdout)
  }
  assert.deepEqual(await loaded("offline/legwork"), ["offline"])
  assert.deepEqual(await loaded("anthropic/x"), ["http", "anthropic"])
  assert.deepEqual(await loaded("openai/x"), ["http", "openai-responses"])
  assert.deepEqual(await loaded("ollama/x"), ["http", "openai-chat"])
})

test("law: any name is a model or an error in plain words, and no error shows a key", async () => {
  const env = { OPENAI_API_KEY: "hidden-1", ANTHROPIC_API_KEY: "hidden 2" }
  const models = made(env, { model: "sonnet" })
  const part = fc.constantFrom(
    "openai",
    "anthropic",
    "small",
    "plan",
    "sonnet",
    "gpt-5",
    "__proto__",
    "/",
    " ",
    "é",
    "x",
  )
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.string(),
        fc.array(part).map((parts) => parts.join("")),
      ),
      async (name) => {
        const model = await models.resolve(name).catch((error: unknown) => error)
        if (model instanceof ModelError) assert.ok(model.message && !model.message.includes("hidden"))
        else assert.match((model as Model).id, /^[^/]+\/./)
      },
    ),
  )
  await models.close()
})
