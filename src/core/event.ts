import type { Access, Change, Details, Fence, Rule, Touch } from "./access.ts"
import type { Squeeze } from "./compact.ts"
import type { HookEvent, Said } from "./hook.ts"
import type { Image, Part, Stop, ToolSpec } from "./message.ts"
import type { Cost, Usage } from "./usage.ts"

export type RunId = string

/** What went wrong with a run or one of its requests, in a word for programs and a sentence for people. */
export type Failure = {
  kind:
    | "authentication"
    | "rate_limit"
    | "overloaded"
    | "network"
    | "truncated"
    | "stalled"
    | "context_overflow"
    | "refused"
    | "bad_request"
    | "not_found"
    | "bad_calls"
    | "store"
    | "internal"
  message: string
  status?: number
}

export type Status = "completed" | "failed" | "max_turns" | "timeout" | "budget" | "cancelled"

/** How a run came to rest. A settled run can always be prompted again. */
export type Outcome =
  | { status: Exclude<Status, "failed">; text: string }
  | { status: "failed"; text: string; error: Failure }

/** The call that a subagent's run came from. The main run has none. */
export type Origin = { run: RunId; call: string }

/**
 * What a run knows of its parent's conversation: all of it, with its very tools and words, or what of it makes sense for
 * tools of its own, which are named here. Absent: nothing.
 */
export type History = { as: "fork" } | { as: "filtered"; tools: string[] }

/** Why the engine itself says something to a run. Each is said at most once between two rests. */
export type Reason = "turns" | Budget | "length" | "empty" | "refusal" | "report" | "hook"

/** What a run may use up together with all that it sets going: tokens, dollars, calls of tools. */
export type Budget = "tokens" | "cost" | "tools"

/** Where a run must end, counted since it last rested. Budgets and times are those of its whole family. */
export type Limits = { turns: number; tokens?: number; cost?: number; tools?: number; timeout?: number; idle?: number }

/** Who goes first where many wait for a place. */
export type Priority = "high" | "normal" | "low"

/** Where in the world outside a conversation takes place. */
export type Place = { channel: string; chatId: string }

/** Something that passes between a session and the world outside. What comes in is for the main run; what goes out is from it. */
export type Post = Place & {
  id: string
  way: "in" | "out"
  sender: string
  text: string
  /** The same for people, where the text is made for a model. */
  plain?: string
  /** What it answers. */
  replyTo?: string
}

/**
 * Why a run was told to stop. `above`: the stop was meant for a run above it. `goesOn`: it then takes up what was said to
 * it meanwhile.
 */
export type Stopping = {
  status: Extract<Status, "cancelled" | "timeout" | "budget">
  why: string
  above?: true
  goesOn?: true
}

/** What a model is told about how to answer. */
export type Tuning = { temperature?: number; topP?: number; effort?: "low" | "medium" | "high" }

/** What an agent's own definition lets it do. It can only narrow what the ceiling allows. */
export type Role = {
  tools: string[] | "*"
  denied: string[]
  /** Nothing that writes, and no child that could. */
  readonly?: true
  /** Its own rules; of those that fit a call the last counts. */
  rules?: Rule[]
  /** It asks where this mode would. */
  mode?: "default" | "acceptEdits"
  /** What its commands, and those of all below it, are kept to. */
  fence?: Fence
  /** The only agents that it may start. */
  mayStart?: string[]
}

/** What a person is asked about. `parts`: what a command consists of; `always`: what a yes for good would allow. */
export type Asking = { access: Access; parts?: string[]; always?: Rule[]; details?: Details }

