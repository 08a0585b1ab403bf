import type * as z from "zod"
import {
  type Access,
  type Change,
  type Details,
  deniedReads,
  type Fence,
  type Rule,
  type Touch,
} from "../core/access.ts"
import type {
  Budget,
  Fact,
  Failure,
  Hint,
  Limits,
  Place,
  Priority,
  Role,
  RunId,
  Status,
  Tuning,
} from "../core/event.ts"
import type { Hooks } from "../core/hook.ts"
import type { Image } from "../core/message.ts"
import type { Cost, Usage } from "../core/usage.ts"
import type { Note, RunView } from "../core/view.ts"
import type { Model, ToolSpec } from "../model/model.ts"
import type { Unrecorded } from "./budget.ts"
import type { Receipt } from "./receipt.ts"

/** What the gate is asked. `fence` is what the run's commands are kept to anyway. */
export type Asked = { tool: string; access: Access; fence?: Fence }

/**
 * Allowed, perhaps only within a fence; or a person must be asked, who sees the parts of a command and what a yes for
 * good would allow; or denied, in words for the model. `ruled`: a rule wants that person asked, and nothing spares it.
 */
export type Verdict =
  | { do: "allow"; fence?: Fence }
  | { do: "ask"; always?: Rule[]; parts?: string[]; ruled?: true }
  | { do: "deny"; why: string }
export type Gate = (asked: Asked) => Verdict | Promise<Verdict>

/** `depth`: how deep children may go; the main agent is at 0. `parallel`: runs at work at a time, per depth. */
type Bounds = { depth: number; parallel: number }

/**
 * What a child knows when it starts. `fresh`: its task. `fork`: it goes on from its parent's conversation, as its parent.
 * `filtered`: as itself, with what of that conversation makes sense for its own tools.
 */
export type Context = "fresh" | "fork" | "filtered"

/** Who does the work. */
export type Agent = {
  name: string
  /** When to use it, for the model that may start it. */
  description: string
  prompt: string
  role: Role
  /** A model, or several of which the first that can be had is taken. Absent: its parent's. */
  model?: string | string[]
  limits: Partial<Limits>
  tuning?: Tuning
  /** What it knows of its parent's conversation; nothing if absent. */
  context?: Context
  /** Nobody waits for it, unless the task says so. */
  background?: true
  /** Left out of the list that models see. */
  hidden?: true
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
  /** What a command must be kept to; absent: nothing. */
  fence?: Fence
  /** Whether the model can look at images. */
  images: boolean
  /** The hash of each file the run has read or written, by path. */
  files: ReadonlyMap<string, string>
  /** Live output, for people. */
  show(text: string): void
  spawn(task: Task): Promise<TaskResult | Launched>
  /** The agents that this run has started, and those that they have. */
  below: Below
  /** What it shares with those that it came with, if it does. */
  board?: Board
  /** Puts a change of a file on record before it is made. */
  plan(change: Change): Promise<void>
}

/** What a tool may know of the run that calls it, to tell what it wants to touch. */
export type Around = {
  isFork: boolean
  /** The agent that does the work of a run below it. */
  agentOf(run: RunId): string | undefined
}

export type Tool<In extends z.ZodType = z.ZodType> = {
  name: string
  description: string
  input: In
  /** Whether a call that a crash cut off may simply be made again. */
  repeatable: boolean
  /** Whether it must not overlap with other calls of the same turn. */
  alone?: true
  /** Whether it is about other runs; such tools are withheld at the greatest depth. */
  spawns?: true
  /** Whether it is for those that share something, and only for them, whatever tools they are given. */
  shares?: true
  /** Other names under which models may call it. */
  aliases?: string[]
  /**
   * What became of a change that was on record when a crash came: its result, or `again` if it was not made. Undefined
   * if nobody can tell. A tool that has this may be run anew as long as no change is on record.
   */
  recall?(change: Change): Promise<Output | "again" | undefined>
  access(input: z.output<In>, root: string, around: Around): Access | Promise<Access>
  /** What it would do, for the person who is asked about it. Changes nothing. */
  preview?(input: z.output<In>, use: Pick<Use, "root">): Promise<Details | undefined>
  run(input: z.output<In>, use: Use): Promise<Output>
}

