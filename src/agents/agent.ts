import type { Agent } from "../agent/scope.ts"
import { inMilliseconds } from "../config/seconds.ts"
import type { Config } from "../config.ts"
import type { Limits } from "../core/event.ts"
import type { Definition } from "./definition.ts"

/** A definition as the engine needs it, with the limits that settings give it. What it asks for beyond its ceiling has no effect. */
export function agentOf(definition: Definition, settings: Config["agents"][string] = {}): Agent {
  const { id, shortDescription, prompt, offered, hidden, degraded, mode } = definition
  return {
    name: id,
    description: shortDescription,
    prompt,
    role: {
      tools: offered.allow,
      denied: [...new Set([...offered.deny, ...guarded(definition), ...(isReadonly(definition) ? writing : [])])],
      ...(isReadonly(definition) && { readonly: true }),
      ...(offered.mayStart && { mayStart: offered.mayStart }),
    },
    limits: { ...limitsIn(definition), ...inMilliseconds(settings), ...(settings.turns && { turns: settings.turns }) },
    ...(definition.model !== null && { model: definition.model }),
    ...tuningIn(definition),
    ...contextOf(definition, settings),
    ...((hidden || degraded || mode === "primary") && { hidden: true }),
  }
}

function contextOf({ context }: Definition, settings: Config["agents"][string]): Pick<Agent, "context"> {
  const chosen = settings.context ?? context
  return chosen ? { context: chosen } : {}
}

/** Without a fence around it a shell can write; so whoever may only read has none. */
const writing = ["bash", "write", "edit"]

/** Tools with rules for single calls, which nothing here can keep to yet, are closed rather than open. */
const guarded = ({ permission }: Definition): string[] =>
  (permission.rules ?? []).flatMap(({ tool, pattern, do: verdict }) =>
    verdict !== "allow" && pattern !== "*" && tool !== "*" ? [tool] : [],
  )

/** What a definition asks for and does not get here, in words. */
export function unmet(definition: Definition): string[] {
  const { context, model, background, isolation, permission } = definition
  const mode = permission.mode
  return [
    ...(context === "fork" && model !== null ? ["model: a fork goes on with its parent's"] : []),
    ...(background ? ["background: its parent waits for it"] : []),
    ...(isolation ? [`isolation ${isolation}: it works in the same folder`] : []),
    ...(mode === "bypass" || mode === "acceptEdits"
      ? [`permission mode ${mode}: only a session can loosen permission`]
      : []),
    ...guarded(definition).map((tool) => `rules for single calls of ${tool}: it is withheld instead`),
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
