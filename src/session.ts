import { realpath } from "node:fs/promises"
import { homedir } from "node:os"
import { join } from "node:path"
import type { Cache } from "./agent/options.ts"
import type { Question, Reply } from "./agent/permission.ts"
import { Runtime } from "./agent/runtime.ts"
import type { Offer, Tool } from "./agent/scope.ts"
import { main } from "./agents/main.ts"
import { type Given, type Registry, registry } from "./agents/registry.ts"
import { announcement } from "./announcement.ts"
import { type Config, load } from "./config.ts"
import { type Listener, Log } from "./core/log.ts"
import { mainOf } from "./core/view.ts"
import { faceOf, type Session } from "./face.ts"
import { fencing, lazySandbox, warmUp } from "./fencing.ts"
import { folderOf, packageFolders, SessionError, stateFolder } from "./folders.ts"
import { judging } from "./gate.ts"
import { type Holding, holdSession } from "./hold.ts"
import { hooking } from "./hooking.ts"
import { instructions } from "./instructions.ts"
import { limitsOf } from "./limits.ts"
import type { AiSdkModel } from "./model/ai-sdk.ts"
import type { Model } from "./model/model.ts"
import { type Resolver, resolver } from "./model/resolve.ts"
import { modelFor, tuningIn } from "./models.ts"
import { moments } from "./moments.ts"
import { systemPrompt } from "./prompt.ts"
import { masking } from "./secrets.ts"
import type { Server } from "./serve.ts"
import { randomHex } from "./store/random.ts"
import type { Store } from "./store/store.ts"
import { builtIn, type Web } from "./tools/built-in.ts"
import { writeAccess } from "./tools/paths.ts"
import { reportOf } from "./tools/report.ts"
import { ripgrepPath } from "./tools/ripgrep.ts"
import { trustOf } from "./trust.ts"
import { version } from "./version.ts"
import { type Waiting, waiting } from "./waiting.ts"

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
  /** Agents beside those in files: definitions by name, or functions of the settings that return one. */
  agents?: Given
  /** More agents, as JSON text in Claude's form. */
  agentsJson?: string
  /** Tools beside the built-in ones. */
  tools?: Tool[]
  /** Answers questions of permission. Absent, and not `attended`: every question is answered with no. */
  answer?: (question: Question, signal: AbortSignal) => Promise<Reply>
  /** Questions wait until the session's own `answer` is called. */
  attended?: boolean
  /** Whether what came with the project (settings, hooks, agents) may give power. Absent: what `legwork trust` says. */
  trust?: boolean
  store?: Store
  env?: NodeJS.ProcessEnv
  /** Hears what people should know and what stops nothing. */
  warn?: (text: string) => void
  /** Hears every event, from the very first. */
  listen?: Listener
}

/** Opens a new session, or a stored one to go on with. */
export async function open(options: Options = {}): Promise<Session> {
  const { env = process.env, warn = () => {}, store, resume } = options
  const cwd = await folderOf(options.cwd)
  const state = stateFolder(env)
  const trusted = options.trust ?? (await isTrusted(cwd, env, state))
  const config = await load({ cwd, env, home: homedir(), flags: flagsOf(options), trusted })
  for (const { file, key, message } of config.diagnostics) warn([file, key, message].filter(Boolean).join(": "))
  const models = resolver({ config, env, packages: packageFolders(env) })
  // A new session is made only once it is clear that it has a model.
  const model = resume === undefined ? await models.resolve(options.model) : undefined
  const asked = { ...(store && { store }), ...(resume !== undefined && { resume }) }
  const holding = await holdSession({ state, cwd, warn, ...asked })
  try {
    return await begin(options, { env, warn, cwd, config, models, model, state, holding, trusted })
  } catch (error) {
    await holding.held.close()
    await models.close()
    throw error
  }
}

type Beginning = {
  env: NodeJS.ProcessEnv
  warn(text: string): void
  cwd: string
  config: Config
  models: Resolver
  model: Model | undefined
  state: string
  holding: Holding
  trusted: boolean
}

/** Whether what came with the project may give power. What is withheld is said where it is read. */
async function isTrusted(cwd: string, env: NodeJS.ProcessEnv, state: string): Promise<boolean> {
  const found = await trustOf(cwd, { folder: state, env, home: env.HOME || homedir() })
  return found.state === "nothing" || found.state === "trusted"
}