/** Ties a tool's `run` to its schema. Past this point the input's type is the loop's business, not the caller's. */
export const tool = <In extends z.ZodType>(definition: Tool<In>): Tool => definition as unknown as Tool

/** A tool before it is needed: what a model sees of it, how its calls are treated, and how to get the rest. */
export type Offer = ToolSpec &
  Pick<Tool, "repeatable" | "alone" | "spawns" | "shares" | "aliases"> & { load(): Promise<Tool> }

/** A piece of work for another agent, or more of it for one that has rested. */
export type Task = {
  prompt: string
  /** For people only. */
  label?: string
  /** If absent: `general`, or a fork of its parent where that is asked for. */
  agent?: string
  model?: string
  resume?: RunId
  /** Instead of the agent's own. */
  context?: Context
  limits?: Partial<Limits>
  /** Limits for an agent that says nothing of them. */
  defaults?: Partial<Limits>
  /** Whether to go on without waiting for it: its result is sent when it comes. If absent: as its agent says. */
  background?: boolean
  priority?: Priority
  /** Whether it has a board in common with others of its parent that share. */
  share?: boolean
  /** Whether an answer that was given to the very same before will do. */
  cache?: boolean
  /** Where its result is announced, instead of being sent to its parent. */
  announce?: Place
}

/** What there is of a task at once, if nobody waits for it. */
export type Launched = { status: "async_launched"; agentId: RunId; agentType: string; label: string }

/** What a program gets of a task; a model gets the content and a line. */
export type TaskResult = {
  status: Status
  agentId: RunId
  agentType: string
  content: string
  error?: Failure
  toolCalls: number
  durationMs: number
  usage: Usage
  cost: Cost
  model: string
  receipt: Receipt
  /** Its content is what an earlier run answered to the very same. */
  cached?: true
}

/** The agents below a run. Whoever is not below it does not exist for it. */
export type Below = {
  list(): RunView[]
  /** Stops one and all below it. Resolves when they are at rest. */
  stop(run: RunId): Promise<void>
  /** Tells one something: at work it hears it between two turns, at rest it goes on with it behind. */
  tell(run: RunId, text: string): Promise<"heard" | "resumed">
}

/** Notes by key, for all that share; each has who wrote it last. */
export type Board = { post(key: string, text: string): void; notes: ReadonlyMap<string, Note> }

/** The outermost that a run and all below it may do. It goes down unchanged or tighter. */
export type Ceiling = {
  depth: number
  tools: readonly Offer[]
  gate: Gate
  bounds: Bounds
  fence?: Fence
  /** Patterns of what no command in a fence may read. */
  hidden?: readonly string[]
  /** What the rules and the mode of a role say by themselves; undefined if it has none. */
  own?(role: Role): Gate | undefined
}

/** What a run may do: its role within its ceiling. */
export type Powers = Pick<Ceiling, "tools" | "gate" | "fence" | "hidden"> & { ceiling: Ceiling }

