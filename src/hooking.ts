import { namesElsewhere } from "./agents/names.ts"
import type { Registry } from "./agents/registry.ts"
import type { Config } from "./config.ts"
import type { Hooks } from "./core/hook.ts"
import type { Hook } from "./hooks/settings.ts"
import { programs } from "./programs.ts"
import { environment } from "./tools/environment.ts"

type Place = {
  config: Config
  agents: Pick<Registry, "hooksOf">
  session: string
  /** The session's file. */
  transcript: string
  cwd: string
  env: NodeJS.ProcessEnv
  warn(text: string): void
}

/** The commands that people want run: those of their settings, and while an agent runs those of its own file. */
export type Hooking = (agent: string) => Promise<Hooks | undefined>

export function hooking({ config, agents, session, transcript, cwd, env, warn }: Place): Hooking {
  const told = new Set<string>()
  const noted = programs(cwd)
  const read = async (value: unknown, file: string): Promise<Hook[]> => {
    const { readHooks } = await import("./hooks/settings.ts")
    const { hooks, problems } = readHooks(value, file)
    for (const { message } of problems) if (!told.has(`${file}: ${message}`)) warn(`${file}: ${message}`)
    for (const { message } of problems) told.add(`${file}: ${message}`)
    return hooks
  }
  const make = async (value: unknown, file: string): Promise<Hooks> => {
    const settings = await Promise.all(config.hooks.map(({ value, file }) => read(value, file)))
    const own = value === undefined ? [] : await read(value, file)
    const { hooks } = await import("./hooks/run.ts")
    const { asInClaude } = await import("./hooks/claude.ts")
    const list = [...settings.flat(), ...own.map(asChild)]
    await noted.note(list.map(({ command }) => command))
    const world = { session, transcript, cwd, mode: config.permissionMode, env: environment(env, config.environment) }
    const { has, fire } = hooks(list, { ...world, changed: noted.changed })
    return {
      has,
      fire: (moment, signal) => {
        const tool = moment.tool && { ...moment.tool, aliases: [...namesElsewhere(moment.tool.name)] }
        return fire(tool ? { ...moment, tool: asInClaude(tool, cwd) } : moment, signal)
      },
    }
  }
  const made = new Map<unknown, Promise<Hooks>>()
  return async (agent) => {
    const found = agents.hooksOf(agent)
    const own = found && !(config.claudeHooks === "off" && isClaudes(found.file)) ? found : undefined
    if (!own && config.hooks.length === 0) return undefined
    const ready = made.get(own?.value) ?? make(own?.value, own?.file ?? "")
    made.set(own?.value, ready)
    return ready
  }
}

const isClaudes = (file: string): boolean => file.split("/").includes(".claude")

/** In an agent's own file, the end that is meant is the end of that agent. */
const asChild = (hook: Hook): Hook => (hook.event === "Stop" ? { ...hook, event: "SubagentStop" } : hook)
