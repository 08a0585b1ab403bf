import { longestOf } from "./facts.ts"
import type { Request } from "./model.ts"
import { apiOf, type Env } from "./providers.ts"
import { factsIn, type ModelSettings, partsOf } from "./resolve.ts"

/**
 * What a request to that model is written as, for looking at what was sent. It needs no key, since people look at
 * sessions of other machines; nothing for a model that is not asked in one of our own formats.
 */
export async function encodingOf(
  id: string,
  { config, env }: { config: ModelSettings; env: Env },
): Promise<((request: Request) => string) | undefined> {
  const { provider, name } = partsOf(id)
  const api = apiOf(provider, { settings: config.providers, env })
  const facts = factsIn(config, id)
  const asked = { provider, name, ...facts }
  switch (api) {
    case "anthropic":
      return (await import("./anthropic-encode.ts")).createEncoder({ name, maxTokens: longestOf(facts) })
    case "chat":
      return (await import("./openai-chat-encode.ts")).chatEncoder(asked)
    case "responses":
      return (await import("./openai-responses-encode.ts")).responsesEncoder(asked)
    case "package":
    case "offline":
    case undefined:
      return undefined
    default:
      return api satisfies never
  }
}
