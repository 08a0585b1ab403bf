import { readFile } from "node:fs/promises"
import { findPackageJSON } from "node:module"
import path from "node:path"
import { pathToFileURL } from "node:url"
import type { AiSdkModel } from "./ai-sdk.ts"

/** Makes a model of one provider, by the name that the provider gives it. */
export type AiSdkProvider = (options?: {
  apiKey?: string
  baseURL?: string
  headers?: Record<string, string>
}) => (name: string) => AiSdkModel

/** Where each provider comes from: the package to install, what it exports, and where it looks for its key. */
export const aiSdkPackages: Readonly<Record<string, { package: string; creates: string; key: string }>> = {
  google: { package: "@ai-sdk/google", creates: "createGoogleGenerativeAI", key: "GOOGLE_GENERATIVE_AI_API_KEY" },
  vertex: { package: "@ai-sdk/google-vertex", creates: "createVertex", key: "GOOGLE_VERTEX_API_KEY" },
  bedrock: { package: "@ai-sdk/amazon-bedrock", creates: "createAmazonBedrock", key: "AWS_BEARER_TOKEN_BEDROCK" },
  azure: { package: "@ai-sdk/azure", creates: "createAzure", key: "AZURE_API_KEY" },
  mistral: { package: "@ai-sdk/mistral", creates: "createMistral", key: "MISTRAL_API_KEY" },
  cohere: { package: "@ai-sdk/cohere", creates: "createCohere", key: "COHERE_API_KEY" },
  groq: { package: "@ai-sdk/groq", creates: "createGroq", key: "GROQ_API_KEY" },
  xai: { package: "@ai-sdk/xai", creates: "createXai", key: "XAI_API_KEY" },
  perplexity: { package: "@ai-sdk/perplexity", creates: "createPerplexity", key: "PERPLEXITY_API_KEY" },
  togetherai: { package: "@ai-sdk/togetherai", creates: "createTogetherAI", key: "TOGETHER_AI_API_KEY" },
  fireworks: { package: "@ai-sdk/fireworks", creates: "createFireworks", key: "FIREWORKS_API_KEY" },
  deepinfra: { package: "@ai-sdk/deepinfra", creates: "createDeepInfra", key: "DEEPINFRA_API_KEY" },
  cerebras: { package: "@ai-sdk/cerebras", creates: "createCerebras", key: "CEREBRAS_API_KEY" },
  huggingface: { package: "@ai-sdk/huggingface", creates: "createHuggingFace", key: "HUGGINGFACE_API_KEY" },
  vercel: { package: "@ai-sdk/vercel", creates: "createVercel", key: "VERCEL_API_KEY" },
  gateway: { package: "@ai-sdk/gateway", creates: "createGateway", key: "AI_GATEWAY_API_KEY" },
}

/** Imports the user's own package of a provider, from the first of the folders that has it. Rejects in plain words. */
export async function loadAiSdk(provider: string, from: readonly string[]): Promise<AiSdkProvider> {
  const known = Object.hasOwn(aiSdkPackages, provider) ? aiSdkPackages[provider] : undefined
  if (!known) {
    const names = Object.keys(aiSdkPackages).join(", ")
    throw new Error(`there is no provider named "${provider}"; packages are known for ${names}`)
  }
  const manifest = from.map((folder) => manifestOf(known.package, folder)).find((found) => found !== undefined)
  if (!manifest) {
    throw new Error(`the provider ${provider} needs the package ${known.package}; run: npm i ${known.package}`)
  }
  const made: Record<string, unknown> = await import(pathToFileURL(await entryOf(manifest)).href)
  const create = made[known.creates]
  if (typeof create !== "function") {
    throw new Error(`${known.package} has no ${known.creates}; run: npm i ${known.package}@latest`)
  }
  return create as AiSdkProvider
}

function manifestOf(name: string, folder: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(path.join(folder, "package.json")))
  } catch {
    return undefined
  }
}

async function entryOf(manifest: string): Promise<string> {
  const { exports, main }: { exports?: unknown; main?: string } = JSON.parse(await readFile(manifest, "utf8"))
  const root = typeof exports === "object" && exports !== null && "." in exports ? exports["."] : exports
  return path.join(path.dirname(manifest), chosen(root) ?? main ?? "index.js")
}

/** The file that an import gets, of what a package offers under conditions. */
function chosen(offered: unknown): string | undefined {
  if (typeof offered === "string") return offered
  if (typeof offered !== "object" || offered === null) return undefined
  for (const [condition, inner] of Object.entries(offered)) {
    const file = ["node", "import", "default"].includes(condition) ? chosen(inner) : undefined
    if (file) return file
  }
  return undefined
}