async function begin(options: Options, beginning: Beginning): Promise<Session> {
  const { env, warn, cwd, config, models, state, holding } = beginning
  const { held } = holding
  const log = new Log(held, Date.now, (error) => warn(`a listener failed: ${error}`))
  const refused = log.replay(holding.facts, holding.seq)
  if (refused.length > 0) warn(`${refused.length} stored facts made no sense and were left out`)
  if (options.listen) log.listen(options.listen)

  const before = mainOf(log.view)
  const model = beginning.model ?? (await models.resolve(options.model ?? before?.model))
  const sandbox = lazySandbox(env)
  const agents = await registry({
    cwd,
    env,
    config,
    given: options.agents,
    json: options.agentsJson,
    warn,
    trusted: beginning.trusted,
    canFence: fencing(sandbox, warn),
  })
  // Without a small model or one for plans, these words mean the model of this session.
  models.prefer(model.id)
  const checked = (name: string) => {
    const id = models.idOf(name)
    return id === model.id ? id : models.checked(id)
  }
  const questions = waiting()
  const { text: rules, diagnostics } = await instructions(cwd)
  for (const { file, message } of diagnostics) warn(`${file}: ${message}`)
  const mask = masking(env)
  const world = {
    env,
    keep: (name: string, text: string) => held.keep(name, mask(text)),
    mask,
    readable: [...config.directories.readable, join(state, "sessions", held.header.id)],
    writable: config.directories.writable,
    ripgrep: ripgrepPath,
    fork: config.fork,
    sandbox,
  }
  const own = builtIn({ world, environment: config.environment, web: webOf(config, env) })
  const tools = [...own, ...(await offered(options.tools ?? [], own))]
  const offers = withAgents(tools, agents, config.fork ? "a fork of you, which knows all that you know" : "general")
  const canFence = async () => (await sandbox()).ok
  const writing = (path: string) => writeAccess(world, path, cwd)
  const home = await realpath(env.HOME || homedir()).catch(() => env.HOME || homedir())
  const judged = await judging({ config, view: log.view, root: cwd, home, canFence, writing, warn })
  const session = held.header.id
  const transcript = join(state, "sessions", `${session}.jsonl`)
  const hooksOf = hooking({ config, agents, session, transcript, cwd, env, warn })
  // Whoever serves is made with the runtime, which asks it where results are wanted.
  const served: { by?: Server } = {}
  const runtime = new Runtime({
    log,
    session,
    root: cwd,
    ceiling: () => ({
      tools: offers(),
      ...judged,
      bounds: { depth: config.limits.depth, parallel: config.limits.parallel },
    }),
    agent: async (name) => (name === main.name ? main : agents.find(name)),
    model: async (id) => (id === model.id ? model : models.resolve(id)),
    modelFor: modelFor({ config, checked }),
    system: (agent, about) => systemPrompt(agent, { ...about, cwd, rules }),
    fork: config.fork,
    hooksOf,
    limits: limitsOf(config),
    newId: () => randomHex(4),
    now: () => performance.now(),
    mask,
    ...answering(options, questions),
    tuning: tuningIn(config),
    ...(config.background.after !== undefined && { behindAfter: config.background.after * 1_000 }),
    report: async (result, label) =>
      `Agent ${result.agentId} (${result.agentType}: ${label}):\n\n${await reportOf(result, world)}`,
    cache: lazyCache({ folder: join(state, "cache"), root: cwd, version: `${version}\n${rules}` }),
    announcement,
    place: () => served.by?.place(),
    retry: { times: 1, wait: () => Math.random() * retryWithin },
  })
  warmUp(log, sandbox)
  const mainRun = before?.id ?? runtime.open(main, model.id)
  if (before && before.model !== model.id) log.emit(mainRun, { type: "model.chosen", model: model.id })
  const told = moments({ hooksOf, log, run: mainRun, agent: main.name, resumed: before !== undefined })
  const inside = { log, runtime, agents, questions, held, models, moments: told, served, warn }
  return faceOf({ ...inside, mainRun, model })
}

/** A child whose provider failed for good is asked once more, within so many milliseconds. */
const retryWithin = 2_000

/** Few sessions want an earlier answer. */
function lazyCache(place: { folder: string; root: string; version: string }): Cache {
  let cache: Promise<Cache> | undefined
  return async (asked) => {
    cache ??= import("./cache.ts").then(({ answerCache }) => answerCache(place))
    return (await cache)(asked)
  }
}

const flagsOf = ({ permissionMode, maxTurns }: Options) => ({
  ...(permissionMode && { permissionMode }),
  ...(maxTurns !== undefined && { maxTurns }),
})

const answering = ({ answer, attended }: Options, questions: Waiting) =>
  answer ? { answer } : attended ? { answer: questions.ask } : {}

async function offered(tools: Tool[], own: readonly Offer[]): Promise<Offer[]> {
  const taken = tools.find(({ name }) => own.some((each) => each.name === name))
  if (taken) throw new SessionError(`there is a built-in tool named ${taken.name}: give yours another name`)
  return tools.length > 0 ? tools.map((await import("./agent/offer.ts")).offer) : []
}

/** The tool that starts agents says which there are. The same agents give the same list, made once. */
function withAgents(tools: readonly Offer[], agents: Registry, unnamed: string): () => readonly Offer[] {
  let made: { text: string; tools: readonly Offer[] } | undefined
  return () => {
    const text = agents.listed()
    const about = `Without subagent_type: ${unnamed}. Agents:\n${text}`
    const named = (tool: Offer) =>
      tool.name === "task" ? { ...tool, description: `${tool.description} ${about}` } : tool
    if (made?.text !== text) made = { text, tools: tools.map(named) }
    return made.tools
  }
}

/** The search tool is there only for those who have a key for it. */
function webOf(
  { web }: Config,
  { BRAVE_API_KEY: key, BRAVE_BASE_URL: url = web.searchBaseURL }: NodeJS.ProcessEnv,
): Web {
  return { allowPrivate: web.allowPrivate, ...(key && { search: { key, ...(url && { baseURL: url }) } }) }
}
