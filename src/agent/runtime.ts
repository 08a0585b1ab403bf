import type { Limits, Outcome, RunId, Tuning } from "../core/event.ts"
import type { Hooks } from "../core/hook.ts"
import type { Log } from "../core/log.ts"
import type { Image } from "../core/message.ts"
import { family, lineage, type RunView } from "../core/view.ts"
import type { Model } from "../model/model.ts"
import { abortable } from "./abortable.ts"
import { overBudget } from "./budget.ts"
import { Deadline } from "./deadline.ts"
import { drive } from "./loop.ts"
import { Offered } from "./offered.ts"
import { agentFor, childOf, forkName, type Opening } from "./opening.ts"
import { type Answerer, permit, type Question, type Reply } from "./permission.ts"
import { resultOf } from "./receipt.ts"
import {
  type Agent,
  type Ceiling,
  type Context,
  narrow,
  type Powers,
  type Scope,
  type Task,
  type TaskResult,
} from "./scope.ts"
import { Slots } from "./slots.ts"
import { Stopped } from "./stopped.ts"
import { unusable } from "./unusable.ts"

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
}

/** A run at work in this process. `seen` is when anything last happened to it. */
type Working = {
  stop: AbortController
  done: Promise<Outcome>
  deadline?: Deadline
  seen: number
  queued: boolean
  memo: object
}
/** A child that is about to be opened. */
type Expected = { agent: Agent; id: RunId; context?: string }

export type Prompt = { text: string; images?: Image[]; key?: string }
/**
 * Runs the runs. It keeps only what the log cannot say: who is at work in this process.
 * Scopes are rebuilt from the log each time, so going on after a crash needs no code of its own.
 */
export class Runtime {
  #working = new Map<RunId, Working>()
  #slots: Slots[] = []
  #offered: Offered
  /** Resolves when a person next allows something for good. */
  #loosened = Promise.withResolvers<void>()
  #options: Options

  constructor(options: Options) {
    this.#options = options
    this.#offered = new Offered(options.log)
    options.log.listen((event) => {
      const working = this.#working.get(event.run)
      if (working) working.seen = options.now()
      if (event.type !== "gate.answered" || !event.always) return
      this.#loosened.resolve()
      this.#loosened = Promise.withResolvers()
    })
  }

