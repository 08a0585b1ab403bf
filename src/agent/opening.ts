import type { Fact, Limits } from "../core/event.ts"
import type { RunView } from "../core/view.ts"
import { type Agent, type Ceiling, narrow, type Offer, type Task } from "./scope.ts"

/** What is decided about a run before it opens. */
export type Opening = Pick<
  Extract<Fact, { type: "run.opened" }>,
  | "depth"
  | "limits"
  | "model"
  | "label"
  | "origin"
  | "history"
  | "tuning"
  | "behind"
  | "priority"
  | "announce"
  | "shares"
>

type Agents = {
  agent(name: string | undefined): Promise<Agent>
  /** Whether work that names no agent goes to a fork. */
  fork?: boolean
}

/** What a fork that has no agent of its own is called. */
export const forkName = "fork"

/** Work for nobody in particular may go to a fork of whoever asks, unless that is one itself. */
export async function agentFor(parent: RunView, { agent, context }: Task, agents: Agents): Promise<Agent> {
  const wanted = context ?? (agents.fork && parent.history !== "fork" ? "fork" : "fresh")
  if (agent !== undefined || wanted !== "fork") return agents.agent(agent)
  return { name: forkName, description: "", prompt: "", role: parent.role, limits: {}, context: "fork" }
}

type Birth = { parent: RunView; ceiling: Ceiling; call: string; task: Task; agent: Agent }
type Choices = {
  modelFor(agent: Agent, asked: string | undefined, parent: string): string
  limits(agent: Partial<Limits>, task: Partial<Limits>, depth: number): Limits
  /** The same within what is left to those above. */
  within(limits: Limits, behind: boolean): Limits
}

/** How a child starts. Throws words for the model if it may not, or cannot. */
export function childOf(birth: Birth, choices: Choices): Opening {
  const { parent, ceiling, call, task, agent } = birth
  const depth = ceiling.depth + 1
  if (depth > ceiling.bounds.depth) throw new Error("an agent at this depth may not start others: do the work yourself")
  const { mayStart } = parent.role
  const forked = task.agent === undefined && agent.name === forkName
  if (mayStart && !forked && !mayStart.includes(agent.name))
    throw new Error(`this agent may start only ${mayStart.join(", ")}, not ${agent.name}`)
  const { role } = agent
  const { tools } = narrow(ceiling, role)
  if (role.tools.length > 0 && tools.length === 0) {
    const asked = role.tools === "*" ? "all" : role.tools.join(", ")
    throw new Error(`agent ${agent.name} has no tools left here; it asks for ${asked}`)
  }
  const behind = task.background ?? agent.background ?? false
  const { priority, announce, share } = task
  return {
    depth,
    limits: choices.within(choices.limits({ ...task.defaults, ...agent.limits }, task.limits ?? {}, depth), behind),
    ...(behind && { behind }),
    ...(priority && priority !== "normal" && { priority }),
    ...(behind && announce && { announce }),
    ...(share && { shares: true }),
    label: task.label?.trim() || task.prompt.trim().slice(0, 30),
    origin: { run: parent.id, call },
    ...knowing(birth, tools, choices),
  }
}

/** What a child starts from: a model and settings of its own, or, for a fork, all that its parent has. */
function knowing({ parent, task, agent }: Birth, tools: readonly Offer[], { modelFor }: Choices) {
  const context = task.context ?? agent.context ?? "fresh"
  if (context !== "fork") {
    const model = modelFor(agent, task.model, parent.model)
    const own = { model, ...(agent.tuning && { tuning: agent.tuning }) }
    if (context === "fresh") return own
    return { ...own, history: { as: "filtered" as const, tools: tools.map(({ name }) => name) } }
  }
  if (parent.history === "fork")
    throw new Error("a fork does not fork again: do the work yourself, or ask for context fresh")
  if (task.share)
    throw new Error("a fork has its parent's tools and no board: leave share out, or ask for context fresh")
  if (task.model !== undefined)
    throw new Error("a fork goes on with its parent's model: leave model out, or ask for context fresh")
  return { model: parent.model, history: { as: "fork" as const }, ...(parent.tuning && { tuning: parent.tuning }) }
}
