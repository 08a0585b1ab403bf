import type { Cost, Usage } from "../core/usage.ts"

/** US dollars per million tokens. Without a price of its own, the cache costs what input does. */
export type Price = { input: number; output: number; cacheRead?: number; cacheWrite?: number }

/** Some models cost more for all of a request once its prompt has more than `over` tokens. */
type Tiered = Price & { long?: Price & { over: number } }

/** When the table below was last compared with what the providers publish. */
export const pricesAsOf = "2026-11-15"

const anthropic = (input: number, output: number, cacheRead = input / 10): Price => ({
  input,
  output,
  cacheRead,
  cacheWrite: input * 1.25,
})

const openai = (input: number, cacheRead: number, output: number): Price => ({ input, cacheRead, output })

/** Since its sixth generation OpenAI charges for cache writes, and more for prompts over 272,000 tokens. */
function openai6(input: number, cacheRead: number, output: number): Tiered {
  const short = { input, cacheRead, cacheWrite: input * 1.25, output }
  const long = { input: input * 2, cacheRead: cacheRead * 2, cacheWrite: input * 2.5, output: output * 1.5 }
  return { ...short, long: { over: 272_000, ...long } }
}

const free: Price = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

/** By family: see `priceOf` for what belongs to one. */
const table: Record<string, Tiered> = {
  "anthropic/claude-fable-5-1": anthropic(10, 50, 0.25),
  "anthropic/claude-fable-5": anthropic(10, 50),
  "anthropic/claude-mythos-5-1": anthropic(10, 50, 0.25),
  "anthropic/claude-mythos-5": anthropic(10, 50),
  "anthropic/claude-opus-5-5": anthropic(4, 20, 0.2),
  "anthropic/claude-opus-5": anthropic(5, 25),
  "anthropic/claude-opus-4-8": anthropic(5, 25),
  "anthropic/claude-opus-4-7": anthropic(5, 25),
  "anthropic/claude-opus-4-6": anthropic(5, 25),
  "anthropic/claude-opus-4-5": anthropic(5, 25),
  "anthropic/claude-opus-4-1": anthropic(15, 75),
  "anthropic/claude-opus-4": anthropic(15, 75),
  "anthropic/claude-3-opus": anthropic(15, 75),
  "anthropic/claude-sonnet-5-5": anthropic(2, 10, 0.1),
  "anthropic/claude-sonnet-5": anthropic(2, 10),
  "anthropic/claude-sonnet-4-6": anthropic(3, 15),
  "anthropic/claude-sonnet-4-5": anthropic(3, 15),
  "anthropic/claude-sonnet-4": anthropic(3, 15),
  "anthropic/claude-3-7-sonnet": anthropic(3, 15),
  "anthropic/claude-3-5-sonnet": anthropic(3, 15),
  "anthropic/claude-haiku-5-5": { ...anthropic(0.1, 0.5), long: { over: 100_000, ...anthropic(0.5, 2.5) } },
  "anthropic/claude-haiku-4-5": anthropic(1, 5),
  "anthropic/claude-3-5-haiku": anthropic(0.8, 4),
  "anthropic/claude-3-haiku": anthropic(0.25, 1.25),
  "openai/gpt-6.1-sol": openai6(2, 0.1, 10),
  "openai/gpt-6.1-terra": openai6(1, 0.05, 5),
  "openai/gpt-6-sol": openai6(2, 0.2, 10),
  "openai/gpt-6-luna": openai6(0.1, 0.01, 0.5),
  "openai/gpt-5.5": openai(5, 0.5, 30),
  "openai/gpt-5.4": openai(2.5, 0.25, 15),
  "openai/gpt-5.4-mini": openai(0.75, 0.075, 4.5),
  "openai/gpt-5.2": openai(1.75, 0.175, 14),
  "openai/gpt-5.1": openai(1.25, 0.125, 10),
  "openai/gpt-5.1-codex": openai(1.25, 0.125, 10),
  "openai/gpt-5": openai(1.25, 0.125, 10),
  "openai/gpt-5-codex": openai(1.25, 0.125, 10),
  "openai/gpt-5-mini": openai(0.25, 0.025, 2),
  "openai/gpt-5-nano": openai(0.05, 0.005, 0.4),
  "openai/gpt-4.1": openai(2, 0.5, 8),
  "openai/gpt-4.1-mini": openai(0.4, 0.1, 1.6),
  "openai/gpt-4.1-nano": openai(0.1, 0.025, 0.4),
  "openai/gpt-4o": openai(2.5, 1.25, 10),
  "openai/gpt-4o-mini": openai(0.15, 0.075, 0.6),
  "openai/o4-mini": openai(1.1, 0.275, 4.4),
  "openai/o3": openai(2, 0.5, 8),
  "openai/o3-mini": openai(1.1, 0.55, 4.4),
  "openai/o1": openai(15, 7.5, 60),
  // Its launch price, half of this, ends on 2026-11-30.
  "google/gemini-4-argon": { input: 4, cacheRead: 0.2, output: 20 },
  "google/gemini-3.1-pro": gemini(2, 0.2, 12, 18),
  "google/gemini-3-pro": gemini(2, 0.2, 12, 18),
  "google/gemini-3-flash": { input: 0.5, cacheRead: 0.05, output: 3 },
  "google/gemini-2.5-pro": gemini(1.25, 0.125, 10, 15),
  "google/gemini-2.5-flash": { input: 0.3, cacheRead: 0.03, output: 2.5 },
  "google/gemini-2.5-flash-lite": { input: 0.1, cacheRead: 0.01, output: 0.4 },
  // DeepSeek's busy hours; all others cost half.
  "deepseek/deepseek-flash": { input: 0.3, cacheRead: 0.006, output: 1.2 },
  "deepseek/deepseek-v4-flash": { input: 0.3, cacheRead: 0.006, output: 1.2 },
  "deepseek/deepseek-v4-pro": { input: 1.32, cacheRead: 0.044, output: 3.96 },
  "moonshot/kimi-k3": { input: 3, cacheRead: 0.3, output: 15 },
  "moonshot/kimi-k2-thinking": { input: 0.6, cacheRead: 0.15, output: 2.5 },
}

