import type { Access } from "../core/access.ts"
import type { Origin, Outcome, RunId } from "../core/event.ts"
import type { Log } from "../core/log.ts"
import type { Image } from "../core/message.ts"
import { noUsage } from "../core/usage.ts"
import { family, type RunView } from "../core/view.ts"
import type { Model } from "../model/model.ts"
import { drive } from "./loop.ts"
import { describe } from "./permit.ts"
import {
  type Agent,
  type Ceiling,
  narrow,
  type Permission,
  type Powers,
  type Scope,
  type Spawned,
  type Task,
} from "./scope.ts"
import { Slots } from "./slots.ts"
import { Stopped } from "./stopped.ts"

/** A question that only a person can answer. `path` names the agents from the main one down to the asker. */
export type Question = { run: RunId; call: string; tool: string; input: unknown; access: Access; path: string[] }
export type Reply = { allow: true } | { allow: false; word?: string }

export type Options = {
  log: Log
  /** The session's id, which the main run's first event tells. */
  session?: string
  root: string
  agents: readonly Agent[]
  ceiling: Omit<Ceiling, "depth">
  /** The model that a run was opened with, ready for use. */
  model(id: string): Promise<Model>
  /** The system prompt of a new run. */
  system(agent: Agent): string
  newId(): RunId
  now(): number
  /** Whoever answers questions. Absent: nobody does. */
  answer?: (question: Question, signal: AbortSignal) => Promise<Reply>
  temperature?: number
  effort?: "low" | "medium" | "high"
}

type Working = { stop: AbortController; done: Promise<Outcome> }
export type Prompt = { text: string; images?: Image[]; key?: string }

/**
 * Runs the runs. It keeps only what the log cannot say: who is at work in this process.
 * Scopes are rebuilt from the log each time, so going on after a crash needs no code of its own.
 */
export class Runtime {
  #working = new Map<RunId, Working>()
  #slots: Slots[]
  #options: Options

  constructor(options: Options) {
    this.#options = options
    const { depth, parallel } = options.ceiling.limits
    this.#slots = Array.from({ length: depth + 1 }, () => new Slots(parallel))
  }

  open(agent: string, model: string): RunId {
    return this.#open(this.#agent(agent), model, 0)
  }

  /** Says something to a run and wakes it; a run at work hears it between two turns. A key is heard only once. */
  prompt(run: RunId, mail: Prompt): Promise<Outcome> {
    const heard = mail.key !== undefined && this.#view(run).heard.has(mail.key)
    if (!heard) this.#options.log.emit(run, { type: "mail.sent", ...mail })
    return this.wake(run)
  }

  wake(run: RunId): Promise<Outcome> {
    const working = this.#working.get(run)
    if (working) return working.done
    const { rest, mail, messages, origin } = this.#view(run)
    if (rest && mail.length === 0) return Promise.resolve(rest.outcome)
    if (messages.length + mail.length === 0) return Promise.resolve(unasked)
    const stop = new AbortController()
    const above = origin && this.#working.get(origin.run)?.stop.signal
    if (above?.aborted) stop.abort(above.reason) // set going by a parent that is being stopped
    const done = this.#work(run, stop.signal)
    this.#working.set(run, { stop, done })
    return done
  }

