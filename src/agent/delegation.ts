import type { Outcome, RunId } from "../core/event.ts"
import type { RunView } from "../core/view.ts"
import { longest } from "./deadline.ts"
import { checkType, rested } from "./going-on.ts"
import type { Offered } from "./offered.ts"
import { agentFor, childOf, type Opening } from "./opening.ts"
import type { Looked, Options, Prompt } from "./options.ts"
import { resultOf } from "./receipt.ts"
import type { Rights } from "./rights.ts"
import type { Agent, Launched, Task, TaskResult } from "./scope.ts"
import { stored } from "./stored.ts"
import type { Working } from "./working.ts"

/** What starting others needs of whoever runs the runs. */
type Runs = {
  options: Options
  rights: Rights
  offered: Offered
  /** What is at work in this process. */
  at(run: RunId): Working | undefined
  open(agent: Agent, opening: Opening, run: RunId): RunId
  prompt(run: RunId, mail: Prompt): Promise<Outcome>
  /** What a run will say when it is woken next, without working for it. */
  known(run: RunId, text: string): void
  sendBehind(run: RunId): boolean
  moveBehind(run: RunId): void
}

/** A child that is about to be opened. */
type Expected = { agent: Agent; id: RunId; context?: string; looked?: Looked }

type Begun = { run: RunId; done: Promise<Outcome> }

/** How one run hands work to another. */
export class Delegation {
  #runs: Runs

  constructor(runs: Runs) {
    this.#runs = runs
  }

  /**
   * Hands work to another agent and waits for its result, unless it is to work behind or is moved there meanwhile.
   * `call` names the request: it is honoured once. Once the signal has fired nothing is begun any more.
   */
  async task(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<TaskResult | Launched> {
    const { run, done } = await this.#begin(parent, call, task, signal)
    const view = this.#runs.rights.view(run)
    if (view.behind) return launched(view)
    const after = this.#runs.options.behindAfter
    const working = this.#runs.at(run)
    if (working) working.waited = true
    const timer =
      after === undefined ? undefined : setTimeout(() => this.#runs.sendBehind(run), Math.min(after, longest))
    try {
      const outcome = await Promise.race([done, this.#runs.at(run)?.moved.promise ?? done])
      return outcome ? resultOf(this.#runs.options.log.view, run, outcome) : launched(view)
    } finally {
      clearTimeout(timer)
    }
  }

  /** The same, but with the result, however long that takes. */
  async finish(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<TaskResult> {
    const { run, done } = await this.#begin(parent, call, { ...task, background: false }, signal)
    const { log } = this.#runs.options
    return resultOf(log.view, run, await stored(await done, () => log.synced()))
  }

  /** Opens a child and tells it its task, or tells one that has rested what more there is to do. */
  async #begin(parent: RunId, call: string, task: Task, signal: AbortSignal): Promise<Begun> {
    const { log, agent } = this.#runs.options
    const view = this.#runs.rights.view(parent)
    const key = `${parent}/${call}`
    if (task.prompt.trim() === "") throw new Error("the prompt is empty: say what the agent is to do")
    if (task.resume !== undefined) await checkType(log.view, task, agent)
    const birth =
      task.resume === undefined && !view.children.has(call) ? await this.#expected(view, task, signal) : undefined
    signal.throwIfAborted()
    // From here to the prompt nothing waits, so that two requests for one child cannot both find it at rest.
    if (!birth) return this.#goOn(view, call, task, key)
    // One that a program starts may come before its parent was ever asked anything.
    if (view.tools.length === 0 || !this.#runs.at(parent))
      this.#runs.offered.tell(view, this.#runs.rights.powers(view).tools)
    const { looked } = birth
    const run = this.#runs.open(birth.agent, this.#childOf(view, call, task, birth.agent), birth.id)
    const text = [task.prompt, birth.context].filter(Boolean).join("\n\n")
    if (looked?.text !== undefined) this.#runs.known(run, looked.text)
    const done = this.#runs.prompt(run, { text, key })
    return { run, done: looked && looked.text === undefined ? done.then((outcome) => kept(outcome, looked)) : done }
  }

  /** The child that a call has opened before a crash, or one that has rested and is given more to do. */
  #goOn(parent: RunView, call: string, { resume, background, prompt }: Task, key: string): Begun {
    if (resume === undefined) {
      const run = parent.children.get(call)!
      return { run, done: this.#runs.prompt(run, { text: prompt, key }) }
    }
    const view = this.#runs.rights.view(resume)
    const run = rested(parent, view, { busy: this.#runs.at(resume) !== undefined, key })
    const behind = background ?? false
    if (view.behind !== behind && !view.heard.has(key)) {
      if (behind) this.#runs.moveBehind(run)
      else this.#runs.options.log.emit(run, { type: "run.moved", behind })
    }
    return { run, done: this.#runs.prompt(run, { text: prompt, key }) }
  }

  #childOf(parent: RunView, call: string, task: Task, agent: Agent): Opening {
    const { rights, at } = this.#runs
    const { place, modelFor, limits } = this.#runs.options
    const announce = task.announce ?? (parent.depth === 0 ? place?.() : undefined)
    const { ceiling } = rights.powers(parent)
    return childOf(
      { parent, ceiling, call, task: { ...task, ...(announce && { announce }) }, agent },
      {
        modelFor,
        limits,
        within: (own, behind) => rights.within(parent, own, behind, (run) => at(run)?.deadline?.left()),
      },
    )
  }

  /** Who will do a task, and what hooks want it to know. They cannot keep it from starting. */
  async #expected(parent: RunView, task: Task, signal: AbortSignal): Promise<Expected> {
    const agent = await agentFor(parent, task, this.#runs.options)
    const id = this.#runs.options.newId()
    const looked = task.cache ? await this.#look(parent, task, agent) : undefined
    const expected = { agent, id, ...(looked && { looked }) }
    const hooks = await this.#runs.options.hooksOf?.(agent.name)
    if (!hooks?.has("SubagentStart")) return expected
    const said = await hooks.fire({ event: "SubagentStart", agent: { id, type: agent.name } }, signal)
    const { context, notes } = said
    if (notes.length > 0 || context)
      this.#runs.options.log.emit(parent.id, { type: "hook.ran", event: "SubagentStart", said })
    return { ...expected, ...(context && { context }) }
  }

  /** Only what changes nothing, and knows nothing but its task, can be answered for by an earlier run. */
  async #look(parent: RunView, { context, prompt, model }: Task, agent: Agent): Promise<Looked | undefined> {
    if (!agent.role.readonly)
      throw new Error(`agent ${agent.name} is not read-only, so its answers are not kept: leave cache out`)
    if ((context ?? agent.context ?? "fresh") !== "fresh")
      throw new Error("the answers of agents that know their parent's conversation are not kept: leave cache out")
    return this.#runs.options.cache?.({ agent, prompt, model: this.#runs.options.modelFor(agent, model, parent.model) })
  }
}

async function kept(outcome: Outcome, looked: Looked): Promise<Outcome> {
  // An answer that cannot be kept is one that is looked for again.
  if (outcome.status === "completed") await looked.keep(outcome.text).catch(() => {})
  return outcome
}

const launched = ({ id, agent, label = "subtask" }: RunView): Launched => ({
  status: "async_launched",
  agentId: id,
  agentType: agent,
  label,
})
