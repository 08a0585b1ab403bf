import type { Change, Rule, Todo } from "./access.ts"
import { stepCall } from "./calls.ts"
import { compacted } from "./compact.ts"
import type {
  Asking,
  Event,
  Failure,
  Limits,
  Origin,
  Outcome,
  Place,
  Post,
  Priority,
  Reason,
  Role,
  RunId,
  Stopping,
  Tuning,
} from "./event.ts"
import { type Mail, said } from "./mail.ts"
import {
  type Call,
  callsOf,
  type Message,
  type Result,
  type Stop,
  type ToolSpec,
  textOf,
  type User,
} from "./message.ts"
import { opened } from "./opened.ts"
import { rise, stepRest } from "./rest.ts"
import { addCost, addUsage, type Cost, noUsage, totalTokens, type Usage } from "./usage.ts"
import { type Weight, weighed } from "./weight.ts"

export type CallView = {
  call: Call
  /** `started` means that the tool may have acted; before that, nothing has been done. */
  state: "waiting" | "asking" | "started" | "ended"
  /** What it asks leave for, while it asks. */
  asking?: Asking
  answer?: { allow: boolean; word?: string }
  plan?: Change
  result?: Result
  /** The end of its live output. */
  output: string
}

/** One run, as anybody may see it: the loop, the terminal, the browser, a test. Only `apply` may change it. */
export type RunView = {
  id: RunId
  agent: string
  model: string
  depth: number
  root: string
  system: string
  role: Role
  limits: Limits
  tuning?: Tuning
  label?: string
  origin?: Origin
  /** Whether its result is sent when it comes, and nobody waits for it. */
  behind: boolean
  priority: Priority
  announce?: Place
  shares?: true
  /** It waits for a place among those at work. */
  queued: boolean
  /** It was told to stop and has not yet. */
  stopping?: Stopping
  /** The runs it set going, by the call that did. */
  children: Map<string, RunId>
  /** How it began to know its parent's conversation, if it does. */
  history?: "fork" | "filtered"
  /** The tools that its model sees, which may be more than it may use. */
  tools: ToolSpec[]
  /** What its model sees of the conversation. The first `inherited` are its parent's. */
  messages: Message[]
  inherited: number
  /** Of a fork: what it was told it is. */
  words?: User
  /** What stands, as its first message, for a part of the conversation that is gone. */
  notes?: string
  /** Where in `messages` the work at hand begins. */
  task: number
  weight: Weight
  /** Its conversation was made shorter since the last answer. */
  squeezed: boolean
  /** How often in a row its provider found the conversation too long. */
  overflows: number
  mail: Mail[]
  heard: Set<string>
  /** The calls of the turn at hand. They join `messages`, in call order, when the last has ended. */
  calls: Map<string, CallView>
  /** How many of these have no result. */
  openCalls: number
  /** Every call id so far: providers want them unique in a conversation. */
  ids: Set<string>
  /** Turns since the run was last at rest, and why the last one stopped. */
  turns: number
  stop: Stop
  told: Set<Reason>
  /** How often since then a hook wanted it to go on. */
  keptOn: number
  /** Text of answers that the token limit cut, which the final text must begin with. */
  partial: string
  /** The same mistake in calls, made over and over. */
  mistake: { text: string; times: number }
  /** How often since then it was asked again after its provider had failed for good. */
  retries: number
  usage: Usage
  cost: Cost
  toolCalls: number
  /** What each model that it had was asked and took. */
  byModel: Map<string, Taken>
  /** Its numbers with those of all its descendants, now and when it last rose from rest. */
  family: Spent
  before: Spent
  /** Files it has read or written, by the hash it knows. */
  files: Map<string, string>
  /** The same as it was when the turn at hand began, as far as that has changed since; null where nothing was known. */
  filesBefore: Map<string, string | null>
  /** The tool that it last touched a file with. */
  touchedWith: Map<string, string>
  /** What it and its descendants have done since it last rose, from the record and not from what they say. */
  deeds: Deeds
  todo: Todo[]
  /** Of the main run: what a person has allowed for good, for every run of the session. */
  allowed: Rule[]
  /** What those of its children that share anything have told each other. */
  board: Map<string, Note>
  /** Of the main run: what came in or is to go out, and has not been dealt with. */
  posts: Map<string, Post>
  draft: { text: string; reasoning: string }
  /** The summary so far, while its conversation is made shorter. */
  compacting?: string
  failing?: { error: Failure; wait: number | null; at: number }
  openedAt: number
  /** When it last rose from rest. */
  roseAt: number
  /** When anything last happened to it. */
  seenAt: number
  /** `above`: it was stopped with a run above it. `returned`: its result went to whoever waited for it. */
  rest?: { outcome: Outcome; seq: number; ms: number; cached?: true; above?: true; returned?: true }
}

