import { homedir } from "node:os"
import type { Agent } from "../agent/scope.ts"
import type { Config } from "../config.ts"
import type { Role } from "../core/event.ts"
import { agentOf } from "./agent.ts"
import builtIn from "./built-in.json" with { type: "json" }
import type { Definition, Diagnostic } from "./definition.ts"
import { type Loaded, loadAgents } from "./load.ts"
import { lookup } from "./lookup.ts"
import { defineAgent } from "./parse.ts"

/** An agent as a program gives it; the fields are those of agent files. */
type Own = {
  description: string
  prompt: string
  tools?: string[] | string
  disallowedTools?: string[] | string
  model?: string | string[]
  maxTurns?: number
  readonly?: boolean
  hidden?: boolean
  [field: string]: unknown
}

/** Agents by name: definitions, or functions of the models in the settings that return one. */
export type Given = Record<string, Own | ((settings: Pick<Config, "model" | "smallModel" | "planModel">) => Own)>

/** An agent as people see it. `source`: its file, or where else it comes from. `tools`: `*` for all. */
export type AgentRow = {
  name: string
  description: string
  source: string
  model?: string
  tools: string[]
  color?: string
  hidden?: true
}

type Overview = { agents: AgentRow[]; diagnostics: Diagnostic[] }

export type Registry = {
  /** The agent of this name, `general` without one. Throws words that say which there are. */
  find(name: string | undefined): Promise<Agent>
  /** Takes in what has changed on disk. */
  look(): Promise<void>
  /** The agents that a text names as `@name`. */
  mentioned(text: string): string[]
  /** Those that models may start, a line each. */
  listed(): string
  /** Every agent as people see it, and what is wrong with the files of agents. */
  overview(): Overview
  /** The hooks in an agent's own file, as they stand there. */
  hooksOf(name: string): { value: unknown; file: string } | undefined
  register(given: Given): void
}

const mayUse = ({ tools, denied }: Role, tool: string): boolean =>
  (tools === "*" || tools.includes(tool)) && !denied.includes(tool)

export type Sources = {
  cwd: string
  env: NodeJS.ProcessEnv
  config: Config
  given: Given | undefined
  json: string | undefined
  warn(text: string): void
  /** Whether the user trusts what came with the project. */
  trusted: boolean
  /** Whether commands of this agent can be kept from writing. */
  canFence(agent: string): Promise<boolean>
}

export const builtInAgents = builtIn as unknown as Definition[]

/** All agents of a session. Files that change count from the next task on. */
export async function registry({
  cwd,
  env,
  config,
  given = {},
  json,
  warn,
  trusted,
  canFence,
}: Sources): Promise<Registry> {
  const library: Definition[] = definitionsOf(given, config)
  const home = env.HOME || homedir()
  const flag = json === undefined ? {} : { flag: json }
  const { reload, ...first } = await loadAgents({ cwd, env, home, builtIn: builtInAgents, library, trusted, ...flag })
  let loaded: Loaded = first
  let looking: Promise<void> | undefined
  let list: { of: Loaded; text: string } | undefined
  let seen: { of: Loaded; overview: Overview } | undefined
  tell([...first.diagnostics, ...library.flatMap(({ diagnostics }) => diagnostics)], warn)

  /** Calls that come together look once. */
  const look = (): Promise<void> => {
    looking ??= reload()
      .then((now) => {
        loaded = now
      })
      .finally(() => {
        looking = undefined
      })
    return looking
  }
  const ready = (definition: Definition): Agent => {
    const agent = agentOf(definition, { settings: config.agents[definition.id], network: config.network })
    const { mayStart } = agent.role
    if (mayStart) agent.role.mayStart = mayStart.map((name) => lookup(loaded.agents, name).agent?.id ?? name)
    return agent
  }
  /** Without a fence around it a shell can write; so whoever may only read has none then. */
  const fenced = async (agent: Agent): Promise<Agent> => {
    const { role } = agent
    if (!role.readonly || !mayUse(role, "bash") || (await canFence(agent.name))) return agent
    return { ...agent, role: { ...role, denied: [...role.denied, "bash"] } }
  }
  return {
    look,
    async find(name = "general") {
      await look()
      const found = lookup(loaded.agents, name)
      if (!found.agent) throw new Error(found.error)
      return fenced(ready(found.agent))
    },
    mentioned(text) {
      if (!text.includes("@")) return []
      const words = [...text.matchAll(/(?:^|\s)@([\p{L}\p{N}][\p{L}\p{M}\p{N}._:-]*)/gu)].map((match) => match[1]!)
      const found = words.flatMap((word) => lookup(loaded.agents, word.replace(/[.:]+$/, "")).agent?.id ?? [])
      return [...new Set(found)]
    },
    listed() {
      if (list?.of !== loaded)
        list = { of: loaded, text: lines(loaded.agents.map(ready).filter(({ hidden }) => !hidden)) }
      return list.text
    },
    overview() {
      if (seen?.of !== loaded) {
        const agents = loaded.agents.map((definition) => rowOf(definition, ready(definition)))
        const diagnostics = [...loaded.diagnostics, ...loaded.agents.flatMap((each) => each.diagnostics)]
        seen = { of: loaded, overview: { agents, diagnostics } }
      }
      return seen.overview
    },
    hooksOf(name) {
      const found = loaded.agents.find(({ id }) => id === name)
      // What a project's file says by now may be an agent's own work.
      if (found?.source.scope === "project" && !first.agents.includes(found)) return undefined
      return found?.hooks === undefined ? undefined : { value: found.hooks, file: found.source.path ?? name }
    },
    register(more) {
      library.push(...definitionsOf(more, config))
      looking = undefined // one under way does not know of these
    },
  }
}

