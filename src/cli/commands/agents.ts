import { access, mkdir, writeFile } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import { narrow } from "../../agent/scope.ts"
import { agentOf, unmet } from "../../agents/agent.ts"
import { type Definition, type Diagnostic, slug } from "../../agents/definition.ts"
import { fromFolder, type Loaded, loadAgents } from "../../agents/load.ts"
import { lookup } from "../../agents/lookup.ts"
import { builtInAgents } from "../../agents/registry.ts"
import { load, userFolder } from "../../config.ts"
import type { Role } from "../../core/event.ts"
import { oneLine, printable } from "../../core/one-line.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { limitsOf } from "../../limits.ts"
import { ruleText } from "../../permit/rule.ts"
import { type Found, findSandbox } from "../../sandbox/sandbox.ts"
import { builtIn } from "../../tools/built-in.ts"
import { nowhere } from "../../tools/world.ts"
import { trustOf } from "../../trust.ts"
import { codes, UsageError } from "../exit.ts"
import type { Flags } from "../program.ts"

export type AgentFlags = { json?: true; dir?: string; user?: true }

/** All agents of this folder, or of one folder of files. */
async function find({ dir }: AgentFlags, { cwd, agents }: Flags): Promise<Loaded> {
  if (dir !== undefined) return fromFolder(await folderOf(dir))
  const folder = await folderOf(cwd)
  const { env } = process
  const home = env.HOME || homedir()
  const { state } = await trustOf(folder, { folder: stateFolder(env), env, home })
  const trusted = state === "nothing" || state === "trusted"
  const sources = { cwd: folder, env, home, builtIn: builtInAgents, trusted }
  const { reload: _, ...loaded } = await loadAgents({ ...sources, ...(agents !== undefined && { flag: agents }) })
  return loaded
}

export async function list(flags: AgentFlags, all: Flags): Promise<number> {
  const { agents, shadowed, diagnostics } = await find(flags, all)
  for (const each of diagnostics) if (each.file === "--agents") console.error(printable(`legwork: ${spot(each)}`))
  const hidden = new Map(shadowed.map(({ definition, by }) => [definition, by]))
  if (flags.json) {
    print(JSON.stringify([...agents, ...hidden.keys()].map((each) => row(each, hidden.get(each)))))
    return codes.done
  }
  const width = Math.max(8, ...agents.map(({ id }) => id.length))
  for (const agent of agents) {
    const state = agent.degraded ? " (degraded)" : agent.hidden ? " (hidden)" : ""
    print(`${agent.id.padEnd(width)}  ${agent.source.scope.padEnd(8)}  ${oneLine(agent.shortDescription, 90)}${state}`)
  }
  for (const { definition, by } of shadowed)
    print(`${definition.id.padEnd(width)}  shadowed by ${placeOf(by)}: ${placeOf(definition)}`)
  return codes.done
}

/** What programs get of an agent. */
function row(agent: Definition, by: Definition | undefined) {
  const { id, name, description, shortDescription, tools, disallowedTools, model, degraded, diagnostics, hidden } =
    agent
  const { path, scope, dialect } = agent.source
  return {
    id,
    name,
    description,
    shortDescription,
    tools,
    disallowedTools,
    resolvedTools: resolvedTools(agent),
    model,
    source: { path, scope, dialect },
    hidden,
    degraded,
    ...(by && { shadowedBy: by.source.path ?? by.source.scope }),
    diagnostics,
  }
}

/** The tools that it would have as a child of the main agent, by default settings. */
function resolvedTools(agent: Definition, depth = 1): string[] {
  const search = process.env.BRAVE_API_KEY ? { search: { key: "" } } : {}
  const tools = builtIn({ world: nowhere, environment: [], web: { allowPrivate: false, ...search } })
  const above = { depth: 0, tools, gate: () => ({ do: "allow" as const }), bounds: { depth, parallel: 1 } }
  return narrow(above, agentOf(agent).role).tools.map(({ name }) => name)
}