/** A note on a board, with whoever wrote it last. */
export type Note = { text: string; by: RunId; agent: string; at: number }

/** Requests of one model, those that failed too, and what they took. */
export type Taken = { requests: number; usage: Usage; cost: Cost }

type Spent = { usage: Usage; cost: Cost; toolCalls: number }

/** `changed` has the hash before the first and after the last change; null where there was no file. */
export type Deeds = {
  read: Set<string>
  changed: Map<string, { before: string | null; after: string }>
  commands: { command: string; exit: number | null }[]
  refused: number
}

export type View = Map<RunId, RunView>

/** What may happen to a run that waits for a place. */
const whileQueued: ReadonlySet<Event["type"]> = new Set(["mail.sent", "run.moved", "run.stopped"])

/** The only place where an event changes anything. In place, and O(1) but for those that take over or shorten a conversation. */
export function apply(view: View, event: Event): void {
  if (event.type === "run.opened") {
    if (view.has(event.run)) throw new Error(`event ${event.seq} opens run ${event.run} a second time`)
    view.set(event.run, opened(view, event))
    if (event.origin) view.get(event.origin.run)?.children.set(event.origin.call, event.run)
    return
  }
  const run = view.get(event.run)
  if (!run) throw new Error(`event ${event.seq} (${event.type}) is about an unknown run, ${event.run}`)
  run.seenAt = event.at
  run.queued = event.type === "run.queued" || (run.queued && whileQueued.has(event.type))
  step(view, run, event)
}

