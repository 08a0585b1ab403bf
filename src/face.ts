import type { Prompt } from "./agent/options.ts"
import type { Question, Reply } from "./agent/permission.ts"
import type { Reach } from "./agent/reach.ts"
import type { Runtime } from "./agent/runtime.ts"
import type { Task, TaskResult } from "./agent/scope.ts"
import type { Diagnostic } from "./agents/definition.ts"
import type { AgentRow, Given, Registry } from "./agents/registry.ts"
import { type Bus, busOf } from "./bus.ts"
import { reasonOf } from "./core/error.ts"
import type { Event, Outcome, Place, RunId } from "./core/event.ts"
import type { Listener, Log } from "./core/log.ts"
import type { Image } from "./core/message.ts"
import { type Progress, progressOf } from "./core/progress.ts"
import { lineage, type View } from "./core/view.ts"
import { SessionError } from "./folders.ts"
import type { Model } from "./model/model.ts"
import type { Resolver } from "./model/resolve.ts"
import type { Moments } from "./moments.ts"
import { checkPlace } from "./posting.ts"
import { type Report, reporting } from "./report.ts"
import { countIn } from "./running.ts"
import { type Server, serverOf } from "./serve.ts"
import { randomHex } from "./store/random.ts"
import type { Held } from "./store/store.ts"
import { streamOf } from "./stream.ts"
import type { Waiting } from "./waiting.ts"

export type Session = {
  id: string
  /** The main run. */
  main: RunId
  /** The id of the model that the main run uses. */
  readonly model: string
  /** How much that model can hold. */
  capacity(): Pick<Model, "window" | "maxTokens">
  /** Names of models that can be used with what is set now. */
  models(): string[]
  /** From the next answer on the main run uses this model. Resolves to its id; rejects with words that say what to set. */
  useModel(name: string): Promise<string>
  /** Makes the main run's conversation shorter now. False if nothing of it could be. */
  compact(): Promise<boolean>
  agents(): AgentRow[]
  /** What is wrong with the files of agents. */
  diagnostics(): Diagnostic[]
  view: View
  /** `drain`: waits also for all that works behind, and for what the main run then has to say. */
  prompt(text: string, options?: { images?: Image[]; drain?: boolean }): Promise<Report>
  /** Goes on with whatever a crash left unfinished. */
  proceed(): Promise<Report>
  /** Resolves when nothing is at work any more and all results were heard. */
  drain(): Promise<Report>
  /** Hands work to an agent and waits for its result, as the task tool does. Rejects only if it cannot be begun. */
  task(task: Task): Promise<TaskResult>
  /** The same without waiting. The result is announced on the bus, for the place that it came from. */
  spawn(task: string, options?: Spawn): Promise<RunId>
  /** How far a run is: what it is about, its current tool, its numbers, how long nothing has happened. */
  progress(run: RunId): Progress
  /** The same, whenever something happens to the run or to one below it. Returns what ends it. */
  onProgress(run: RunId, listener: (progress: Progress) => void): () => void
  /** Steers a run between two turns; one at rest goes on with it. */
  tell(run: RunId, text: string): "heard" | "resumed"
  /** Nobody waits for this child any longer; its result is sent to its parent. False if no call waited for it. */
  sendBehind(run: RunId): boolean
  /** Children at work, or waiting for a place. */
  runningCount(): number
  /** Stored messages between the session and the world outside. */
  bus: Bus
  /** Answers what comes in on the bus, one after the other, where it came from. Ends when the session or the signal does. */
  serve(options?: { signal?: AbortSignal }): Promise<void>
  /** Adds an agent, or puts another in the place of one of this name. */
  register(agents: Given): void
  /** Everything that happens from now on. */
  events(): AsyncIterable<Event>
  /** The same, at once and in the same tick. Returns what ends it. */
  listen(listener: Listener): () => void
  /** Stops a run, the main one if none is named, and what it set going: everything, unless `reach` says less. */
  cancel(run?: RunId, options?: { reach?: Reach }): Promise<void>
  /** Answers a question that waits. False if there is no such question. */
  answer(question: Pick<Question, "run" | "call">, reply: Reply): boolean
  /** Resolves when all that has happened so far is safe on disk. */
  synced(): Promise<void>
  /** Ends all that is at work, as it stands: opened again, the session goes on with it. */
  close(): Promise<void>
}

/** How work is done that nobody waits for. `timeout` in seconds; turns are 15 unless the agent says otherwise. */
export type Spawn = Pick<Task, "label" | "agent" | "model" | "priority" | "cache" | "share"> &
  Partial<Place> & { timeout?: number }

type Inside = {
  log: Log
  runtime: Runtime
  agents: Registry
  questions: Waiting
  held: Held
  models: Resolver
  moments: Moments
  /** Told who serves, before anything is asked. */
  served: { by?: Server }
  warn(text: string): void
  mainRun: RunId
  model: Model
}

