import { reasonOf } from "../core/error.ts"
import type { AiSdkModel } from "./ai-sdk.ts"
import { type Facts, factsOf, longestOf } from "./facts.ts"
import { type Clock, Gate } from "./gate.ts"
import type { Pool } from "./http.ts"
import type { Model } from "./model.ts"
import { favourites, makerOf } from "./names.ts"
import { costOf, type Price, pricedModels, priceOf } from "./price.ts"
import { type Env, ModelError, type Provider, type ProviderSettings, providerOf, usable } from "./providers.ts"
import { type Attempt, retrying, sleep } from "./retry.ts"

/** What the settings say about models. */
export type ModelSettings = {
  model?: string
  smallModel?: string
  planModel?: string
  aliases: Record<string, string>
  providers: Record<string, ProviderSettings>
  prices: Record<string, Price>
}

export type Resolver = {
  /** `provider/model` in full, without asking whether it can be used. Without a name: the one to use by default. */
  idOf(name?: string): string
  /** The same, and throws a ModelError if it cannot be used with what is set now. */
  checked(name: string): string
  /** Models that can be used with what is set now, as far as they are known by name. */
  known(): string[]
  /** From now on this is the model that stands for those that are not set. */
  prefer(id: string): void
  /** Throws a ModelError that says what to set. Objects are models already, ours or the AI SDK's. */
  resolve(name?: string | Model | AiSdkModel): Promise<Model>
  close(): Promise<void>
}

type Options = {
  config: ModelSettings
  env: Env
  /** Where the AI SDK's packages may be: folders of the user's, never of the project that is worked on. */
  packages: string[]
  clock?: Clock
  sleep?: typeof sleep
  /** Milliseconds without a byte before an answer counts as stalled. */
  idle?: number
}

