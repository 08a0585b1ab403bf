import { randomBytes } from "node:crypto"
import { homedir, platform } from "node:os"
import { join } from "node:path"
import { gateFor } from "./agent/permit.ts"
import { type Question, type Reply, Runtime } from "./agent/runtime.ts"
import type { Agent, Offer, Tool } from "./agent/scope.ts"
import { main } from "./agents/main.ts"
import { type Config, load } from "./config.ts"
import type { Event, Outcome, RunId } from "./core/event.ts"
import { type Listener, Log } from "./core/log.ts"
import type { Image } from "./core/message.ts"
import type { View } from "./core/view.ts"
import { folderOf, packageFolders, SessionError, stateFolder } from "./folders.ts"
import { instructions } from "./instructions.ts"
import type { AiSdkModel } from "./model/ai-sdk.ts"
import type { Model } from "./model/model.ts"
import { resolver } from "./model/resolve.ts"
import { type Report, reporting } from "./report.ts"
import { jsonl } from "./store/jsonl.ts"
import type { Held, Store } from "./store/store.ts"
import { streamOf } from "./stream.ts"
import { builtIn, type Web } from "./tools/built-in.ts"
import { ripgrepPath } from "./tools/ripgrep.ts"
import { version } from "./version.ts"

export type Options = {
  /** The folder to work in; the process's own if absent. */
  cwd?: string
  /** `provider/name`, an alias, or a model object. Absent: from settings, else by the keys that are set. */
  model?: string | Model | AiSdkModel
  /** `default`, `acceptEdits`, `plan` or `bypass`. */
  permissionMode?: string
  maxTurns?: number | string
  /** The id of a stored session to go on with. */
  resume?: string
  /** Tools beside the built-in ones. */
  tools?: Tool[]
  /** Answers questions of permission. Absent, and not `attended`: every question is answered with no. */
  answer?: (question: Question, signal: AbortSignal) => Promise<Reply>
  /** Questions wait until the session's own `answer` is called. */
  attended?: boolean
  store?: Store
  env?: NodeJS.ProcessEnv
  /** Hears what people should know and what stops nothing. */
  warn?: (text: string) => void
  /** Hears every event, from the very first. */
  listen?: Listener
}

export type Session = {
  id: string
  /** The main run. */
  main: RunId
  /** The id of the model that the main run uses. */
  model: string
  view: View
  prompt(text: string, options?: { images?: Image[] }): Promise<Report>
  /** Goes on with whatever a crash left unfinished. */
  proceed(): Promise<Report>
  /** Everything that happens from now on. */
  events(): AsyncIterable<Event>
  /** The same, at once and in the same tick. Returns what ends it. */
  listen(listener: Listener): () => void
  cancel(run?: RunId): Promise<void>
  /** Answers a question that waits. False if there is no such question. */
  answer(question: Pick<Question, "run" | "call">, reply: Reply): boolean
  /** Resolves when all that has happened so far is safe on disk. */
  synced(): Promise<void>
  close(): Promise<void>
}

