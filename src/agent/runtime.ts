import { reasonOf } from "../core/error.ts"
import type { Outcome, RunId } from "../core/event.ts"
import type { Hooks } from "../core/hook.ts"
import { endedAbove } from "../core/rest.ts"
import { boardOf, family, type RunView } from "../core/view.ts"
import { weightOf } from "../core/weight.ts"
import type { Model } from "../model/model.ts"
import { abortable } from "./abortable.ts"
import { answererFor } from "./answerer.ts"
import { below } from "./below.ts"
import { compact } from "./compact.ts"
import { Delegation } from "./delegation.ts"
import { awaitedBy, deliver, isUnasked, owedBy } from "./delivery.ts"
import { idleFor } from "./idle.ts"
import { drive } from "./loop.ts"
import { moveBehind } from "./move-behind.ts"
import { Offered } from "./offered.ts"
import type { Opening } from "./opening.ts"
import type { Options, Prompt } from "./options.ts"
import { permit } from "./permission.ts"
import { type Reach, reached } from "./reach.ts"
import { Rights } from "./rights.ts"
import type { Agent, Launched, Scope, Task, TaskResult } from "./scope.ts"
import { Slots } from "./slots.ts"
import { roomOf, squeezeOf } from "./squeeze.ts"
import { stopAll } from "./stop-all.ts"
import { Stopped } from "./stopped.ts"
import { timed } from "./timed.ts"
import { unusable } from "./unusable.ts"
import { freshly, type Working } from "./working.ts"

/**
 * Runs the runs. It keeps only what the log cannot say: who is at work in this process.
 * Scopes are rebuilt from the log each time, so going on after a crash needs no code of its own.
 */
export class Runtime {
  #working = new Map<RunId, Working>()
  #at = (run: RunId): Working | undefined => this.#working.get(run)
  #slots: Slots[] = []
  #offered: Offered
  /** Resolves when a person next allows something for good. */
  #loosened = Promise.withResolvers<void>()
  /** Those who wait until something is said to a run. */
  #listening = new Map<RunId, () => void>()
  #sending: Promise<void> = Promise.resolve()
  /** What runs will say that need not work for it. */
  #known = new Map<RunId, string>()
  #closed = false
  #options: Options
  #rights: Rights
  #delegation: Delegation

