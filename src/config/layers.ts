import { realpath } from "node:fs/promises"
import { basename, dirname, isAbsolute, join } from "node:path"
import { type Reading, readRegular } from "./file.ts"
import { foldersDown } from "./repository.ts"
import type { Diagnostic, Settings } from "./settings.ts"
import type { Trimmed } from "./tighten.ts"

/** A settings file that is there: whose it is, in whose form it is written, and its text or why that cannot be had. */
export type Layer = {
  file: string
  from: "user" | "project"
  form: "legwork" | "claude"
  content: { got: "text"; text: string } | { got: "refused"; why: string }
}

/** What a layer says. `lost`: it may deny something that could not be made out. `silent`: Claude's hooks are not to run. */
export type Said = { settings: Settings; diagnostics: Diagnostic[]; lost: boolean; silent?: true }

/** Takes out of a file what it may not say. */
export type Trim = (raw: unknown) => Trimmed<unknown>

/** The names of settings files in a project; later ones win. */
export const projectFiles = [
  { form: "claude", path: ".claude/settings.json" },
  { form: "claude", path: ".claude/settings.local.json" },
  { form: "legwork", path: ".legwork/settings.json" },
  { form: "legwork", path: ".legwork/settings.local.json" },
] as const

const sizeLimit = 1024 * 1024

/** Where the user's own settings are; undefined where there is no home. */
export function userFolder(env: NodeJS.ProcessEnv, home: string | undefined): string | undefined {
  const base = env.XDG_CONFIG_HOME
  if (base && isAbsolute(base)) return join(base, "legwork")
  return home ? join(home, ".config", "legwork") : undefined
}

/** Where Claude's settings of the user are. */
export function claudeFolder(env: NodeJS.ProcessEnv, home: string | undefined): string | undefined {
  const base = env.CLAUDE_CONFIG_DIR
  if (base && isAbsolute(base)) return base
  return home ? join(home, ".claude") : undefined
}

type Place = Pick<Layer, "from" | "form">

/** The settings files that there are, lowest layer first. */
export async function readLayers(options: { cwd: string; env: NodeJS.ProcessEnv; home?: string }): Promise<Layer[]> {
  const { cwd, env, home } = options
  const folders = foldersDown(cwd)
  const user = await Promise.all([
    readUser(claudeFolder(env, home), "claude"),
    readUser(userFolder(env, home), "legwork"),
  ])
  const project = await Promise.all(projectFiles.map(({ form, path }) => nearest(folders, path, form)))
  const own = user.filter((layer) => layer !== undefined)
  const spots = await Promise.all(own.map(spotOf))
  const others: Layer[] = []
  for (const layer of project) {
    // Who works in the home folder has no project there.
    if (layer && !spots.includes(await spotOf(layer))) others.push(layer)
  }
  return [...own, ...others]
}

async function readUser(folder: string | undefined, form: Layer["form"]): Promise<Layer | undefined> {
  if (!folder) return undefined
  const file = join(folder, "settings.json")
  return layerOf(file, { from: "user", form }, await readRegular(file, { limit: sizeLimit }))
}

async function nearest(folders: [string, ...string[]], path: string, form: Layer["form"]): Promise<Layer | undefined> {
  for (const folder of folders.toReversed()) {
    const file = join(folder, path)
    const reading = await readRegular(file, { limit: sizeLimit, within: folders[0] })
    const layer = layerOf(file, { from: "project", form }, reading)
    if (layer) return layer
  }
  return undefined
}

/** Where a file stands, whatever it leads to. */
async function spotOf({ file }: Layer): Promise<string> {
  return join(await realpath(dirname(file)).catch(() => dirname(file)), basename(file))
}

function layerOf(file: string, place: Place, reading: Reading): Layer | undefined {
  if (reading.got === "nothing") return undefined
  const refused = (why: string): Layer => ({ file, ...place, content: { got: "refused", why } })
  if (reading.got === "refused") return refused(`${reading.why}; make it a regular file`)
  if (reading.size > sizeLimit) return refused("is larger than 1 MB; make it smaller")
  return { file, ...place, content: { got: "text", text: new TextDecoder().decode(reading.bytes) } }
}
