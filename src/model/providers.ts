import { nearest } from "../core/nearest.ts"
import type { Facts } from "./facts.ts"

/** Who speaks which format. */
type Api = "anthropic" | "chat" | "responses"

/** What settings may say of a provider, built in or the user's own. */
export type ProviderSettings = {
  api?: Api
  baseURL?: string
  /** The variable that holds the key; the key itself never stands in settings. */
  keyVariable?: string
  headers?: Record<string, string>
  models?: Record<string, Partial<Facts>>
}

/** Everything needed to ask a provider. */
export type Provider =
  | {
      kind: "wire"
      name: string
      api: Api
      baseURL: string
      key?: string
      keyVariable?: string
      headers: Record<string, string>
    }
  /** Reached through the AI SDK's package of that name, which the user installs. */
  | {
      kind: "package"
      name: string
      baseURL?: string
      key?: string
      keyVariable?: string
      headers?: Record<string, string>
    }
  | { kind: "offline" }

export type Env = Record<string, string | undefined>

/** A model that cannot be used, and what to set so that it can. */
export class ModelError extends Error {
  override readonly name = "ModelError"
  readonly kind: "unknown_model" | "unknown_provider" | "missing_key" | "bad_settings" | "missing_package"

  constructor(kind: ModelError["kind"], message: string) {
    super(message)
    this.kind = kind
  }
}

/** `keys` are variables that may hold the key, the first that is set counts; `address` may hold another base URL. */
type BuiltIn = { api: Api | "package"; baseURL?: string; keys: string[]; address?: string; needsKey: boolean }

const chat = (baseURL: string, word: string): BuiltIn => ({
  api: "chat",
  baseURL,
  keys: [`${word}_API_KEY`],
  address: `${word}_BASE_URL`,
  needsKey: true,
})
const local = (port: number, word: string): BuiltIn => ({
  ...chat(`http://127.0.0.1:${port}/v1`, word),
  needsKey: false,
})
/** Packages that find what they need by themselves have no keys here. */
const through = (...keys: string[]): BuiltIn => ({ api: "package", keys, needsKey: keys.length > 0 })
const openai: BuiltIn = { ...chat("https://api.openai.com/v1", "OPENAI"), api: "responses" }

const builtIn: Record<string, BuiltIn> = {
  anthropic: { ...chat("https://api.anthropic.com", "ANTHROPIC"), api: "anthropic" },
  openai,
  "openai-chat": { ...openai, api: "chat" },
  "openai-responses": openai,
  openrouter: chat("https://openrouter.ai/api/v1", "OPENROUTER"),
  deepseek: chat("https://api.deepseek.com", "DEEPSEEK"),
  moonshot: chat("https://api.moonshot.ai/v1", "MOONSHOT"),
  groq: chat("https://api.groq.com/openai/v1", "GROQ"),
  xai: chat("https://api.x.ai/v1", "XAI"),
  mistral: chat("https://api.mistral.ai/v1", "MISTRAL"),
  together: chat("https://api.together.xyz/v1", "TOGETHER"),
  fireworks: chat("https://api.fireworks.ai/inference/v1", "FIREWORKS"),
  cerebras: chat("https://api.cerebras.ai/v1", "CEREBRAS"),
  zai: chat("https://api.z.ai/api/paas/v4", "ZAI"),
  glm: chat("https://api.z.ai/api/paas/v4", "ZAI"),
  qwen: chat("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE"),
  ollama: { ...local(11434, "OLLAMA"), keys: [] },
  lmstudio: local(1234, "LMSTUDIO"),
  llamacpp: local(8080, "LLAMACPP"),
  vllm: local(8000, "VLLM"),
  google: through("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"),
  cohere: through("COHERE_API_KEY"),
  perplexity: through("PERPLEXITY_API_KEY"),
  deepinfra: through("DEEPINFRA_API_KEY"),
  huggingface: through("HUGGINGFACE_API_KEY"),
  vercel: through("VERCEL_API_KEY"),
  gateway: through("AI_GATEWAY_API_KEY"),
  vertex: through(),
  bedrock: through(),
  azure: through(),
}

export type Sources = { settings: Record<string, ProviderSettings>; env: Env }

export function providerOf(name: string, sources: Sources): Provider {
  const { settings, env } = sources
  const api = apiOf(name, sources)
  if (api === "offline") return { kind: "offline" }
  if (!api) throw unknownProvider(name, settings)
  const { known, own = {} } = sidesOf(name, settings)
  const key = keyOf(own.keyVariable ? [own.keyVariable] : (known?.keys ?? []), env)
  if (api === "package") {
    if (known?.needsKey && !key.key) throw missingKey(name, key.keyVariable!)
    const { baseURL, headers } = own
    return { kind: "package", name, ...key, ...(baseURL && { baseURL }), ...(headers && { headers }) }
  }
  const baseURL = baseOf(name, { known, own, env })
  // Whoever answers at another address may well want no key; the provider itself always does.
  if (!key.key && (own.keyVariable || (known?.needsKey && baseURL === known.baseURL))) {
    throw missingKey(name, key.keyVariable!)
  }
  return { kind: "wire", name, api, baseURL, ...key, headers: own.headers ?? {} }
}

