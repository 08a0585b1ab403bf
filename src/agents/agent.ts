import type { Agent } from "../agent/scope.ts"
import { inMilliseconds } from "../config/seconds.ts"
import type { Config } from "../config.ts"
import type { Limits } from "../core/event.ts"
import type { Definition } from "./definition.ts"

/** What settings say of the agent, and whether fenced commands may use the network. */
type Surroundings = { settings?: Config["agents"][string] | undefined; network?: boolean }

/** A definition as the engine needs it, with the limits that settings give it. What it asks for beyond its ceiling has no effect. */
export function agentOf(definition: Definition, { settings = {}, network = false }: Surroundings = {}): Agent {
  const { id, shortDescription, prompt, offered, hidden, degraded, mode, permission, sandbox } = definition
  return {
    name: id,
    description: shortDescription,
    prompt,
    role: {
      tools: offered.allow === "*" ? "*" : withTheirs(offered.allow),
      denied: [...new Set([...offered.deny, ...(isReadonly(definition) ? writing : [])])],
      ...(isReadonly(definition) && { readonly: true }),
      ...(permission.rules?.length && { rules: permission.rules }),
      ...((permission.mode === "default" || permission.mode === "acceptEdits") && { mode: permission.mode }),
      ...(sandbox === "workspace-write" && { fence: { level: sandbox, network } }),
      ...(offered.mayStart && { mayStart: offered.mayStart }),
    },
    limits: { ...limitsIn(definition), ...inMilliseconds(settings), ...(settings.turns && { turns: settings.turns }) },
    ...(definition.model !== null && { model: definition.model }),
    ...tuningIn(definition),
    ...contextOf(definition, settings),
    ...(definition.background && { background: true }),
    ...((hidden || degraded || mode === "primary") && { hidden: true }),
  }
}

function contextOf({ context }: Definition, settings: Config["agents"][string]): Pick<Agent, "context"> {
  const chosen = settings.context ?? context
  return chosen ? { context: chosen } : {}
}

/** Who may start others may also see, stop and steer them. */
const withTheirs = (tools: string[]): string[] =>
  tools.includes("task") ? [...new Set([...tools, "task_status", "task_stop", "task_message"])] : tools

/** A shell is no such tool: the operating system keeps it from writing. */
const writing = ["write", "edit"]

/** What a definition asks for and does not get here, in words. */
export function unmet(definition: Definition): string[] {
  const { context, model, isolation, permission } = definition
  const mode = permission.mode
  return [
    ...(context === "fork" && model !== null ? ["model: a fork goes on with its parent's"] : []),
    ...(isolation ? [`isolation ${isolation}: it works in the same folder`] : []),
    ...(mode === "bypass" ? ["permission mode bypass: only a session can loosen permission"] : []),
  ]
}

/** Plan mode is read-only by another name. Modes that would widen are no business of a definition. */
const isReadonly = ({ readonly, sandbox, permission }: Definition): boolean =>
  readonly || sandbox === "read-only" || permission.mode === "plan"

const limitsIn = ({ maxTurns, timeoutMs, budget }: Definition): Partial<Limits> => ({
  ...(maxTurns !== undefined && { turns: maxTurns }),
  ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
  ...(budget?.cost !== undefined && { cost: budget.cost }),
})

function tuningIn({ temperature, topP, effort }: Definition): Pick<Agent, "tuning"> {
  const tuning = {
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(effort && { effort }),
  }
  return Object.keys(tuning).length > 0 ? { tuning } : {}
}