function rowOf({ source, color }: Definition, { name, description, role, model, hidden }: Agent): AgentRow {
  const { tools, denied } = role
  return {
    name,
    description,
    source: source.path ?? source.scope,
    ...(model !== undefined && { model: [model].flat().join(", then ") }),
    tools: tools === "*" ? ["*"] : tools.filter((tool) => !denied.includes(tool)),
    ...(color && { color }),
    ...(hidden && { hidden }),
  }
}

/** Every request pays for this list, so the more agents there are, the less is said of each. */
const room = 3_800
const least = 80

function lines(agents: readonly Agent[]): string {
  const own = builtInAgents.map(({ id }) => id)
  const others = agents.filter(({ name }) => !own.includes(name)).length
  const most = Math.max(least, Math.floor(room / Math.max(1, others)) - 1)
  return agents
    .map(({ name, description }) => ({ name, line: `- ${name}: ${description}` }))
    .map(({ name, line }) => (own.includes(name) ? line : cut(line, most)))
    .join("\n")
}

/** By bytes, as requests are weighed, and between letters. */
function cut(line: string, most: number): string {
  if (Buffer.byteLength(line) <= most) return line
  let kept = ""
  let bytes = 3
  for (const letter of line) {
    bytes += Buffer.byteLength(letter)
    if (bytes > most) break
    kept += letter
  }
  return `${kept.trimEnd()}…`
}

function definitionsOf(given: Given, { model, smallModel, planModel }: Config): Definition[] {
  const settings = { ...(model && { model }), ...(smallModel && { smallModel }), ...(planModel && { planModel }) }
  return Object.entries(given).map(([name, own]) => {
    const fields = typeof own === "function" ? own(settings) : own
    if (typeof fields?.prompt !== "string")
      throw new Error(`the agent ${JSON.stringify(name)} has no prompt; give it one`)
    return defineAgent({ ...fields, name }, { path: null, scope: "library" })
  })
}

/** Told once, in one line: `legwork agents doctor` has the rest. */
function tell(diagnostics: Loaded["diagnostics"], warn: (text: string) => void): void {
  const serious = diagnostics.filter(({ severity }) => severity !== "info")
  if (serious.length === 0) return
  const [{ file, line, message }] = serious as [(typeof serious)[number]]
  const more = serious.length > 1 ? ` (and ${serious.length - 1} more)` : ""
  warn(`${file}:${line}: ${message}${more}; see: legwork agents doctor`)
}