function gemini(input: number, cacheRead: number, output: number, longOutput: number): Tiered {
  const long = { over: 200_000, input: input * 2, cacheRead: cacheRead * 2, output: longOutput }
  return { input, cacheRead, output, long }
}

/** Names that prices are known by. */
export const pricedModels: readonly string[] = Object.keys(table)

const local = new Set(["offline", "ollama", "lmstudio", "llamacpp", "vllm"])

/** The price of `provider/model`, or null when it is not known: a guess would look like a fact. */
export function priceOf(id: string, overrides: Record<string, Price> = {}): Tiered | null {
  const wanted = id.replace(/^openai-(chat|responses)\//, "openai/")
  const exact = [id, wanted].find((each) => Object.hasOwn(overrides, each))
  if (exact !== undefined) return overrides[exact]!
  const families = { ...table, ...overrides }
  const family = Object.keys(families)
    .filter((each) => belongs(wanted, each))
    .reduce((longest, each) => (each.length > longest.length ? each : longest), "")
  if (family) return families[family]!
  return local.has(wanted.split("/", 1)[0]!) ? free : null
}

/** The same model under another date, or a moving name: anything else that begins alike is another model. */
const belongs = (id: string, family: string): boolean =>
  id.startsWith(family) && /^(-(latest|preview|exp))?([-@]\d{3,8}(-\d{2}(-\d{2})?)?)?$/.test(id.slice(family.length))

/** What one request cost. `usage` must be that of a single request: its length may decide the price. */
export function costOf(price: Tiered | null, usage: Usage): Cost {
  if (!price) return null
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const {
    input,
    output,
    cacheRead = input,
    cacheWrite = input,
  } = price.long && prompt > price.long.over ? price.long : price
  const total =
    usage.input * input + usage.output * output + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite
  return total / 1_000_000
}