export async function show(name: string, flags: AgentFlags, all: Flags): Promise<number> {
  const { agents } = await find(flags, all)
  const found = lookup(agents, name)
  if (!found.agent) throw new UsageError(found.error)
  const { agent } = found
  const config = await load({ cwd: await folderOf(all.cwd), env: process.env, home: homedir() })
  const settings = config.agents[agent.id]
  const effective = agentOf(agent, { settings, network: config.network })
  const { role } = effective
  const sandbox = await findSandbox({ env: process.env })()
  const tools = resolvedTools(agent, config.limits.depth).filter(
    (tool) => tool !== "bash" || !role.readonly || sandbox.ok,
  )
  const limits = limitsOf(config)(effective.limits, {}, 1)
  if (flags.json) {
    print(
      JSON.stringify({
        ...row(agent, undefined),
        prompt: agent.prompt,
        resolvedTools: tools,
        limits,
        readonly: role.readonly === true,
        rules: role.rules ?? [],
        mode: role.mode ?? null,
        fence: role.readonly ? { level: "read-only", network: false } : (role.fence ?? null),
        unmet: unmet(agent),
        extra: agent.extra,
      }),
    )
    return codes.done
  }
  const from = (field: string) => {
    const line = agent.source.lines[field]
    return agent.source.path && line ? `   (${agent.source.path}:${line})` : ""
  }
  const model = [settings?.model ?? effective.model ?? "as its parent's"].flat().join(", then ")
  print(`${agent.name} (${agent.id}), ${placeOf(agent)}, written for ${agent.source.dialect}`)
  print(`description  ${oneLine(agent.description, 300)}${from("description")}`)
  print(`tools        ${tools.join(", ") || "none"}${from("tools")}`)
  print(`model        ${model}${from("model")}`)
  print(
    `limits       ${Object.entries(limits)
      .map(([key, value]) => `${key} ${value}`)
      .join(", ")}${from("maxTurns")}`,
  )
  print(`permission   ${role.readonly ? "read-only" : "what its session allows"}${from("permissionMode")}`)
  for (const rule of role.rules ?? []) print(`             ${rule.do} ${ruleText(rule)}`)
  if (role.mode) print(`             asks as in mode ${role.mode}`)
  print(`commands     ${commandsOf(role, tools, sandbox)}${from("sandbox")}`)
  if (agent.background) print(`works        in the background${from("background")}`)
  if (agent.hidden || agent.degraded)
    print(`offered      not to models: it is ${agent.degraded ? "degraded" : "hidden"}`)
  for (const wish of unmet(agent)) print(`no effect    ${wish}`)
  for (const each of agent.diagnostics) print(`${each.severity.padEnd(12)} ${spot(each)}`)
  print(`\n${agent.prompt}`)
  return codes.done
}

/** What keeps its commands to what they may do. */
function commandsOf({ readonly, fence, tools: asked, denied }: Role, tools: string[], sandbox: Found): string {
  if (tools.includes("bash")) {
    if (readonly) return "in a fence: they can write nothing and reach no network"
    return fence
      ? `in a fence: they can write only in the workspace${fence.network ? "" : ", without network"}`
      : "as its session runs them"
  }
  const wanted = (asked === "*" || asked.includes("bash")) && !denied.includes("bash")
  return wanted && !sandbox.ok ? `none: ${sandbox.why}; ${sandbox.fix}` : "none"
}

export async function doctor(flags: AgentFlags, all: Flags): Promise<number> {
  const { agents, shadowed, diagnostics } = await find(flags, all)
  if (flags.json) print(JSON.stringify(diagnostics))
  else {
    for (const each of diagnostics) print(`${each.severity.padEnd(8)}${spot(each)}`)
    for (const agent of agents)
      for (const wish of unmet(agent)) print(`info    ${placeOf(agent)}: no effect here: ${wish}`)
    const degraded = agents.filter((agent) => agent.degraded).length
    print(`${agents.length} agents, ${degraded} degraded, ${shadowed.length} shadowed, ${diagnostics.length} remarks`)
  }
  return diagnostics.some(({ severity }) => severity === "error") ? codes.failed : codes.done
}

export async function create(name: string, flags: AgentFlags, all: Flags): Promise<number> {
  const id = slug(name)
  if (!id) throw new UsageError(`${JSON.stringify(name)} has no letter or digit to make a name of`)
  const user = userFolder(process.env, homedir())
  const base = flags.user && user ? user : join(await folderOf(all.cwd), ".legwork")
  const folder = flags.dir ?? join(base, "agents")
  const path = join(folder, `${id}.md`)
  if (
    await access(path).then(
      () => true,
      () => false,
    )
  )
    throw new UsageError(`${path} is there already; edit it, or choose another name`)
  await mkdir(folder, { recursive: true })
  await writeFile(path, template(name))
  print(flags.json ? JSON.stringify({ id, path }) : `made ${path}; say there when to use it and what it must do`)
  return codes.done
}

const template = (name: string): string => `---
name: ${JSON.stringify(name)}
description: "Say in a sentence when to use this agent."
tools: read, grep, glob, ls
---
Say who this agent is, what it does and what its report must contain.
`

const placeOf = ({ source }: Definition): string => source.path ?? source.scope
const spot = ({ file, line, message }: Diagnostic): string => `${file}:${line}: ${message}`
const print = (line: string): void => void process.stdout.write(`${printable(line)}\n`)
