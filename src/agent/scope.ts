import type * as z from "zod"
import type { Access, Details, Touch } from "../core/access.ts"
import type { Fact, Hint, Outcome, RunId } from "../core/event.ts"
import type { Image } from "../core/message.ts"
import type { RunView } from "../core/view.ts"
import type { Model, ToolSpec } from "../model/model.ts"

export type Verdict = { do: "allow" } | { do: "ask" } | { do: "deny"; why: string }
export type Gate = (access: Access) => Verdict

/** `depth`: how deep children may go; the main agent is at 0. `parallel`: runs at work at a time, per depth. */
type Limits = { turns: number; depth: number; parallel: number }

/** Who does the work. */
export type Agent = {
  name: string
  description: string
  prompt: string
  tools: string[] | "*"
  denied: string[]
  turns?: number
  gate?: Gate
}

/** What a call gives back: `text` for the model, `details` for people, `touched` for the record. */
export type Output = { ok: boolean; text: string; images?: Image[]; details?: Details; touched?: Touch[] }

/** What a tool may use while it works on one call. */
export type Use = {
  call: string
  /** The run's own folder. */
  root: string
  signal: AbortSignal
  /** What the gate let pass for this call. Without it a tool may only do what needs no leave. */
  access?: Access
  /** Whether the model can look at images. */
  images: boolean
  /** The hash of each file the run has read or written, by path. */
  files: ReadonlyMap<string, string>
  /** Live output, for people. */
  show(text: string): void
  spawn(task: Task): Promise<Spawned>
}

export type Tool<In extends z.ZodType = z.ZodType> = {
  name: string
  description: string
  input: In
  /** Whether a call that a crash cut off may simply be made again. */
  repeatable: boolean
  /** Whether it must not overlap with other calls of the same turn. */
  alone?: true
  /** Whether it sets other runs going; such tools are withheld at the greatest depth. */
  spawns?: true
  access(input: z.output<In>, root: string): Access | Promise<Access>
  run(input: z.output<In>, use: Use): Promise<Output>
}

/** Ties a tool's `run` to its schema. Past this point the input's type is the loop's business, not the caller's. */
export const tool = <In extends z.ZodType>(definition: Tool<In>): Tool => definition as unknown as Tool

/** A tool before it is needed: what a model sees of it, how its calls are treated, and how to get the rest. */
export type Offer = ToolSpec & Pick<Tool, "repeatable" | "alone" | "spawns"> & { load(): Promise<Tool> }

export type Task = { agent: string; prompt: string; call: string; resume?: RunId; background: boolean }
export type Spawned = { run: RunId; outcome?: Outcome }

/** The outermost that a run and all below it may do. It goes down unchanged or tighter. */
export type Ceiling = { depth: number; tools: readonly Offer[]; gate: Gate; limits: Limits }

/** What a run may do: its role within its ceiling. */
export type Powers = { ceiling: Ceiling; tools: readonly Offer[]; gate: Gate }

/** All that the loop can reach: a run's powers and the one stream that it writes to. */
export type Scope = Powers & {
  run: RunId
  agent: Agent
  model: Model
  signal: AbortSignal
  view: RunView
  emit(event: Fact | Hint): void
  /** Resolves when everything emitted so far is safe on disk. */
  synced(): Promise<void>
  permit(call: string, access: Access): Promise<Permission>
  spawn(task: Task): Promise<Spawned>
  /** Milliseconds on a clock that never jumps. */
  now(): number
  temperature?: number
  effort?: "low" | "medium" | "high"
}

export type Permission = { allow: true } | { allow: false; why: string }

/**
 * The one rule of delegation: a child can do nothing that its ceiling forbids, and the ceiling never widens on the way
 * down. The role of the parent is no part of it, so one that may only delegate can still start a coder.
 */
export function narrow(above: Ceiling, agent: Agent): Powers {
  const depth = above.depth + 1
  const limits = { ...above.limits, turns: Math.min(above.limits.turns, agent.turns ?? Number.POSITIVE_INFINITY) }
  const ceiling = { ...above, depth, limits }
  const named = agent.tools === "*" ? above.tools : above.tools.filter(({ name }) => agent.tools.includes(name))
  const tools = named.filter(({ name, spawns }) => !agent.denied.includes(name) && (!spawns || depth < limits.depth))
  return { ceiling, tools, gate: agent.gate ? stricter(above.gate, agent.gate) : above.gate }
}

const order = { allow: 0, ask: 1, deny: 2 }
const stricter =
  (a: Gate, b: Gate): Gate =>
  (access) => {
    const [one, other] = [a(access), b(access)]
    return order[one.do] >= order[other.do] ? one : other
  }