  /** Opens the main run. */
  open(agent: Agent, model: string): RunId {
    const { limits, tuning } = agent
    return this.#open(agent, {
      depth: 0,
      model,
      limits: this.#options.limits(limits, {}, 0),
      ...(tuning && { tuning }),
    })
  }

  /** Says something to a run and wakes it; a run at work hears it between two turns. A key is heard only once. */
  prompt(run: RunId, mail: Prompt): Promise<Outcome> {
    const heard = mail.key !== undefined && this.#view(run).heard.has(mail.key)
    if (!heard) this.#options.log.emit(run, { type: "mail.sent", ...mail })
    return this.wake(run)
  }

  wake(run: RunId): Promise<Outcome> {
    const working = this.#working.get(run)
    if (working?.stop.signal.aborted) return working.done.then(() => this.wake(run))
    if (working) return working.done
    const { rest, mail, messages, task, origin } = this.#view(run)
    if (rest && mail.length === 0) return Promise.resolve(rest.outcome)
    if (messages.length === task && mail.length === 0) return Promise.resolve(unasked)
    const stop = new AbortController()
    const above = origin && this.#working.get(origin.run)?.stop.signal
    if (above?.aborted) stop.abort(above.reason) // set going by a parent that is being stopped
    const done = this.#work(run, stop.signal)
    this.#working.set(run, { stop, done, seen: this.#options.now(), queued: false, memo: {} })
    return done
  }

  /**
   * Hands work to another agent and waits for its result. `call` names the request: it is honoured once.
   * Once the signal has fired nothing is begun any more.
   */
  async task(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<TaskResult> {
    const view = this.#view(parent)
    const key = `${parent}/${call}`
    if (task.prompt.trim() === "") throw new Error("the prompt is empty: say what the agent is to do")
    if (task.resume !== undefined) await this.#checkType(task)
    const birth =
      task.resume === undefined && !view.children.has(call) ? await this.#expected(view, task, signal) : undefined
    signal.throwIfAborted()
    // From here to the prompt nothing waits, so that two requests for one child cannot both find it at rest.
    const begun = task.resume === undefined ? view.children.get(call) : this.#rested(view, task, key)
    // One that a program starts may come before its parent was ever asked anything.
    if (!begun && (view.tools.length === 0 || !this.#working.has(parent)))
      this.#offered.tell(view, this.#powers(view).tools)
    const run =
      begun ??
      this.#open(
        birth!.agent,
        childOf({ parent: view, ceiling: this.#powers(view).ceiling, call, task, agent: birth!.agent }, this.#options),
        birth!.id,
      )
    const text = [task.prompt, birth?.context].filter(Boolean).join("\n\n")
    const outcome = await this.prompt(run, { text, key })
    return resultOf(this.#options.log.view, run, outcome)
  }

  /** Stops a run and all that it set going. Resolves when they are at rest. */
  async cancel(run: RunId, why = new Stopped("cancelled", "stopped by the user")): Promise<void> {
    const members = family(this.#options.log.view, run).flatMap((member) => this.#working.get(member) ?? [])
    for (const { stop } of members) stop.abort(why)
    await Promise.all(members.map(({ done }) => done))
  }

  /** Takes up everything that a replayed log left unfinished. */
  async resume(): Promise<void> {
    const { view } = this.#options.log
    // A child whose parent rests was stopped with it, only that its own last fact came too late.
    const left = [...view.values()].filter(({ origin }) => !origin || !view.get(origin.run)?.rest)
    await Promise.all(left.map(({ id }) => this.wake(id)))
  }

  async #work(run: RunId, signal: AbortSignal): Promise<Outcome> {
    await null // so that wake() has noted us as working before anything happens
    const outcome = await this.#drive(run, signal).finally(() => this.#working.delete(run))
    if (this.#view(run).mail.length > 0 && !signal.aborted) return this.wake(run)
    return outcome
  }

  async #drive(run: RunId, signal: AbortSignal): Promise<Outcome> {
    const view = this.#view(run)
    const model = await this.#options.model(view.model).catch((error) => unusable(view.model, error))
    const hooks = (await this.#options.hooksOf?.(view.agent)) ?? noHooks
    const go = () =>
      this.#timed(view, () => {
        const scope = this.#scope(view, model, hooks, signal)
        this.#offered.tell(view, scope.tools)
        return drive(scope)
      })
    if (view.depth === 0) return go()
    this.#slots[view.depth] ??= new Slots(this.#options.ceiling().bounds.parallel)
    const working = this.#working.get(run)!
    working.queued = true
    return this.#slots[view.depth]!.use(signal, "normal", go).catch((error) => {
      if (signal.aborted) return go() // stopped while it queued: the loop settles it, as always
      throw error
    })
  }

  /** Ends a run whose time is up, or around which nothing has happened for too long. */
  async #timed(view: RunView, work: () => Promise<Outcome>): Promise<Outcome> {
    const { timeout, idle } = this.#limits(view)
    const { now } = this.#options
    const working = this.#working.get(view.id)!
    working.queued = false
    const end = (why: string) => void this.cancel(view.id, new Stopped("timeout", why))
    if (timeout !== undefined)
      working.deadline = new Deadline({ ms: timeout, now, expire: () => end("its time was up") })
    const check = () => idle !== undefined && this.#idleFor(view) > idle && end("nothing happened for too long")
    const timer = idle === undefined ? undefined : setInterval(check, Math.max(10, idle / 4))
    try {
      return await work()
    } finally {
      working.deadline?.stop()
      clearInterval(timer)
    }
  }

  /** Waiting for a person, or for a place, is not idleness. */
  #idleFor(view: RunView): number {
    const { log, now } = this.#options
    const members = family(log.view, view.id).map((id) => log.view.get(id)!)
    if (members.some(({ calls }) => [...calls.values()].some(({ state }) => state === "asking"))) return 0
    const working = members.flatMap(({ id }) => this.#working.get(id) ?? [])
    if (working.some(({ queued }) => queued)) return 0
    return now() - Math.max(...working.map(({ seen }) => seen))
  }

  #scope(view: RunView, model: Model, hooks: Hooks, signal: AbortSignal): Scope {
    const { log, now, tuning, mask = (text) => text } = this.#options
    const from = view.origin && this.#working.get(view.origin.run)?.memo
    const scope: Scope = {
      ...this.#powers(view),
      run: view.id,
      model,
      signal,
      view,
      now,
      limits: this.#limits(view),
      spent: (more) => overBudget(log.view, view, (run) => this.#limits(run), more),
      emit: (event) => log.emit(view.id, event),
      synced: () => log.synced(),
      broken: () => log.broken(),
      mask,
      permit: (wish) => permit(scope, wish, this.#answerer(view)),
      loosened: () => this.#loosened.promise,
      hooks,
      spawn: (call, task) => this.task(view.id, call, task, signal),
      tuning: { ...tuning, ...view.tuning },
      memo: this.#working.get(view.id)!.memo,
      ...(from && { from }),
    }
    return scope
  }

  /** The main run's limits are those of this process; a child keeps those that it was opened with. */
  #limits({ depth, limits }: RunView): Limits {
    return depth === 0 ? this.#options.limits({}, {}, 0) : limits
  }

  #powers({ origin, role }: RunView): Powers {
    const above = origin ? this.#powers(this.#view(origin.run)).ceiling : { ...this.#options.ceiling(), depth: -1 }
    return narrow(above, role)
  }

  /** Who will do a task, and what hooks want it to know. They cannot keep it from starting. */
  async #expected(parent: RunView, task: Task, signal: AbortSignal): Promise<Expected> {
    const agent = await agentFor(parent, task, this.#options)
    const id = this.#options.newId()
    const hooks = await this.#options.hooksOf?.(agent.name)
    if (!hooks?.has("SubagentStart")) return { agent, id }
    const said = await hooks.fire({ event: "SubagentStart", agent: { id, type: agent.name } }, signal)
    const { context, notes } = said
    if (notes.length > 0 || context)
      this.#options.log.emit(parent.id, { type: "hook.ran", event: "SubagentStart", said })
    return { agent, id, ...(context && { context }) }
  }

  #open(agent: Agent, { origin, ...about }: Opening, run = this.#options.newId()): RunId {
    const { log, session, root, system } = this.#options
    const from = origin ? { origin } : session !== undefined && { session }
    const { name, role } = agent
    const told = system(agent, { depth: about.depth, context: about.history?.as ?? "fresh" })
    log.emit(run, { type: "run.opened", agent: name, root, system: told, role, ...about, ...from })
    return run
  }

  /** An agent that goes on must still be defined, and be of the type that is asked for. */
  async #checkType({ resume = "", agent, model, limits, context }: Task): Promise<void> {
    const run = this.#options.log.view.get(resume)
    if (!run?.origin) throw new Error(`there is no agent with the id ${JSON.stringify(resume)} in this session`)
    if (model !== undefined || limits !== undefined || context !== undefined)
      throw new Error(`agent ${resume} goes on with the model, limits and context that it has: leave these out`)
    const { name } = run.agent === forkName ? { name: forkName } : await this.#options.agent(run.agent)
    if (agent !== undefined && agent !== name && (await this.#options.agent(agent)).name !== name)
      throw new Error(`agent ${resume} is of type ${name}, not ${agent}`)
  }

  /** A child that has rested and may be given more to do. */
  #rested(parent: RunView, { resume = "" }: Task, key: string): RunId {
    const run = this.#view(resume)
    if (run.origin?.run !== parent.id)
      throw new Error(`agent ${resume} was started by another agent: only that one may go on with it`)
    const busy = !run.rest || run.mail.length > 0 || this.#working.has(resume)
    if (busy && !run.heard.has(key)) throw new Error(`agent ${resume} is still at work: wait for its result`)
    return run.id
  }

  /** Whoever answers, told who asks. The time it takes is charged neither to the asker nor to those above it. */
  #answerer(view: RunView): Answerer | undefined {
    const { answer, log } = this.#options
    if (!answer) return undefined
    return async (asked, signal) => {
      const above = [...lineage(log.view, view)]
      const deadlines = above.flatMap(({ id }) => this.#working.get(id)?.deadline ?? [])
      for (const deadline of deadlines) deadline.pause()
      try {
        const path = above.map(({ agent }) => agent).reverse()
        return await abortable(signal, answer({ ...asked, path }, signal))
      } finally {
        for (const deadline of deadlines) deadline.resume()
      }
    }
  }

  #view(run: RunId): RunView {
    const found = this.#options.log.view.get(run)
    if (!found) throw new Error(`there is no run ${run} in this session`)
    return found
  }
}

const noHooks: Hooks = { has: () => false, fire: async () => ({ notes: [] }) }

/** A crash came between opening a run and telling it its task: whoever opened it will tell it again. */
const unasked: Outcome = { status: "cancelled", text: "" }
