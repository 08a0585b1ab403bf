/** What has to be known of a model before it is asked anything. */
export type Facts = {
  /** Tokens that a request and its answer may hold together. */
  window: number
  /** Tokens of the longest answer to ask for; undefined leaves that to the provider. */
  maxTokens?: number
  images: boolean
}

/** The first pattern that fits the name without its vendor wins. */
const families: [RegExp, Facts][] = [
  [/^claude-3-(opus|sonnet|haiku)/, { window: 200_000, maxTokens: 4_096, images: true }],
  [/^claude-3[.-]5-/, { window: 200_000, maxTokens: 8_192, images: true }],
  [/^claude-(opus|sonnet)-4[.-][6-9]/, { window: 1_000_000, maxTokens: 32_000, images: true }],
  [/^claude-[a-z]+-([5-9]|\d\d)(?!\d)/, { window: 1_000_000, maxTokens: 32_000, images: true }],
  [/^claude-/, { window: 200_000, maxTokens: 32_000, images: true }],
  [/^gpt-(6|5\.[4-9])/, { window: 1_050_000, images: true }],
  [/^gpt-5/, { window: 400_000, images: true }],
  [/^gpt-4\.1/, { window: 1_047_576, images: true }],
  [/^(gpt-4o|gpt-4-turbo|chatgpt-)/, { window: 128_000, images: true }],
  [/^(o1-mini|o3-mini)/, { window: 128_000, images: false }],
  [/^o[1-9]/, { window: 200_000, images: true }],
  [/^gemini-/, { window: 1_048_576, images: true }],
  [/^deepseek-(v[4-9]|flash)/, { window: 1_000_000, images: false }],
  [/^kimi-k(2\.[5-9]|[3-9])/, { window: 262_144, images: true }],
  [/^kimi-k2/, { window: 262_144, images: false }],
]

const unknown: Facts = { window: 128_000, images: false }

/** Facts of a model by its name, with what the settings say about it on top. */
export function factsOf(name: string, known: Partial<Facts> = {}): Facts {
  const bare = name.slice(name.lastIndexOf("/") + 1).toLowerCase()
  const family = families.find(([pattern]) => pattern.test(bare))?.[1] ?? unknown
  const facts = { ...family, ...known }
  if (known.maxTokens !== undefined || family.maxTokens === undefined) return facts
  return { ...facts, maxTokens: fitting(family.maxTokens, facts.window) }
}

/** The longest answer to ask for in a format that demands a number: one that any model which speaks it can give. */
export const longestOf = ({ maxTokens, window }: Facts): number => maxTokens ?? fitting(8_192, window)

/** An answer must leave room for what it answers. */
const fitting = (maxTokens: number, window: number): number => Math.max(1, Math.min(maxTokens, Math.floor(window / 4)))