/** All that the loop can reach: a run's powers and the one stream that it writes to. */
export type Scope = Powers & {
  run: RunId
  model: Model
  signal: AbortSignal
  view: RunView
  limits: Limits
  /** Which budget is used up, its own or that of a run above it. */
  spent(more?: Unrecorded): Budget | undefined
  /** Counts a request that is about to be made as spent, until the function it returns is called. */
  reserve(request: Unrecorded): () => void
  /** How many more calls of tools it may make, as far as budgets say. */
  callsLeft(): number
  emit(event: Fact | Hint): void
  /** Resolves when everything emitted so far is safe on disk. */
  synced(): Promise<void>
  /** Hides secrets in what tools bring back. */
  mask(text: string): string
  /** Why nothing can be stored any more, once that is so. */
  broken(): Error | undefined
  permit(wish: Wish): Promise<Permission>
  /** Resolves when a person has allowed something for good. */
  loosened(): Promise<void>
  hooks: Hooks
  spawn(call: string, task: Task): Promise<TaskResult | Launched>
  below(call: string): Below
  around: Around
  board?: Board
  /** How many agents below it will send it their results. */
  awaited(): number
  /** Resolves when something is said to it. */
  mailed(): Promise<void>
  /** Stops those whose results it will not hear any more. */
  abandon(): Promise<void>
  /** How often it is asked again after its provider has failed for good, and how long that waits. */
  retry: { times: number; wait(): number }
  /** Milliseconds on a clock that never jumps. */
  now(): number
  tuning: Tuning
  /** Where the model's client may keep what it encoded, and where it kept what it encoded for the run forked from. */
  memo: object
  from?: object
}

/** A call that wants leave. `hook` is what people's own commands said to it, if anything. */
export type Wish = {
  call: string
  tool: string
  input: unknown
  access: Access
  hook?: "allow" | "ask"
  preview?(): Promise<Details | undefined>
}

export type Permission = { allow: true; fence?: Fence } | { allow: false; why: string }

/**
 * The one rule of delegation: a child can do nothing that its ceiling forbids, and the ceiling never widens on the way
 * down. The role of the parent is no part of it, so one that may only delegate can still start a coder; but what a
 * read-only parent starts is read-only too.
 */
export function narrow(above: Ceiling, role: Role, shares = false): Powers {
  const depth = above.depth + 1
  const gate = role.readonly ? stricter(above.gate, readOnly) : above.gate
  const fence = tighter(above.fence, role.readonly ? shut : role.fence)
  const own = above.own?.(role)
  const named = (name: string) => (role.tools === "*" || role.tools.includes(name)) && !role.denied.includes(name)
  const deeper = depth < above.bounds.depth
  const tools = above.tools.filter((tool) => (tool.shares ? shares : named(tool.name) && (!tool.spawns || deeper)))
  const kept = fence && { fence }
  const hidden = [...(above.hidden ?? []), ...deniedReads(role.rules ?? [])]
  const ceiling = { ...above, depth, gate, ...kept }
  return { ceiling, tools, gate: own ? stricter(gate, own) : gate, ...kept, ...(hidden.length > 0 && { hidden }) }
}

const shut: Fence = { level: "read-only", network: false }

/** Writing is no part of a read-only role, whoever might permit it; a command is none only where it cannot write. */
const readOnly: Gate = ({ access: { kind }, fence }) =>
  kind === "write" || (kind === "run" && fence?.level !== "read-only")
    ? { do: "deny", why: "this agent is read-only" }
    : { do: "allow" }

const order = { allow: 0, ask: 1, deny: 2 }

export const stricter =
  (a: Gate, b: Gate): Gate =>
  async (asked) => {
    const [one, other] = await Promise.all([a(asked), b(asked)])
    if (one.do === "allow" && other.do === "allow") {
      const fence = tighter(one.fence, other.fence)
      return { do: "allow", ...(fence && { fence }) }
    }
    const chosen = order[one.do] >= order[other.do] ? one : other
    const isRuled = [one, other].some((each) => each.do === "ask" && each.ruled)
    return chosen.do === "ask" && isRuled ? { ...chosen, ruled: true } : chosen
  }

/** The fence that keeps to both. */
export function tighter(a: Fence | undefined, b: Fence | undefined): Fence | undefined {
  if (!a || !b) return a ?? b
  const level = a.level === "read-only" || b.level === "read-only" ? "read-only" : "workspace-write"
  return { level, network: a.network && b.network }
}