/** What programs see of a session. */
export function faceOf(inside: Inside): Session {
  const { log, runtime, agents, questions, held, models, moments, served, warn, mainRun } = inside
  let { model } = inside
  const streams = new Set<() => void>()
  const closing = new AbortController()
  /** Ends what hooks still have to say to a prompt. */
  let stopping = new AbortController()
  const reported = async (work: () => Promise<Outcome>): Promise<Report> => {
    await agents.look()
    const { report, stop } = reporting(log, mainRun, () => performance.now())
    try {
      return report(held.header.id, await work())
    } finally {
      stop()
    }
  }
  let taken: Promise<void> | undefined
  /** Once, with whatever comes first: what was unfinished when the session was opened goes on. */
  const takeUp = () => {
    taken ??= runtime.resume().catch((error) => warn(reasonOf(error)))
    return taken
  }
  /** The user's words with what hooks add to them go to the main run; or nothing does, if one refuses them. */
  const told = async (text: string, more: Omit<Prompt, "text">): Promise<{ done: Outcome } | { refused: Outcome }> => {
    stopping = new AbortController()
    const said = await moments.prompt(text, AbortSignal.any([closing.signal, stopping.signal]))
    if ("refused" in said) return said
    void takeUp()
    return { done: await runtime.prompt(mainRun, { text: withMentions(said.text, agents), ...more }) }
  }
  const bus = busOf({ log, main: mainRun, newId: () => randomHex(8) })
  const server = serverOf({
    log,
    main: mainRun,
    bus,
    warn,
    async prompt(text, { key, by }) {
      await agents.look()
      const isOld = by === "system" || log.view.get(mainRun)?.heard.has(key)
      if (isOld) return runtime.prompt(mainRun, { text, key })
      const said = await told(text, { key })
      return "refused" in said ? said.refused : said.done
    },
  })
  served.by = server
  const countOut = countIn(() => runtime.running())
  /** How the main run rests when nothing works any more that could wake it. */
  const drained = async (): Promise<Outcome> => {
    await runtime.idle()
    return runtime.wake(mainRun)
  }
  return {
    id: held.header.id,
    main: mainRun,
    get model() {
      return model.id
    },
    capacity: () => model,
    models: () => models.known(),
    async useModel(name) {
      model = await models.resolve(name)
      models.prefer(model.id)
      log.emit(mainRun, { type: "model.chosen", model: model.id })
      return model.id
    },
    compact: () => runtime.compact(mainRun),
    agents: () => agents.overview().agents,
    diagnostics: () => agents.overview().diagnostics,
    view: log.view,
    prompt: (text, { images, drain } = {}) =>
      reported(async () => {
        const said = await told(text, images ? { images } : {})
        if ("refused" in said) return said.refused
        if (!drain || said.done.status === "cancelled") return said.done
        await taken
        return drained()
      }),
    drain: () => reported(drained),
    proceed: () =>
      reported(async () => {
        await moments.begin(closing.signal)
        await takeUp()
        return drained()
      }),
    task: (task) => runtime.finish(mainRun, `program-${randomHex(8)}`, task, closing.signal),
    spawn: (task, options) => spawn(runtime, mainRun, task, options, closing.signal),
    progress: (run) => progressIn(log.view, run),
    onProgress: (run, listener) =>
      log.listen(({ run: id }, view) => {
        const above = view.get(id)
        if (above && lineage(view, above).some((each) => each.id === run)) listener(progressIn(view, run))
      }),
    tell: (run, text) => runtime.tell(run, { text }),
    sendBehind: (run) => runtime.sendBehind(run),
    runningCount: () => runtime.running(),
    bus,
    serve(options) {
      void takeUp()
      return server.serve(options)
    },
    register: (given) => agents.register(given),
    events() {
      const { events, close } = streamOf(log, () => streams.delete(close))
      if (closing.signal.aborted) close()
      else streams.add(close)
      return events
    },
    listen: (listener) => log.listen(listener),
    cancel(run = mainRun, { reach } = {}) {
      if (run === mainRun) stopping.abort()
      return runtime.cancel(run, undefined, reach)
    },
    answer: questions.answer,
    synced: () => log.synced(),
    async close() {
      closing.abort(new SessionError("the session is closed; open it again to go on"))
      try {
        countOut()
        bus.close()
        await runtime.close()
        await moments.end()
      } finally {
        for (const close of streams) close()
        await held.close().finally(() => models.close())
      }
    },
  }
}

function progressIn(view: View, run: RunId): Progress {
  const found = view.get(run)
  if (!found) throw new SessionError(`there is no run ${run} in this session`)
  return progressOf(view, found, Date.now())
}

/** Turns of work that nobody waits for, where its agent says nothing of them. */
const spawnTurns = 15

/** Work that nobody waits for. Its result is announced at the place that it came from. */
async function spawn(
  runtime: Runtime,
  main: RunId,
  prompt: string,
  { channel = "cli", chatId = "direct", timeout, ...how }: Spawn = {},
  signal: AbortSignal,
): Promise<RunId> {
  checkPlace({ channel, chatId })
  const task: Task = {
    prompt,
    ...how,
    background: true,
    announce: { channel, chatId },
    defaults: { turns: spawnTurns },
    ...(timeout !== undefined && { limits: { timeout: timeout * 1_000 } }),
  }
  return (await runtime.task(main, `spawn-${randomHex(8)}`, task, signal)).agentId
}

/** Whoever writes `@name` wants that agent and no other. */
function withMentions(text: string, agents: Registry): string {
  const named = agents.mentioned(text)
  return named.length === 0
    ? text
    : `${text}\n\n(The user asks for ${named.join(" and ")} by name: hand the work over with the task tool.)`
}