/** Opens a new session, or a stored one to go on with. */
export async function open(options: Options = {}): Promise<Session> {
  const { env = process.env, warn = () => {} } = options
  const cwd = await folderOf(options.cwd ?? process.cwd())
  const config = await load({ cwd, env, home: homedir(), flags: flagsOf(options) })
  for (const { file, key, message } of config.diagnostics) warn([file, key, message].filter(Boolean).join(": "))
  const models = resolver({ config, env, packages: packageFolders(env) })
  const model = await models.resolve(options.model)
  const state = stateFolder(env)
  const { held, facts } = await holdSession(options, state, cwd, warn)
  const log = new Log(held, Date.now, (error) => warn(`a listener failed: ${error}`))
  const refused = log.replay(facts)
  if (refused.length > 0) warn(`${refused.length} stored facts made no sense and were left out`)

  if (options.listen) log.listen(options.listen)

  const waiting = new Map<string, (reply: Reply) => void>()
  const answer = options.answer ?? (options.attended ? waitIn(waiting) : undefined)
  const { text: rules, diagnostics } = await instructions(cwd)
  for (const { file, message } of diagnostics) warn(`${file}: ${message}`)
  const own = join(state, "sessions", held.header.id)
  const world = {
    env,
    keep: held.keep,
    readable: [...config.directories.readable, own],
    writable: config.directories.writable,
    ripgrep: ripgrepPath,
  }
  const tools = [
    ...builtIn({ world, environment: config.environment, web: webOf(config, env) }),
    ...(await offered(options.tools ?? [])),
  ]
  const runtime = new Runtime({
    log,
    session: held.header.id,
    root: cwd,
    agents: [main],
    ceiling: { tools, gate: gateFor(config.permissionMode), limits: config.limits },
    model: async (id) => (id === model.id ? model : models.resolve(id)),
    system: (agent) => systemPrompt(agent, cwd, rules),
    newId: () => randomBytes(4).toString("hex"),
    now: () => performance.now(),
    ...(answer && { answer }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.effort && { effort: config.effort }),
  })
  const mainRun = [...log.view.values()].find(({ depth }) => depth === 0)?.id ?? runtime.open("main", model.id)
  const streams = new Set<() => void>()

  const reported = async (work: () => Promise<Outcome>): Promise<Report> => {
    const report = reporting(log, mainRun, () => performance.now())
    return report(held.header.id, await work())
  }
  return {
    id: held.header.id,
    main: mainRun,
    model: model.id,
    view: log.view,
    prompt: (text, { images } = {}) => reported(() => runtime.prompt(mainRun, { text, ...(images && { images }) })),
    proceed: () =>
      reported(async () => {
        await runtime.resume()
        return runtime.wake(mainRun)
      }),
    events() {
      const { events, close } = streamOf(log)
      streams.add(close)
      return events
    },
    listen: (listener) => log.listen(listener),
    cancel: (run = mainRun) => runtime.cancel(run),
    answer({ run, call }, reply) {
      const settle = waiting.get(`${run}/${call}`)
      settle?.(reply)
      return settle !== undefined
    },
    synced: () => log.synced(),
    async close() {
      await runtime.cancel(mainRun)
      for (const close of streams) close()
      await held.close()
      await models.close()
    },
  }
}

const flagsOf = ({ permissionMode, maxTurns }: Options) => ({
  ...(permissionMode && { permissionMode }),
  ...(maxTurns !== undefined && { maxTurns }),
})

async function offered(tools: Tool[]): Promise<Offer[]> {
  return tools.length > 0 ? tools.map((await import("./agent/offer.ts")).offer) : []
}

/** The search tool is there only for those who have a key for it. */
const webOf = (
  { web }: Config,
  { BRAVE_API_KEY: key, BRAVE_BASE_URL: url = web.searchBaseURL }: NodeJS.ProcessEnv,
): Web => ({
  allowPrivate: web.allowPrivate,
  ...(key && { search: { key, ...(url && { baseURL: url }) } }),
})

type Holding = { held: Held; facts: Parameters<Log["replay"]>[0] }

async function holdSession(
  options: Options,
  state: string,
  cwd: string,
  warn: (text: string) => void,
): Promise<Holding> {
  const store = options.store ?? jsonl({ folder: state })
  if (options.resume !== undefined) {
    const { held, stored } = await store.hold(options.resume)
    if (held.header.cwd !== cwd) {
      await held.close()
      throw new SessionError(`session ${options.resume} belongs to ${held.header.cwd}; go there, or name it with --cwd`)
    }
    for (const loss of stored.lost) warn(`session ${options.resume}: ${loss}`)
    return { held, facts: stored.facts }
  }
  const header = { legwork: 1, id: newSessionId(), cwd, at: Date.now(), version } as const
  try {
    return { held: await store.create(header), facts: [] }
  } catch (error) {
    if (options.store) throw error
    warn(`this session will not be kept: ${error instanceof Error ? error.message : error}`)
    const { memory } = await import("./store/memory.ts")
    return { held: await memory().create(header), facts: [] }
  }
}

/** Sorts by time, and cannot be guessed. */
function newSessionId(): string {
  const time = new Date()
    .toISOString()
    .replaceAll(/[-:]|\..*/g, "")
    .replace("T", "-")
  return `${time}-${randomBytes(8).toString("hex")}`
}

const waitIn =
  (waiting: Map<string, (reply: Reply) => void>) =>
  ({ run, call }: Question, signal: AbortSignal): Promise<Reply> => {
    const { promise, resolve: settle, reject } = Promise.withResolvers<Reply>()
    const key = `${run}/${call}`
    const stop = () => reject(signal.reason)
    waiting.set(key, settle)
    signal.addEventListener("abort", stop, { once: true })
    return promise.finally(() => {
      signal.removeEventListener("abort", stop)
      waiting.delete(key)
    })
  }

function systemPrompt(agent: Agent, cwd: string, rules: string): string {
  const place = `Working folder: ${cwd}\nPlatform: ${platform()}\nDate: ${new Date().toISOString().slice(0, 10)}`
  return [agent.prompt, place, rules].filter(Boolean).join("\n\n")
}
