import { type Mode, modes, type Problem, type Settings } from "./settings.ts"

/** What the command line may say about settings. */
export type Flags = {
  model?: string
  smallModel?: string
  planModel?: string
  permissionMode?: string
  maxTurns?: string | number
}

const variables = {
  model: "LEGWORK_MODEL",
  smallModel: "LEGWORK_SMALL_MODEL",
  planModel: "LEGWORK_PLAN_MODEL",
  permissionMode: "LEGWORK_PERMISSION_MODE",
  maxTurns: "LEGWORK_MAX_TURNS",
}

const options = {
  model: "--model",
  smallModel: "--small-model",
  planModel: "--plan-model",
  permissionMode: "--permission-mode",
  maxTurns: "--max-turns",
}

type Said = { settings: Settings; problems: Problem[] }

/** An empty variable counts as none, as everywhere on the command line. */
export function fromEnvironment(env: NodeJS.ProcessEnv): Said {
  const said = Object.entries(variables).flatMap(([key, name]) => (env[name] ? [[key, env[name]]] : []))
  return read(Object.fromEntries(said), variables)
}

export const fromFlags = (flags: Flags): Said => read(flags, options)

/** By hand and not by schema: a start without settings files must not wait for zod. */
function read(flags: Flags, names: typeof variables): Said {
  const settings: Settings = {}
  const problems: Problem[] = []
  for (const key of ["model", "smallModel", "planModel"] as const) {
    const name = flags[key]?.trim()
    if (name) settings[key] = name
    else if (name === "") problems.push({ where: names[key], message: "names no model; write one such as sonnet" })
  }
  if (flags.permissionMode !== undefined) {
    if (isMode(flags.permissionMode)) settings.permissionMode = flags.permissionMode
    else problems.push({ where: names.permissionMode, message: `must be one of ${modes.join(", ")}` })
  }
  if (flags.maxTurns !== undefined) {
    const turns = /^\d+$/.test(`${flags.maxTurns}`) ? Number(flags.maxTurns) : 0
    if (Number.isSafeInteger(turns) && turns > 0) settings.limits = { turns }
    else problems.push({ where: names.maxTurns, message: "must be a whole number, at least 1" })
  }
  return { settings, problems }
}

const isMode = (word: string): word is Mode => (modes as readonly string[]).includes(word)