  /** Stops a run and all that it set going. Resolves when they are at rest. */
  async cancel(run: RunId, why = new Stopped("cancelled", "stopped by the user")): Promise<void> {
    const members = family(this.#options.log.view, run).flatMap((member) => this.#working.get(member) ?? [])
    for (const { stop } of members) stop.abort(why)
    await Promise.all(members.map(({ done }) => done))
  }

  /** Takes up everything that a replayed log left unfinished. */
  async resume(): Promise<void> {
    const runs = [...this.#options.log.view.values()]
    for (const run of runs) this.#report(run)
    await Promise.all(runs.map(({ id }) => this.wake(id)))
  }

  async #work(run: RunId, signal: AbortSignal): Promise<Outcome> {
    await null // so that wake() has noted us as working before anything happens
    const outcome = await this.#drive(run, signal)
    this.#working.delete(run)
    const view = this.#view(run)
    if (view.mail.length > 0 && !signal.aborted) return this.wake(run)
    this.#report(view)
    return outcome
  }

  async #drive(run: RunId, signal: AbortSignal): Promise<Outcome> {
    const view = this.#view(run)
    const model = await this.#options.model(view.model).catch((error) => unusable(view.model, error))
    const go = () => drive(this.#scope(view, model, signal))
    if (view.depth === 0) return go()
    return this.#slots[view.depth]!.use(signal, "normal", go).catch((error) => {
      if (signal.aborted) return go() // stopped while it queued: the loop settles it, as always
      throw error
    })
  }

  /** A background run tells its parent how it ended, once for each time that it comes to rest. */
  #report({ id, origin, rest }: RunView): void {
    if (!origin?.background || !rest) return
    const text = `<task run="${id}" status="${rest.outcome.status}">\n${rest.outcome.text}\n</task>`
    void this.prompt(origin.run, { text, key: `${id} rested at ${rest.seq}` })
  }

  #scope(view: RunView, model: Model, signal: AbortSignal): Scope {
    const { log, now, temperature, effort } = this.#options
    const scope: Scope = {
      ...this.#powers(view),
      run: view.id,
      agent: this.#agent(view.agent),
      model,
      signal,
      view,
      now,
      emit: (event) => log.emit(view.id, event),
      synced: () => log.synced(),
      permit: (call, access) => this.#permit(scope, call, access),
      spawn: (task) => this.#spawn(scope, task),
      ...(temperature !== undefined && { temperature }),
      ...(effort && { effort }),
    }
    return scope
  }

  #powers({ origin, agent }: RunView): Powers {
    const above = origin ? this.#powers(this.#view(origin.run)).ceiling : { ...this.#options.ceiling, depth: -1 }
    return narrow(above, this.#agent(agent))
  }

  #open(agent: Agent, model: string, depth: number, origin?: Origin): RunId {
    const { log, session, newId, root, system } = this.#options
    const run = newId()
    const from = origin ? { origin } : session !== undefined && { session }
    log.emit(run, { type: "run.opened", agent: agent.name, model, depth, root, system: system(agent), ...from })
    return run
  }

  async #spawn(parent: Scope, { agent, prompt, call, resume, background }: Task): Promise<Spawned> {
    const origin = { run: parent.run, call, background }
    const begun = resume ?? parent.view.children.get(call)
    const depth = parent.ceiling.depth + 1
    const run = begun ?? this.#open(this.#agent(agent), parent.view.model, depth, origin)
    const work = this.prompt(run, { text: prompt, key: call })
    return background ? { run } : { run, outcome: await work }
  }

  /** Fails closed: with nobody there to answer, the answer is no. An answer given before a crash still counts. */
  async #permit(scope: Scope, call: string, access: Access): Promise<Permission> {
    const open = scope.view.calls.get(call)
    if (open?.answer) return open.answer.allow ? { allow: true } : refusal(open.answer.word)
    const verdict = scope.gate(access)
    if (verdict.do === "allow") return { allow: true }
    const answered = { type: "gate.answered", call, access, allow: false } as const
    if (verdict.do === "deny") {
      scope.emit({ ...answered, by: "rule", word: verdict.why })
      return refusal(verdict.why)
    }
    if (open?.state !== "asking") scope.emit({ type: "gate.asked", call, access })
    const { answer } = this.#options
    if (!answer) {
      const word = `nobody is there to permit it (${describe(access)}); go on without it and say so`
      scope.emit({ ...answered, by: "nobody", word })
      return refusal(word)
    }
    const { name: tool = "", input } = open?.call ?? {}
    const reply = await answer(
      { run: scope.run, call, tool, input, access, path: this.#path(scope.view) },
      scope.signal,
    )
    scope.signal.throwIfAborted()
    if (reply.allow) {
      scope.emit({ ...answered, allow: true, by: "user" })
      return { allow: true }
    }
    const word = reply.word ? `the user said no: ${reply.word}` : "the user said no"
    scope.emit({ ...answered, by: "user", word })
    return refusal(word)
  }

  #path({ agent, origin }: RunView): string[] {
    return origin ? [...this.#path(this.#view(origin.run)), agent] : [agent]
  }

  #view(run: RunId): RunView {
    const found = this.#options.log.view.get(run)
    if (!found) throw new Error(`there is no run ${run} in this session`)
    return found
  }

  #agent(name: string): Agent {
    const { agents } = this.#options
    const found = agents.find((agent) => agent.name === name)
    if (!found)
      throw new Error(`there is no agent named "${name}"; there are ${agents.map((agent) => agent.name).join(", ")}`)
    return found
  }
}

/** A crash came between opening a run and telling it its task: whoever opened it will tell it again. */
const unasked: Outcome = { status: "cancelled", text: "" }

/** Stands for a model that cannot be had, so that the run fails in the ordinary way and says why. */
const unusable = (id: string, error: unknown): Model => ({
  id,
  images: false,
  window: 0,
  cost: () => 0,
  stream: async () => ({
    ok: false,
    error: { kind: "not_found", message: error instanceof Error ? error.message : String(error) },
    retry: false,
    usage: noUsage(),
  }),
})

const refusal = (word = "not permitted"): Permission => ({ allow: false, why: `not permitted: ${word}` })
