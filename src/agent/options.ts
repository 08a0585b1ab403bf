import type { Limits, Place, Post, RunId, Tuning } from "../core/event.ts"
import type { Hooks } from "../core/hook.ts"
import type { Log } from "../core/log.ts"
import type { Image } from "../core/message.ts"
import type { Model } from "../model/model.ts"
import type { Question, Reply } from "./permission.ts"
import type { Agent, Ceiling, Context, Scope, TaskResult } from "./scope.ts"

/** What a runtime is given of the world. */
export type Options = {
  log: Log
  /** The session's id, which the main run's first event tells. */
  session?: string
  root: string
  /** The outermost that anybody may do, as of now. */
  ceiling(): Omit<Ceiling, "depth">
  /** The agent of this name, or the one for work that names none. Throws words for the model. */
  agent(name: string | undefined): Promise<Agent>
  /** The id of the model for a new run. Throws words for the model. */
  modelFor(agent: Agent, asked: string | undefined, parent: string): string
  /** The model that a run was opened with, ready for use. */
  model(id: string): Promise<Model>
  /** The system prompt of a new run; what a fork is told instead. */
  system(agent: Agent, about: { depth: number; context: Context }): string
  /** Whether work that names no agent goes to a fork. */
  fork?: boolean
  /** Where a run ends: its task's own limits, its agent's, then those of the settings. */
  limits(agent: Partial<Limits>, task: Partial<Limits>, depth: number): Limits
  newId(): RunId
  now(): number
  /** Hides secrets in what tools bring back. */
  mask?(text: string): string
  /** Whoever answers questions. Absent: nobody does. */
  answer?: (question: Question, signal: AbortSignal) => Promise<Reply>
  /** The commands that people want run around what a run does. */
  hooksOf?(agent: string): Promise<Hooks | undefined>
  /** For runs whose agent says nothing of it. */
  tuning?: Tuning
  /** A child that is waited for longer than so many milliseconds goes on behind. */
  behindAfter?: number
  /** What a run hears of an agent whose result it did not wait for. */
  report?(result: TaskResult, label: string): Promise<string>
  /** Where the results of those that nobody waits for are announced now, instead of being sent to the main run. */
  place?(): Place | undefined
  /** How its result is announced there. */
  announcement?(result: TaskResult, label: string, task: string): Pick<Post, "text" | "plain">
  /** How often a child is asked again after its provider has failed for good, and how long that waits. */
  retry?: Scope["retry"]
  /** Answers that were given before. */
  cache?: Cache
}

/** Looks for the answer that was given before to the very same. `keep` puts one there, if the world is still as it was. */
export type Cache = (asked: { agent: Agent; prompt: string; model: string }) => Promise<Looked>
export type Looked = { text?: string; keep(text: string): Promise<void> }

/** What is said to a run. */
export type Prompt = { text: string; images?: Image[]; key?: string }