  constructor(options: Options) {
    this.#options = options
    this.#offered = new Offered(options.log)
    this.#rights = new Rights(options)
    this.#delegation = new Delegation({
      options,
      rights: this.#rights,
      offered: this.#offered,
      at: this.#at,
      open: (agent, opening, run) => this.#open(agent, opening, run),
      prompt: (run, mail) => this.prompt(run, mail),
      known: (run, text) => this.#known.set(run, text),
      sendBehind: (run) => this.sendBehind(run),
      moveBehind: (run) => this.#moveBehind(run),
    })
    options.log.listen((event) => {
      const working = this.#working.get(event.run)
      if (working) working.seen = options.now()
      if (event.type === "mail.sent") this.#listening.get(event.run)?.()
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
    if (this.#closed) throw new Error("the session is closed; open it again to go on")
    const heard = mail.key !== undefined && this.#view(run).heard.has(mail.key)
    if (!heard) this.#options.log.emit(run, { type: "mail.sent", ...mail })
    return this.wake(run)
  }

  wake(run: RunId): Promise<Outcome> {
    const working = this.#working.get(run)
    if (working?.stop.signal.aborted) return working.done.then(() => this.wake(run))
    if (working) return working.done
    const { rest, mail, origin, behind, stopping } = this.#view(run)
    if (rest && (this.#closed || mail.every(({ quiet }) => quiet))) return Promise.resolve(rest.outcome)
    if ((isUnasked(this.#view(run)) && !stopping) || this.#closed) return Promise.resolve(unasked)
    const stop = new AbortController()
    const above = origin && !behind ? this.#working.get(origin.run)?.stop.signal : undefined
    if (stopping)
      stop.abort(new Stopped(stopping.status, stopping.why)) // a crash came before it had stopped
    else if (above?.aborted) stop.abort(above.reason) // set going by a parent that is being stopped
    const fresh = freshly(stop, this.#options.now(), unasked)
    this.#working.set(run, fresh)
    fresh.done = this.#work(run, stop.signal)
    return fresh.done
  }

  /** Hands work to another agent: resolves to its result, or, where nobody waits for that, to who does it. */
  task(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<TaskResult | Launched> {
    return this.#delegation.task(parent, call, task, signal)
  }

  /** The same for a program, which waits for the result whatever happens. */
  finish(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<TaskResult> {
    return this.#delegation.finish(parent, call, task, signal)
  }

  /** Nobody waits for this run any longer: its result is sent when it comes. False if no call waited for it. */
  sendBehind(run: RunId): boolean {
    const { origin, behind, rest, stopping } = this.#view(run)
    const working = this.#working.get(run)
    if (!origin || behind || rest || stopping || !working?.waited) return false
    this.#moveBehind(run)
    working.moved.resolve(undefined)
    return true
  }

  #moveBehind(run: RunId): void {
    const cancel = (why: Stopped) => void this.cancel(run, why)
    moveBehind(this.#view(run), { options: this.#options, rights: this.#rights, at: this.#at, cancel })
  }

  /** Steers a run at work, or goes on behind with one that rests. */
  tell(run: RunId, mail: Prompt): "heard" | "resumed" {
    const { rest, behind, heard, origin } = this.#view(run)
    const resting = rest !== undefined && !this.#working.has(run) && !(mail.key !== undefined && heard.has(mail.key))
    if (resting && !behind && origin) this.#moveBehind(run)
    void this.prompt(run, mail)
    return resting ? "resumed" : "heard"
  }

  /** Stops a run and, as far as the stop reaches, what it set going. Resolves when they are at rest. */
  async cancel(
    run: RunId,
    why = new Stopped("cancelled", "stopped by the user"),
    reach: Reach = "family",
  ): Promise<void> {
    const { view } = this.#options.log
    await stopAll(this.#at, this.#options.log, reached(view, run, reach), why, { meant: run, goesOn: reach === "turn" })
  }

  /** Makes the conversation of a run that rests shorter, though it need not be. False if nothing of it could be. */
  async compact(run: RunId): Promise<boolean> {
    if (this.#working.has(run)) throw new Error("it is at work: stop it, or wait until it rests")
    const view = this.#view(run)
    const model = await this.#options.model(view.model)
    const plan = squeezeOf(view, Math.min(roomOf(model), weightOf(view).tokens))
    if (!plan || this.#working.has(run)) return false
    const stop = new AbortController()
    const working = freshly(stop, this.#options.now(), unasked)
    this.#working.set(run, working)
    const scope = this.#scope(view, model, noHooks, stop.signal)
    const done = compact(scope, plan).finally(() => this.#working.delete(run))
    // What was said to it meanwhile is taken up then, however that went.
    const rested = () => this.wake(run)
    working.done = done.then(rested, rested)
    await done
    return true
  }

  /** Takes up everything that a replayed log left unfinished. Resolves when that is done. */
  async resume(): Promise<void> {
    const { view } = this.#options.log
    const runs = [...view.values()]
    const resting = runs.filter(({ rest }) => rest).sort((a, b) => a.rest!.seq - b.rest!.seq)
    for (const { id } of resting) await this.#deliver(id)
    const why = "whoever waited for it has ended"
    for (const { id } of runs.filter((run) => endedAbove(view, run)))
      this.#options.log.emit(id, { type: "run.stopped", status: "cancelled", why, above: true })
    await Promise.all(runs.map(({ id }) => this.wake(id)))
    await this.idle()
  }

  /** How many children are at work or wait for a place. */
  running(): number {
    return [...this.#working.keys()].filter((run) => this.#view(run).depth > 0).length
  }

  /** Resolves when nothing is at work any more, and nothing is left to be heard. */
  async idle(): Promise<void> {
    await this.#sending
    while (this.#working.size > 0) await Promise.all([...this.#working.values()].map(({ done }) => done))
  }

  /** Ends all work without a word, as a crash would: whoever opens the session again can go on with it. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#working.size > 0) this.#options.log.seal()
    const working = [...this.#working.values()]
    for (const { stop } of working) stop.abort(new Stopped("cancelled", "the session was closed"))
    await Promise.all(working.map(({ done }) => done))
  }

  async #work(run: RunId, signal: AbortSignal): Promise<Outcome> {
    await null // so that wake() has noted us as working before anything happens
    const outcome = await this.#drive(run, signal).catch((error) => this.#broke(run, error))
    await this.#deliver(run)
    const goesOn = !signal.aborted || this.#working.get(run)?.goesOn
    this.#working.delete(run)
    if (goesOn && this.#view(run).mail.some(({ quiet }) => !quiet)) return this.wake(run)
    return outcome
  }

  /** The loop never rejects, but what is done before it may: that too is an outcome. */
  #broke(run: RunId, error: unknown): Outcome {
    const outcome: Outcome = { status: "failed", text: "", error: { kind: "internal", message: reasonOf(error) } }
    if (!this.#view(run).rest) this.#options.log.emit(run, { type: "run.settled", outcome, ms: 0 })
    return outcome
  }

  /** Sends the result of a run that nobody waited for, once, and wakes whoever it is for. */
  async #deliver(run: RunId): Promise<void> {
    if (!owedBy(this.#options.log.view, this.#view(run))) return
    this.#sending = this.#sending.then(async () => {
      if (this.#closed) return
      const told = await deliver(this.#options, this.#view(run))
      if (told !== undefined) void this.wake(told)
    })
    await this.#sending
  }

  /** A run that need not work: what it would say was said before. */
  async #settleWith(run: RunId, text: string): Promise<Outcome> {
    const { log } = this.#options
    const outcome: Outcome = { status: "completed", text }
    this.#known.delete(run)
    log.emit(run, { type: "mail.read" })
    log.emit(run, { type: "run.settled", outcome, ms: 0, cached: true })
    await log.synced()
    return outcome
  }

  async #drive(run: RunId, signal: AbortSignal): Promise<Outcome> {
    const view = this.#view(run)
    const known = this.#known.get(run)
    if (known !== undefined && !signal.aborted) return this.#settleWith(run, known)
    const model = await this.#options.model(view.model).catch((error) => unusable(view.model, error))
    const hooks = (await this.#options.hooksOf?.(view.agent)) ?? noHooks
    const working = this.#working.get(run)!
    const watch = {
      working,
      limits: this.#rights.limits(view),
      now: this.#options.now,
      idleFor: () => idleFor(this.#options.log.view, view, this.#at, this.#options.now()),
      end: (why: Stopped) => void this.cancel(run, why),
    }
    const go = async () => {
      if (signal.aborted && view.rest) return view.rest.outcome
      working.seen = this.#options.now()
      return timed(watch, () => {
        working.queued = false
        const scope = this.#scope(view, model, hooks, signal)
        this.#offered.tell(view, scope.tools)
        return drive(scope)
      })
    }
    if (view.depth === 0) return go()
    this.#slots[view.depth] ??= new Slots(this.#options.ceiling().bounds.parallel)
    const waits = () => {
      working.queued = true
      this.#options.log.emit(run, { type: "run.queued" })
    }
    return this.#slots[view.depth]!.use(signal, view.priority, go, waits).catch((error) => {
      if (signal.aborted) return go() // stopped while it queued: the loop settles it, as always
      throw error
    })
  }

  #scope(view: RunView, model: Model, hooks: Hooks, signal: AbortSignal): Scope {
    const { log, now, tuning, mask = (text) => text, retry = { times: 0, wait: () => 0 } } = this.#options
    const from = view.origin && this.#working.get(view.origin.run)?.memo
    const scope: Scope = {
      ...this.#rights.powers(view),
      run: view.id,
      model,
      signal,
      view,
      now,
      limits: this.#rights.limits(view),
      spent: (more) => this.#rights.spent(view, more),
      reserve: (request) => this.#rights.reserve(view, request),
      callsLeft: () => this.#rights.callsLeft(view),
      emit: (event) => log.emit(view.id, event),
      synced: () => log.synced(),
      broken: () => log.broken(),
      mask,
      permit: (wish) =>
        permit(
          scope,
          wish,
          answererFor(view, this.#options, (run) => this.#working.get(run)?.deadline),
        ),
      loosened: () => this.#loosened.promise,
      hooks,
      spawn: (call, task) => this.task(view.id, call, task, signal),
      around: { isFork: view.history === "fork", agentOf: (run) => log.view.get(run)?.agent },
      below: (call) => below(this, log.view, view.id, call),
      ...this.#board(view),
      awaited: () => awaitedBy(log.view, view, (id) => this.#working.has(id)),
      mailed: () => this.#mailed(view, signal),
      abandon: () => this.#abandon(view),
      retry,
      tuning: { ...tuning, ...view.tuning },
      memo: this.#working.get(view.id)!.memo,
      ...(from && { from }),
    }
    return scope
  }

  #board(view: RunView): Pick<Scope, "board"> {
    const { log } = this.#options
    const notes = view.shares && boardOf(log.view, view)
    if (!notes) return {}
    return { board: { notes, post: (key, text) => log.emit(view.id, { type: "note.posted", key, text }) } }
  }

  async #mailed({ id, mail }: RunView, signal: AbortSignal): Promise<void> {
    if (mail.length > 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#listening.set(id, resolve)
    await abortable(signal, promise).finally(() => this.#listening.delete(id))
  }

  async #abandon({ id, children }: RunView): Promise<void> {
    const why = new Stopped("cancelled", `agent ${id}, which started it, has ended`)
    const behind = [...children.values()].filter((child) => this.#view(child).behind)
    const { view } = this.#options.log
    const runs = behind.flatMap((child) => family(view, child))
    await stopAll(this.#at, this.#options.log, runs, why)
  }

  #open(agent: Agent, { origin, ...about }: Opening, run = this.#options.newId()): RunId {
    const { log, session, root, system } = this.#options
    const from = origin ? { origin } : session !== undefined && { session }
    const { name, role } = agent
    const told = system(agent, { depth: about.depth, context: about.history?.as ?? "fresh" })
    log.emit(run, { type: "run.opened", agent: name, root, system: told, role, ...about, ...from })
    return run
  }

  #view(run: RunId): RunView {
    return this.#rights.view(run)
  }
}

const noHooks: Hooks = { has: () => false, fire: async () => ({ notes: [] }) }

/** A crash came between opening a run and telling it its task: whoever opened it will tell it again. */
const unasked: Outcome = { status: "cancelled", text: "" }