function step(view: View, run: RunView, event: Exclude<Event, { type: "run.opened" }>): void {
  switch (event.type) {
    case "run.told":
      if (event.reason === "length") run.partial += lastText(run)
      run.told.add(event.reason)
      if (event.reason === "hook") run.keptOn++
      run.messages.push({ role: "user", text: event.text })
      return
    case "tools.offered":
      run.tools = typeof event.tools === "string" ? shownTo(view, event.tools) : event.tools
      return
    case "run.compacting":
      delete run.failing
      run.compacting = (run.compacting ?? "") + event.text
      return
    case "run.compacted":
      Object.assign(run, compacted(run, event))
      if (event.summary !== undefined) run.notes = event.summary
      run.inherited = 0
      run.weight = { tokens: 0, guess: 0, messages: 0 }
      run.squeezed = true
      delete run.compacting
      delete run.failing
      // Without a summary no model was asked, unless it was asked in vain.
      if (event.summary !== undefined || totalTokens(event.usage) > 0) spend(view, run, event.usage, event.cost)
      return
    case "model.chosen":
      run.model = event.model
      run.squeezed = false
      run.overflows = 0
      return
    case "run.settled":
    case "run.moved":
    case "run.stopped":
      stepRest(run, event)
      return
    case "run.retried":
      run.retries++
      run.failing = { error: event.error, wait: event.wait, at: event.at }
      return
    case "run.queued":
      return
    case "note.posted":
      boardOf(view, run)?.set(event.key, { text: event.text, by: run.id, agent: run.agent, at: event.at })
      return
    case "bus.posted": {
      const { type, seq, at, run: id, ...post } = event
      run.posts.set(post.id, post)
      run.heard.add(post.id)
      return
    }
    case "bus.taken":
      run.posts.delete(event.id)
      return
    case "mail.sent": {
      const { text, images, from, quiet } = event
      run.mail.push({ text, ...(images && { images }), ...(from && { from }), ...(quiet && { quiet }) })
      if (event.key) run.heard.add(event.key)
      return
    }
    case "mail.read": {
      const isSpokenTo = run.mail.some(({ from }) => from === undefined)
      if (run.rest) rise(run, event.at, isSpokenTo)
      else if (run.turns === 0) run.roseAt = event.at
      run.messages.push(...said(run.mail, event.note))
      run.mail = []
      run.squeezed = false
      // The end that two of them lead to was that of the work before.
      if (run.overflows > 1) run.overflows = 0
      return
    }
    case "turn.delta":
      run.draft[event.kind] += event.text
      if (run.failing) delete run.failing
      return
    case "turn.failed":
      run.draft = { text: "", reasoning: "" }
      delete run.compacting
      run.failing = { error: event.error, wait: event.wait, at: event.at }
      if (event.error.kind === "context_overflow") {
        run.overflows++
        run.squeezed = false
      }
      spend(view, run, event.usage, event.cost)
      return
    case "turn.ended":
      run.draft = { text: "", reasoning: "" }
      if (run.failing) delete run.failing
      run.turns++
      run.stop = event.stop
      run.messages.push({ role: "assistant", parts: event.parts })
      for (const call of callsOf(event.parts)) {
        run.calls.set(call.id, { call, state: "waiting", output: "" })
        run.ids.add(call.id)
      }
      run.openCalls = unanswered(run)
      run.squeezed = false
      run.overflows = 0
      run.weight = weighed(run, event.usage)
      spend(view, run, event.usage, event.cost)
      return
    case "call.started":
    case "call.planned":
    case "call.delta":
    case "call.ended":
    case "gate.asked":
    case "gate.answered":
      stepCall(view, run, event)
      return
    case "hook.ran":
      return
    default:
      event satisfies never
  }
}

/** Calls of an earlier turn may be among them, where the line that ended one was lost. */
function unanswered({ calls }: RunView): number {
  let open = 0
  for (const { result } of calls.values()) if (!result) open++
  return open
}

function spend(view: View, run: RunView, usage: Usage, cost: Cost): void {
  addUsage(run.usage, usage)
  run.cost = addCost(run.cost, cost)
  const taken = run.byModel.get(run.model) ?? { requests: 0, usage: noUsage(), cost: 0 }
  addUsage(taken.usage, usage)
  taken.requests++
  taken.cost = addCost(taken.cost, cost)
  run.byModel.set(run.model, taken)
  for (let each: RunView | undefined = run; each; each = above(view, each)) {
    addUsage(each.family.usage, usage)
    each.family.cost = addCost(each.family.cost, cost)
  }
}

function shownTo(view: View, run: RunId): ToolSpec[] {
  const other = view.get(run)
  if (!other) throw new Error(`the tools are those of an unknown run, ${run}`)
  return other.tools
}

/** The run that all others were set going by. */
export function mainOf(view: View): RunView | undefined {
  for (const run of view.values()) if (run.depth === 0) return run
  return undefined
}

/** A run and those above it, up to the main run. */
export function lineage(view: View, run: RunView): RunView[] {
  const runs: RunView[] = []
  for (let each: RunView | undefined = run; each; each = above(view, each)) runs.push(each)
  return runs
}

/** The run that set this one going. */
export const above = (view: View, { origin }: RunView): RunView | undefined => origin && view.get(origin.run)

/** Those that came from one run share its board. */
export const boardOf = (view: View, { origin }: RunView): Map<string, Note> | undefined =>
  origin && view.get(origin.run)?.board

/** The text of the last answer, unless something was said since. */
export function lastText(run: RunView): string {
  const last = run.messages.at(-1)
  return last?.role === "assistant" ? textOf(last.parts) : ""
}

/** A run and everything that it set going, at any depth. */
export function family(view: View, run: RunId): RunId[] {
  const children = [...(view.get(run)?.children.values() ?? [])]
  return [run, ...children.flatMap((child) => family(view, child))]
}
