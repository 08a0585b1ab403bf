/** Short words for models that change with time, as of 2026-11-15. Settings may change them and add others. */
export const aliases: Readonly<Record<string, string>> = {
  opus: "anthropic/claude-opus-5-5",
  sonnet: "anthropic/claude-sonnet-5-5",
  haiku: "anthropic/claude-haiku-5-5",
  offline: "offline/legwork",
}

/** The model to use when nobody named one, by the first provider in this order that has a key. */
export const favourites: readonly { provider: string; model: string }[] = [
  { provider: "anthropic", model: "sonnet" },
  { provider: "openai", model: "openai/gpt-6.1-sol" },
  { provider: "google", model: "google/gemini-4-argon" },
  { provider: "openrouter", model: "openrouter/anthropic/claude-sonnet-5.5" },
  { provider: "deepseek", model: "deepseek/deepseek-v4-pro" },
  { provider: "moonshot", model: "moonshot/kimi-k3" },
]

const makers: [RegExp, string][] = [
  [/^claude-/, "anthropic"],
  [/^(gpt-|chatgpt-|o[1-9](-|$)|codex-)/, "openai"],
  [/^(gemini|gemma)-/, "google"],
  [/^deepseek-/, "deepseek"],
  [/^(kimi|moonshot)-/, "moonshot"],
  [/^grok-/, "xai"],
  [/^glm-/, "zai"],
  [/^(mistral|magistral|codestral|devstral|ministral)-/, "mistral"],
  [/^command-/, "cohere"],
]

/** Who makes the model of that name, where the name alone tells. */
export const makerOf = (name: string): string | undefined => makers.find(([pattern]) => pattern.test(name))?.[1]
