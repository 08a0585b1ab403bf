import { isAbsolute, join } from "node:path"
import { type Reading, readRegular } from "./config/file.ts"
import { locate } from "./config/json.ts"
import { foldersDown } from "./config/repository.ts"
import { type Config, ConfigError, type Problem, type Settings } from "./config/settings.ts"
import { tighten, withhold } from "./config/tighten.ts"
import { type Flags, fromEnvironment, fromFlags } from "./config/words.ts"
import { aliases } from "./model/names.ts"

export { type Config, ConfigError, type Diagnostic, type Mode } from "./config/settings.ts"
export type { Flags } from "./config/words.ts"

const sizeLimit = 1024 * 1024

type Layer = { file: string; text: string; trusted: boolean }

/** Built-in, the user's file, the project's, the local one, environment, command line: later wins. */
export async function load(options: {
  cwd: string
  env: NodeJS.ProcessEnv
  home?: string
  flags?: Flags
}): Promise<Config> {
  const { layers, problems } = await readLayers(options)
  let config = builtIn()
  // Nothing but a settings file needs a schema.
  const schema = layers.length ? await import("./config/schema.ts") : undefined
  for (const layer of layers) {
    const said = parse(layer, schema!.check)
    if (said.ok) config = add(config, layer, said)
    else problems.push(...said.problems)
  }
  for (const said of [fromEnvironment(options.env), fromFlags(options.flags ?? {})]) {
    config = merge(config, said.settings)
    problems.push(...said.problems)
  }
  if (problems.length) throw new ConfigError(problems)
  return withHome(config, options.home)
}

const builtIn = (): Config => ({
  permissionMode: "default",
  limits: { turns: 200, parallel: 8, depth: 1 },
  children: { turns: 30, idle: 900 },
  agents: {},
  fork: false,
  providers: {},
  prices: {},
  directories: { readable: [], writable: [] },
  environment: [],
  web: { allowPrivate: false },
  aliases: { ...aliases },
  files: [],
  diagnostics: [],
})

/** Where the user's own settings are; undefined where there is no home. */
export function userFolder(env: NodeJS.ProcessEnv, home: string | undefined): string | undefined {
  const base = env.XDG_CONFIG_HOME
  if (base && isAbsolute(base)) return join(base, "legwork")
  return home ? join(home, ".config", "legwork") : undefined
}

async function readLayers(options: {
  cwd: string
  env: NodeJS.ProcessEnv
  home?: string
}): Promise<{ layers: Layer[]; problems: Problem[] }> {
  const layers: Layer[] = []
  const problems: Problem[] = []
  const take = (file: string, trusted: boolean, reading: Reading): boolean => {
    if (reading.got === "nothing") return false
    if (reading.got === "refused") problems.push({ where: file, message: `${reading.why}; make it a regular file` })
    else if (reading.size > sizeLimit) problems.push({ where: file, message: "is larger than 1 MB; make it smaller" })
    else layers.push({ file, trusted, text: new TextDecoder().decode(reading.bytes) })
    return true
  }
  const user = userFolder(options.env, options.home)
  if (user) {
    const file = join(user, "settings.json")
    take(file, true, await readRegular(file, { limit: sizeLimit }))
  }
  const folders = await foldersDown(options.cwd)
  for (const name of ["settings.json", "settings.local.json"]) {
    for (const folder of folders.toReversed()) {
      const file = join(folder, ".legwork", name)
      if (take(file, false, await readRegular(file, { limit: sizeLimit, within: folders[0] }))) break
    }
  }
  return { layers, problems }
}

type Said = { ok: true; settings: Settings; diagnostics: Config["diagnostics"] } | { ok: false; problems: Problem[] }
type Check = typeof import("./config/schema.ts")["check"]

function parse({ file, text, trusted }: Layer, check: Check): Said {
  let raw: unknown
  try {
    raw = JSON.parse(text)
  } catch {
    const { line, what } = locate(text).broken ?? { line: 1, what: "it is not JSON" }
    return { ok: false, problems: [{ where: file, line, message: `not JSON here: ${what}` }] }
  }
  const { kept, diagnostics } = trusted ? { kept: raw, diagnostics: [] } : withhold(raw, file)
  const result = check(kept)
  if (result.ok) return { ok: true, settings: result.settings, diagnostics }
  const lines = locate(text)
  return {
    ok: false,
    problems: result.wrong.map(({ path, message }) => {
      const line = lines.of(path) ?? lines.of(path.slice(0, -1))
      return { where: file, ...(line && { line }), ...(path.length && { key: dotted(path) }), message }
    }),
  }
}

function add(config: Config, { file, trusted }: Layer, said: Extract<Said, { ok: true }>): Config {
  const { kept, diagnostics } = trusted
    ? { kept: said.settings, diagnostics: [] }
    : tighten(said.settings, config, file)
  return {
    ...merge(config, kept),
    files: [...config.files, file],
    diagnostics: [...config.diagnostics, ...said.diagnostics, ...diagnostics],
  }
}

const dotted = (path: readonly PropertyKey[]): string =>
  path.map((key) => (/^[\w$-]+$/.test(String(key)) ? String(key) : JSON.stringify(key))).join(".")

function merge(below: Config, { $schema: _, ...above }: Settings): Config {
  return mergeObjects(below, above) as Config
}

/** Objects merge by key, at every level; anything else is replaced whole. */
function mergeObjects(below: object, above: object): object {
  const merged: Record<string, unknown> = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const old = Object.hasOwn(merged, key) ? merged[key] : undefined
    merged[key] = isObject(old) && isObject(value) ? mergeObjects(old, value) : value
  }
  return merged
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function withHome(config: Config, home: string | undefined): Config {
  const expand = (folders: string[]) =>
    folders.flatMap((folder) => (folder.startsWith("~/") ? (home ? [join(home, folder.slice(2))] : []) : [folder]))
  const { readable, writable } = config.directories
  return { ...config, directories: { readable: expand(readable), writable: expand(writable) } }
}
