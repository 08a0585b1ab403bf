import * as z from "zod"
import { nearest } from "../core/nearest.ts"
import { modeWords } from "./permissions.ts"
import { contexts, efforts, modes, type Problem, type Settings, sandboxes } from "./settings.ts"

const text = z.string().min(1)
const count = z.int().min(1)
const dollars = z.number().min(0)
const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: "must be the name of an environment variable; a key itself never stands in a settings file",
})
const folder = z.string().regex(/^(\/|~\/)/, { error: "must be an absolute folder, or one that begins with ~/" })
const address = z.string().refine(isAddress, { error: "must be an address that begins with http:// or https://" })
const header = z.string().regex(/^[^\u0000-\u001f\u007f]*$/, { error: "must be one line of text" })

const model = z.strictObject({
  window: count.exactOptional(),
  maxTokens: count.exactOptional(),
  images: z.boolean().exactOptional(),
})

const provider = z.strictObject({
  api: z.enum(["anthropic", "chat", "responses"]).exactOptional(),
  baseURL: address.exactOptional(),
  keyVariable: variable.exactOptional(),
  headers: z.record(text, header).exactOptional(),
  models: z.record(text, model).exactOptional(),
})

const price = z.strictObject({
  input: dollars,
  output: dollars,
  cacheRead: dollars.exactOptional(),
  cacheWrite: dollars.exactOptional(),
})

const runLimits = {
  turns: count.exactOptional(),
  tokens: count.exactOptional(),
  cost: dollars.exactOptional(),
  tools: count.exactOptional(),
  timeout: z.number().positive().exactOptional(),
  idle: z.number().positive().exactOptional(),
}

const agent = z.strictObject({
  ...runLimits,
  model: text.exactOptional(),
  context: z.enum(contexts).exactOptional(),
})

const rules = z.array(text).exactOptional()

const settings = z.strictObject({
  $schema: z.string().exactOptional(),
  model: text.exactOptional(),
  smallModel: text.exactOptional(),
  planModel: text.exactOptional(),
  permissionMode: z.enum(modes).exactOptional(),
  permissions: z
    .strictObject({
      allow: rules,
      ask: rules,
      deny: rules,
      defaultMode: z.enum(Object.keys(modeWords) as (keyof typeof modeWords)[]).exactOptional(),
    })
    .exactOptional(),
  hooks: z.unknown().exactOptional(),
  sandbox: z.enum(sandboxes).exactOptional(),
  network: z.boolean().exactOptional(),
  limits: z
    .strictObject({
      ...runLimits,
      parallel: count.exactOptional(),
      depth: z.int().min(0).exactOptional(),
    })
    .exactOptional(),
  children: z.strictObject(runLimits).exactOptional(),
  agents: z.record(text, agent).exactOptional(),
  fork: z.boolean().exactOptional(),
  background: z.strictObject({ after: z.number().positive().exactOptional() }).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  effort: z.enum(efforts).exactOptional(),
  providers: z.record(text, provider).exactOptional(),
  prices: z.record(z.string().regex(/^[^/]+\/./, { error: "must be written provider/model" }), price).exactOptional(),
  directories: z
    .strictObject({ readable: z.array(folder).exactOptional(), writable: z.array(folder).exactOptional() })
    .exactOptional(),
  environment: z.array(variable).exactOptional(),
  web: z
    .strictObject({ allowPrivate: z.boolean().exactOptional(), searchBaseURL: address.exactOptional() })
    .exactOptional(),
  aliases: z.record(z.string().regex(/^[^/]+$/, { error: "must be one word, without a slash" }), text).exactOptional(),
}) satisfies z.ZodType<Settings>

/** Words that people bring from elsewhere, and what to write here instead. */
const foreign: Record<string, string> = {
  maxTurns: "write limits.turns",
  apiKey: "name the variable that holds the key in keyVariable",
  key: "name the variable that holds the key in keyVariable",
  additionalDirectories: "write directories.writable",
  env: "commands see the variables named in environment",
}

export type Wrong = Pick<Problem, "message"> & { path: PropertyKey[] }

/** Everything that is wrong with one layer, or the layer. */
export function check(value: unknown): { ok: true; settings: Settings } | { ok: false; wrong: Wrong[] } {
  const result = settings.safeParse(value)
  if (result.success) return { ok: true, settings: result.data }
  return { ok: false, wrong: result.error.issues.flatMap((issue) => explain(issue, value)) }
}

function explain(issue: z.core.$ZodIssue, value: unknown): Wrong[] {
  const { path } = issue
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key, keysAt(path)) }))
    case "invalid_type":
      return [{ path, message: missing(value, path) ?? `must be ${kinds[issue.expected] ?? issue.expected}` }]
    case "invalid_value":
      return [{ path, message: `must be one of ${issue.values.join(", ")}` }]
    case "too_small":
      return [{ path, message: issue.origin === "string" ? "must not be empty" : `must be at least ${issue.minimum}` }]
    case "too_big":
      return [{ path, message: `must be at most ${issue.maximum}` }]
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.code === "too_small" ? "must not be empty" : issue.issues[0]!.message }]
    default:
      return [{ path, message: issue.message }]
  }
}

const kinds: Record<string, string> = {
  string: "text in double quotes",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list in [ ]",
  object: "an object in { }",
  record: "an object in { }",
}

function missing(value: unknown, path: readonly PropertyKey[]): string | undefined {
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown>)[key], value)
  const key = path.at(-1)
  return key !== undefined && !Object.hasOwn(holder as object, key) ? "is missing; write it too" : undefined
}

function unknownKey(key: string, known: readonly string[]): string {
  const instead = Object.hasOwn(foreign, key) ? foreign[key] : undefined
  if (instead) return `there is no such key; ${instead}`
  const meant = nearest(key, known)
  return `there is no such key; ${meant ? `did you mean ${meant}?` : `there are ${known.join(", ")}`}`
}

/** The keys that the object at the path may have. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let at: unknown = settings
  for (const key of path) {
    at = bare(at)
    at = at instanceof z.ZodObject ? at.shape[String(key)] : at instanceof z.ZodRecord ? at.valueType : undefined
  }
  at = bare(at)
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

const bare = (type: unknown): unknown => (type instanceof z.ZodExactOptional ? type.unwrap() : type)

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  return url?.protocol === "http:" || url?.protocol === "https:"
}