/** Facts are stored, in order, for ever. Everything else in the product is derived from them. */
export type Fact =
  | {
      type: "run.opened"
      agent: string
      model: string
      depth: number
      root: string
      /** The system prompt. A fork has its parent's, and is told this where its parent's conversation ends. */
      system: string
      role: Role
      limits: Limits
      tuning?: Tuning
      /** What people call its task. */
      label?: string
      /** The session's id, on its main run. */
      session?: string
      origin?: Origin
      history?: History
      priority?: Priority
      /** Nobody waits for it: its result is sent when it has one. */
      behind?: true
      /** Where its result is announced, instead of being sent to the run that it came from. */
      announce?: Place
      /** It writes and reads the board of those that it came with. */
      shares?: true
    }
  /** The tools that its model sees from here on, or the run that was shown the same ones. */
  | { type: "tools.offered"; tools: ToolSpec[] | RunId }
  | { type: "run.told"; reason: Reason; text: string }
  | { type: "model.chosen"; model: string }
  /** From here on its result is waited for, or sent when it comes. */
  | { type: "run.moved"; behind: boolean; limits?: Limits; announce?: Place }
  /** It is to end. That it did is another fact, which may come a little later or after a crash. */
  | ({ type: "run.stopped" } & Stopping)
  /** Its provider failed for good, and after a while it is asked once more all the same. */
  | { type: "run.retried"; error: Failure; wait: number }
  /** `cached`: with what an earlier run answered to the very same. */
  | { type: "run.settled"; outcome: Outcome; ms: number; cached?: true }
  /** Its conversation was made shorter, from so many tokens to so many, as far as can be told. */
  | ({ type: "run.compacted"; before: number; after: number; usage: Usage; cost: Cost; ms: number } & Squeeze)
  /** `from`: the agent whose result it is. `quiet`: no reason to rise from rest for. */
  | { type: "mail.sent"; text: string; images?: Image[]; key?: string; from?: RunId; quiet?: true }
  /** `note`: what is to be known beside the results that were read. */
  | { type: "mail.read"; note?: string }
  | { type: "note.posted"; key: string; text: string }
  | ({ type: "bus.posted" } & Post)
  /** Whoever it was for has dealt with it. */
  | { type: "bus.taken"; id: string }
  | { type: "turn.failed"; error: Failure; wait: number | null; usage: Usage; cost: Cost }
  | { type: "turn.ended"; parts: Part[]; stop: Stop; usage: Usage; cost: Cost; ms: number }
  | { type: "call.started"; id: string; name: string }
  /** Should a crash follow, the file itself tells by its hash whether this was done. */
  | { type: "call.planned"; id: string; change: Change }
  | {
      type: "call.ended"
      id: string
      ok: boolean
      text: string
      ms: number
      images?: Image[]
      details?: Details
      touched?: Touch[]
      /** The model's own mistake: arguments that the tool's schema refuses, or a tool that is not there. */
      fault?: "input" | "unknown"
    }
  | ({ type: "gate.asked"; call: string } & Asking)
  | {
      type: "gate.answered"
      call: string
      access: Access
      allow: boolean
      by: "user" | "nobody" | "rule" | "hook"
      /** For the model, when the answer is no. */
      word?: string
      /** What is allowed from now on, in the whole session. */
      always?: Rule[]
    }
  /** What people's own commands had to say about something that happened, or about a call. */
  | { type: "hook.ran"; event: HookEvent; call?: string; said: Said }

/** Hints are shown while they last and never stored: a later fact repeats all that they said. */
export type Hint =
  | { type: "turn.delta"; kind: "text" | "reasoning"; text: string }
  | { type: "call.delta"; id: string; text: string }
  /** More of the summary that its conversation is made shorter with. */
  | { type: "run.compacting"; text: string }
  /** It waits for a place among those at work. */
  | { type: "run.queued" }

export type Stamped<T> = T & { seq: number; at: number; run: RunId }
export type Event = Stamped<Fact> | Stamped<Hint>

const hints: ReadonlySet<string> = new Set<Hint["type"]>(["turn.delta", "call.delta", "run.compacting", "run.queued"])

export const isHint = (event: Event): event is Stamped<Hint> => hints.has(event.type)