/** How a provider is spoken to, whether or not it can be asked with what is set; undefined if there is none. */
export function apiOf(name: string, { settings, env }: Sources): Api | "package" | "offline" | undefined {
  if (name === "offline") return "offline"
  const { known, own } = sidesOf(name, settings)
  if (!known && !own) return undefined
  if (own?.api) return own.api
  // Endpoints that imitate OpenAI's speak Chat Completions; Responses is spoken by few but itself.
  if (name === "openai" && trimmed(addressOf(name, { known, own, env }) ?? "") !== openai.baseURL) return "chat"
  return known?.api ?? "chat"
}

/** The variables with keys that are set, never their values. */
export function keysFound({ settings, env }: Sources): string[] {
  const names = [
    ...Object.values(builtIn).flatMap(({ keys = [] }) => keys),
    ...Object.values(settings).map((own) => own.keyVariable),
  ]
  return [...new Set(names.filter((name): name is string => name !== undefined && Boolean(env[name]?.trim())))]
}

/** Whether the provider could be asked with what is set now. */
export function usable(name: string, sources: Sources): boolean {
  try {
    const provider = providerOf(name, sources)
    return provider.kind !== "offline" && provider.key !== undefined
  } catch {
    return false
  }
}

/** What is built in of a provider, and what the settings say. */
type Sides = { known: BuiltIn | undefined; own: ProviderSettings | undefined }

const sidesOf = (name: string, settings: Sources["settings"]): Sides => ({
  known: Object.hasOwn(builtIn, name) ? builtIn[name] : undefined,
  own: Object.hasOwn(settings, name) ? settings[name] : undefined,
})

const saidIn = (env: Env, known: BuiltIn | undefined): string | undefined =>
  known?.address && env[known.address]?.trim()

function addressOf(name: string, { known, own, env }: Sides & { env: Env }): string | undefined {
  const ollama = name === "ollama" ? ollamaHost(env.OLLAMA_HOST) : undefined
  return saidIn(env, known) || own?.baseURL || ollama || known?.baseURL
}

function baseOf(name: string, sides: Sides & { env: Env }): string {
  const { known, own, env } = sides
  const base = addressOf(name, sides)
  if (!base) {
    throw new ModelError("bad_settings", `provider ${name} has no address; set providers.${name}.baseURL in settings`)
  }
  const url = URL.parse(base)
  if (url?.protocol !== "http:" && url?.protocol !== "https:") {
    const where = saidIn(env, known) ? known?.address : `providers.${name}.baseURL`
    throw new ModelError("bad_settings", `${where} must be an address that begins with http:// or https://`)
  }
  const address = trimmed(base)
  return name === "anthropic" || own?.api === "anthropic" ? address.replace(/\/v1$/, "") : address
}

const trimmed = (address: string): string => address.replace(/\/+$/, "")

/** Ollama's own variable: a host, a port, both or a whole address. */
function ollamaHost(host: string | undefined): string | undefined {
  if (!host?.trim()) return undefined
  const given = host.trim().replace(/^(?!\w+:\/\/)(?=:)/, "127.0.0.1")
  const url = URL.parse(/^\w+:\/\//.test(given) ? given : `http://${given}`)
  if (!url) return undefined
  if (!url.port && !/^\w+:\/\//.test(given)) url.port = "11434"
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1`
}

function keyOf(variables: readonly string[], env: Env): { key?: string; keyVariable?: string } {
  const set = variables.find((each) => env[each]?.trim())
  const keyVariable = set ?? variables[0]
  if (!keyVariable) return {}
  const key = set && env[set]?.trim()
  if (key && /[^\u0021-\u007e]/.test(key)) {
    throw new ModelError("missing_key", `${keyVariable} holds more than a key; set it to the key alone`)
  }
  return { keyVariable, ...(key && { key }) }
}

const missingKey = (name: string, variable: string): ModelError =>
  new ModelError("missing_key", `no key for ${name}: set ${variable}`)

function unknownProvider(name: string, settings: Record<string, ProviderSettings>): ModelError {
  const names = [...new Set([...Object.keys(settings), ...Object.keys(builtIn)])]
  const meant = nearest(name, names)
  const hint = meant ? `did you mean ${meant}?` : `there are ${names.join(", ")}`
  return new ModelError("unknown_provider", `there is no provider named ${JSON.stringify(name)}; ${hint}`)
}