const realClock: Clock = {
  now: () => performance.now(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
  random: Math.random,
}

/** Turns names into models. All models of one resolver share connections, and a gate where they share a key. */
export function resolver(options: Options): Resolver {
  const { config, env, clock = realClock } = options
  const models = new Map<string, Promise<Model>>()
  const gates = new Map<string, Gate>()
  let pool: Promise<Pool> | undefined
  let preferred: string | undefined

  const gateFor = (place: string): Gate => {
    const gate = gates.get(place) ?? new Gate(clock)
    gates.set(place, gate)
    return gate
  }
  const poolOf = (): Promise<Pool> => {
    pool ??= import("./http.ts").then(({ sharedPool }) => sharedPool(env))
    return pool
  }
  const model = (id: string, { attempt, facts, place }: { attempt: Attempt; facts: Facts; place: string }): Model => {
    const price = priceOf(id, config.prices)
    const stream = retrying(attempt, { gate: gateFor(place), sleep: options.sleep ?? sleep, random: clock.random })
    return { id, ...facts, stream, cost: (usage) => costOf(price, usage) }
  }
  const make = async (id: string): Promise<Model> => {
    const { provider, name } = partsOf(id)
    const from = providerOf(provider, { settings: config.providers, env })
    if (from.kind === "offline") return (await import("./offline.ts")).offline()
    const facts = factsIn(config, id)
    const attempt =
      from.kind === "package"
        ? await fromPackage(from, { ...options, name, facts })
        : await client(from, { ...options, name, facts, pool: await poolOf() })
    const place = from.kind === "package" ? from.name : `${from.baseURL} ${from.keyVariable ?? ""}`
    const limited = from.kind === "wire" && from.api === "anthropic" ? { ...facts, maxTokens: longestOf(facts) } : facts
    return model(id, { attempt, facts: limited, place })
  }

  return {
    idOf: (name) => fullName(name, options, preferred),
    known() {
      const configured = Object.entries(config.providers).flatMap(([provider, { models = {} }]) =>
        Object.keys(models).map((name) => `${provider}/${name}`),
      )
      const all = [...configured, ...Object.keys(config.prices), ...pricedModels, "offline/legwork"]
      return [...new Set(all)].filter((id) => isUsable(partsOf(id).provider, { settings: config.providers, env }))
    },
    prefer(id) {
      preferred = id
    },
    checked(name) {
      const id = fullName(name, options, preferred)
      providerOf(partsOf(id).provider, { settings: config.providers, env })
      return id
    },
    async resolve(name) {
      if (typeof name === "object") {
        if (!("doStream" in name)) return name
        const provider = name.provider.split(".", 1)[0]!
        const facts = factsOf(name.modelId)
        const { aiSdk } = await import("./ai-sdk.ts")
        const attempt = aiSdk({ model: name, provider, ...limits(facts, options) })
        return model(`${provider}/${name.modelId}`, { attempt, facts, place: provider })
      }
      const id = fullName(name, options, preferred)
      const made = models.get(id) ?? make(id)
      models.set(id, made)
      // What failed may succeed once a key is set or a package installed.
      made.catch(() => models.delete(id))
      return made
    },
    async close() {
      models.clear()
      const opened = await pool
      opened?.close()
      pool = undefined
    },
  }
}

function isUsable(provider: string, from: Parameters<typeof providerOf>[1]): boolean {
  try {
    providerOf(provider, from)
    return true
  } catch {
    return false
  }
}

type Asked = Options & { name: string; facts: Facts }

const limits = ({ maxTokens }: Facts, { idle }: Pick<Options, "idle">): { maxTokens?: number; idle?: number } => ({
  ...(maxTokens !== undefined && { maxTokens }),
  ...(idle !== undefined && { idle }),
})

async function client(from: Extract<Provider, { kind: "wire" }>, asked: Asked & { pool: Pool }): Promise<Attempt> {
  const { kind: _, api, name: provider, key, keyVariable = `providers.${provider}.keyVariable`, ...rest } = from
  const { name, pool, facts } = asked
  const common = { ...rest, ...limits(facts, asked), provider, name, pool, keyVariable }
  switch (api) {
    case "anthropic": {
      const { anthropic } = await import("./anthropic.ts")
      return anthropic({ ...common, maxTokens: longestOf(facts), key: key ?? "" })
    }
    case "chat":
      return (await import("./openai-chat.ts")).openaiChat({ ...common, ...(key && { key }) })
    case "responses":
      return (await import("./openai-responses.ts")).openaiResponses({ ...common, ...(key && { key }) })
    default:
      return api satisfies never
  }
}

async function fromPackage(from: Extract<Provider, { kind: "package" }>, asked: Asked): Promise<Attempt> {
  const { kind: _, name: provider, key, keyVariable: __, ...rest } = from
  const [{ aiSdk }, { loadAiSdk }] = await Promise.all([import("./ai-sdk.ts"), import("./ai-sdk-load.ts")])
  try {
    const create = await loadAiSdk(provider, asked.packages)
    const model = create({ ...rest, ...(key && { apiKey: key }) })(asked.name)
    return aiSdk({ model, provider, ...limits(asked.facts, asked) })
  } catch (error) {
    throw new ModelError("missing_package", reasonOf(error))
  }
}

/** Follows aliases to their end. */
function fullName(name: string | undefined, { config, env }: Options, preferred: string | undefined): string {
  const main = () => preferred ?? config.model ?? favourite(config, env)
  const seen = new Set<string>()
  for (let at = name?.trim() ?? main(); ; ) {
    if (seen.has(at)) throw new ModelError("bad_settings", `the alias ${at} leads back to itself; set it to a model`)
    seen.add(at)
    const meant = meaning(at, { config, main })
    if (meant === undefined) return withProvider(at)
    at = meant.trim()
  }
}

function meaning(word: string, { config, main }: { config: ModelSettings; main(): string }): string | undefined {
  if (word === "small") return config.smallModel ?? main()
  if (word === "plan") return config.planModel ?? main()
  return [word, word.toLowerCase()].flatMap((each) =>
    Object.hasOwn(config.aliases, each) ? config.aliases[each]! : [],
  )[0]
}

function favourite({ providers }: ModelSettings, env: Env): string {
  const found = favourites.find(({ provider }) => usable(provider, { settings: providers, env }))
  return found?.model ?? "offline/legwork"
}

function withProvider(name: string): string {
  if (/^[^/]+\/./.test(name)) return name
  const maker = makerOf(name.toLowerCase())
  if (maker && !name.includes("/")) return `${maker}/${name}`
  const shown = JSON.stringify(name)
  throw new ModelError("unknown_model", `${shown} names no model; write provider/model, such as ollama/qwen3`)
}

export function partsOf(id: string): { provider: string; name: string } {
  const slash = id.indexOf("/")
  return { provider: id.slice(0, Math.max(0, slash)), name: id.slice(slash + 1) }
}

/** What is known of a model, with what the settings say about it on top. */
export function factsIn({ providers }: ModelSettings, id: string): Facts {
  const { provider, name } = partsOf(id)
  const own = Object.hasOwn(providers, provider) ? providers[provider]?.models : undefined
  return factsOf(name, own && Object.hasOwn(own, name) ? own[name] : {})
}
