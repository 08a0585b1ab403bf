import { join } from "node:path"
import { readClaude } from "./config/claude.ts"
import { isFilled, isObject } from "./config/json.ts"
import { type Layer, readLayers, type Said, type Trim } from "./config/layers.ts"
import { readOwn } from "./config/own.ts"
import { joined, rulesIn } from "./config/permissions.ts"
import { type Config, ConfigError, type Problem, type Settings } from "./config/settings.ts"
import { modeIn, tighten, withhold } from "./config/tighten.ts"
import { type Flags, fromEnvironment, fromFlags } from "./config/words.ts"
import { aliases } from "./model/names.ts"

export { userFolder } from "./config/layers.ts"
export type { Stated } from "./config/permissions.ts"
export { type Config, ConfigError, type Diagnostic, type Mode } from "./config/settings.ts"
export type { Flags } from "./config/words.ts"

/**
 * Built-in, the user's files, the project's, the local ones, environment, command line: later wins. Below each file of
 * ours is Claude's.
 */
export async function load(options: {
  cwd: string
  env: NodeJS.ProcessEnv
  home?: string
  flags?: Flags
  /** Whether the user trusts what came with the project. */
  trusted?: boolean
}): Promise<Config> {
  const { env, home, flags = {}, trusted = false } = options
  const problems: Problem[] = []
  let config = builtIn()
  const layers = await readLayers(options)
  const silent: Layer[] = []
  for (const layer of layers) {
    const { from, form, file } = layer
    const trim: Trim = (raw) => (from === "user" ? { kept: raw, diagnostics: [] } : withhold(raw, { file, trusted }))
    const said = form === "claude" ? readClaude(layer, trim) : await readOwn(layer, trim)
    if ("problems" in said) problems.push(...said.problems)
    else config = add(config, layer, said)
    if ("silent" in said) silent.push(layer)
  }
  config = silenced(config, layers, silent)
  for (const said of [fromEnvironment(env), fromFlags(flags)]) {
    config = merge(config, said.settings)
    problems.push(...said.problems)
  }
  if (problems.length) throw new ConfigError(problems)
  return withHome(config, home)
}

const builtIn = (): Config => ({
  permissionMode: "default",
  permissions: [],
  hooks: [],
  sandbox: "off",
  network: false,
  limits: { turns: 200, parallel: 8, depth: 1 },
  children: { turns: 30, idle: 900 },
  agents: {},
  fork: false,
  background: {},
  providers: {},
  prices: {},
  directories: { readable: [], writable: [] },
  environment: [],
  web: { allowPrivate: false },
  aliases: { ...aliases },
  files: [],
  unreadable: [],
  diagnostics: [],
})

function add(config: Config, { file, from }: Layer, { settings, diagnostics, lost }: Said): Config {
  const tight = from === "user" ? { kept: settings, diagnostics: [] } : tighten(settings, config, file)
  const { permissions, hooks, ...others } = tight.kept
  const permissionMode = modeIn(tight.kept)
  return {
    ...merge(config, { ...others, ...(permissionMode && { permissionMode }) }),
    permissions: joined(config.permissions, rulesIn(permissions, file)),
    hooks: isFilled(hooks) ? [...config.hooks, { value: hooks, file }] : config.hooks,
    files: lost ? config.files : [...config.files, file],
    unreadable: lost ? [...config.unreadable, file] : config.unreadable,
    diagnostics: [...config.diagnostics, ...diagnostics, ...tight.diagnostics],
  }
}

/** Claude's switch turns off the hooks of its files: the user's all of them, a project's only those it brought itself. */
function silenced(config: Config, layers: readonly Layer[], by: readonly Layer[]): Config {
  if (by.length === 0) return config
  const whole = by.some(({ from }) => from === "user")
  const off = layers.filter(({ from, form }) => form === "claude" && (whole || from === "project"))
  const hooks = config.hooks.filter(({ file }) => !off.some((layer) => layer.file === file))
  return { ...config, hooks, ...(whole && { claudeHooks: "off" }) }
}

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

function withHome(config: Config, home: string | undefined): Config {
  const expand = (folders: string[]) =>
    folders.flatMap((folder) => (folder.startsWith("~/") ? (home ? [join(home, folder.slice(2))] : []) : [folder]))
  const { readable, writable } = config.directories
  return { ...config, directories: { readable: expand(readable), writable: expand(writable) } }
}
