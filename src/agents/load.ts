import { relative } from "node:path"
import { foldersDown, realOf } from "../config/repository.ts"
import { decode } from "./decode.ts"
import type { Definition, Diagnostic, Layer } from "./definition.ts"
import { guessed, type Place, projectPlaces, userPlaces } from "./dialects.ts"
import type { Note } from "./entry.ts"
import { type Found, findFiles, readFound, type Search } from "./files.ts"
import { fromFlag } from "./flag.ts"
import { type From, parseAgent } from "./parse.ts"

export type Sources = {
  cwd: string
  env: NodeJS.ProcessEnv
  /** The user's home; absent: no agents of the user. */
  home?: string
  builtIn: readonly Definition[]
  /** Folders of plugins; their agents are called `plugin:name`. */
  plugins?: readonly { name: string; folder: string }[]
  /** What `--agents` says. */
  flag?: string
  /** Later ones win. */
  library?: readonly Definition[]
  /** Whether the user trusts what came with the project. */
  trusted?: boolean
}

export type Loaded = {
  /** Those that count, weakest layer first, then by id. */
  agents: Definition[]
  /** Those that another of the same id stands in front of. */
  shadowed: { definition: Definition; by: Definition }[]
  diagnostics: Diagnostic[]
}

/** What there is on disk now. Only files that have changed are read again; nothing changed gives the same object. */
export type Reload = () => Promise<Loaded>

/** `real`: the file that it really is, whatever links lead there. */
type Candidate = { definition: Definition; folder?: string; real?: string; trusted?: boolean }
type Gathered = { candidates: Candidate[]; diagnostics: Diagnostic[] }
type Kept = { stamp: string; read: Reading }
type Reading = { definition: Definition | null; diagnostics: Diagnostic[] }
type Cache = Map<string, Kept>

/** Every agent there is. */
export async function loadAgents(sources: Sources): Promise<Loaded & { reload: Reload }> {
  const cache: Cache = new Map()
  const said = sources.flag === undefined ? { definitions: [], diagnostics: [] } : fromFlag(sources.flag)
  let last: { gathered: Gathered; loaded: Loaded } | undefined
  const reload: Reload = async () => {
    const gathered = await gather(sources, said, cache)
    if (!last || !isSame(last.gathered, gathered)) last = { gathered, loaded: settle(gathered) }
    return last.loaded
  }
  return { ...(await reload()), reload }
}

/** The agents in one folder of files, of whatever system. */
export async function fromFolder(folder: string): Promise<Loaded> {
  const gathered: Gathered = { candidates: [], diagnostics: [] }
  await addFolder(gathered, { search: { folder, ending: ".md", dots: true }, from: { scope: "flag" } }, new Map())
  return settle(gathered)
}

/** From the strongest to the weakest. */
async function gather(sources: Sources, said: ReturnType<typeof fromFlag>, cache: Cache): Promise<Gathered> {
  const gathered: Gathered = { candidates: [], diagnostics: [...said.diagnostics] }
  const { cwd, env, home, library = [], plugins = [], trusted = false } = sources
  const add = (definitions: readonly Definition[]) => {
    for (const definition of definitions) gathered.candidates.push({ definition })
  }
  add(library.toReversed())
  add(said.definitions)
  const above = foldersDown(cwd)
  const own = home ? userPlaces(home, env) : []
  const theirs = new Set(own.map(({ folder }) => realOf(folder) ?? folder))
  // Who works in the home folder has no project there.
  const project = projectPlaces(above.toReversed()).filter(({ folder }) => !theirs.has(realOf(folder) ?? folder))
  const where = { scope: "project", within: above[0], trusted } as const
  for (const place of project) await addPlace(gathered, place, where, cache)
  for (const place of own) await addPlace(gathered, place, { scope: "user" }, cache)
  for (const { name, folder } of plugins)
    await addFolder(
      gathered,
      { search: { folder, ending: ".md" }, from: { scope: "plugin", dialect: "claude", plugin: name } },
      cache,
    )
  add(sources.builtIn)
  return gathered
}

type Folder = { search: Search; from: Omit<From, "path" | "name">; trusted?: boolean }
type Where = { scope: Layer; within?: string; trusted?: boolean }

const addPlace = (gathered: Gathered, place: Place, where: Where, cache: Cache) =>
  addFolder(
    gathered,
    {
      search: { folder: place.folder, ending: place.ending, ...(where.within && { within: where.within }) },
      from: { scope: where.scope, dialect: place.dialect },
      trusted: where.trusted ?? true,
    },
    cache,
  )

async function addFolder(gathered: Gathered, folder: Folder, cache: Cache): Promise<void> {
  const { search, from, trusted = true } = folder
  const { files, problems } = findFiles(search)
  for (const { path, message } of problems) gathered.diagnostics.push(warning(path, message))
  for (const file of files) {
    const kept = cache.get(file.path)
    const read = kept?.stamp === file.stamp ? kept.read : restricted(await readAgent(file, search, from), trusted)
    cache.set(file.path, { stamp: file.stamp, read })
    if (read.definition)
      gathered.candidates.push({ definition: read.definition, folder: search.folder, real: file.real, trusted })
    gathered.diagnostics.push(...read.diagnostics)
  }
}

async function readAgent(file: Found, search: Search, from: Folder["from"]): Promise<Reading> {
  const bytes = readFound(file, search.within)
  if (typeof bytes === "string") return { definition: null, diagnostics: [warning(file.path, bytes)] }
  const decoded = decode(bytes)
  if (!decoded) return { definition: null, diagnostics: [warning(file.path, "is not text and is not read")] }
  const told: Note[] = decoded.guessed
    ? [{ severity: "warning", line: 1, message: "is not valid UTF-8 and was read as Latin-1; save it as UTF-8" }]
    : []
  // opencode calls an agent by where its file lies.
  const below = relative(search.folder, file.path).replace(/\.md$/i, "")
  const name = (from.dialect ?? guessed(file.path, [])) === "opencode" ? { name: below } : {}
  const definition = await parseAgent(decoded.text, { ...from, ...name, path: file.path }, told)
  return { definition, diagnostics: definition?.diagnostics ?? [] }
}

/** An agent that nobody trusts yet runs no commands of its own. */
function restricted(read: Reading, trusted: boolean): Reading {
  if (trusted || !read.definition) return read
  const { hooks, mcpServers, ...definition } = read.definition
  if (hooks === undefined && mcpServers === undefined) return read
  const message = "its hooks and servers do nothing until the project is trusted; see: legwork trust"
  const told = { severity: "warning", file: definition.source.path ?? "", line: 1, message } as const
  return { definition, diagnostics: [...read.diagnostics, told] }
}

const warning = (file: string, message: string): Diagnostic => ({ severity: "warning", file, line: 1, message })

function isSame(one: Gathered, other: Gathered): boolean {
  return (
    one.candidates.length === other.candidates.length &&
    one.candidates.every(({ definition }, at) => definition === other.candidates[at]!.definition) &&
    JSON.stringify(one.diagnostics) === JSON.stringify(other.diagnostics)
  )
}

const layers: readonly Layer[] = ["built-in", "plugin", "user", "project", "flag", "library"]

/** Of each id the strongest counts. */
function settle({ candidates, diagnostics }: Gathered): Loaded {
  const winners = new Map<string, Candidate>()
  const shadowed: Loaded["shadowed"] = []
  const doubles: Diagnostic[] = []
  const files = new Set<string>()
  for (const candidate of candidates) {
    const { definition, real } = candidate
    // One file that two folders lead to is one agent.
    if (real !== undefined && files.has(real)) continue
    if (real !== undefined) files.add(real)
    const winner = winners.get(definition.id)
    if (!winner) winners.set(definition.id, candidate)
    else {
      shadowed.push({ definition, by: winner.definition })
      doubles.push(...double(candidate, winner))
    }
  }
  const readers = new Set(shadowed.flatMap(({ definition }) => (definition.readonly ? [definition.id] : [])))
  const agents = [...winners.values()].map((winner) => asNarrow(winner, readers)).sort(byLayer)
  return { agents, shadowed, diagnostics: [...diagnostics, ...doubles] }
}

/** Whoever asks for an agent that can only read gets no other one from a project that nobody trusts. */
const asNarrow = ({ definition, trusted = true }: Candidate, readers: Set<string>): Definition =>
  trusted || definition.readonly || !readers.has(definition.id) ? definition : { ...definition, readonly: true }

const byLayer = (one: Definition, other: Definition): number =>
  layers.indexOf(one.source.scope) - layers.indexOf(other.source.scope) ||
  // Built-in agents stand in the order in which they were given.
  (one.source.scope === "built-in" || one.id === other.id ? 0 : one.id < other.id ? -1 : 1)

/** A namesake in a stronger layer or a closer folder is meant; one beside it is probably not. */
function double({ definition, folder }: Candidate, winner: Candidate): Diagnostic[] {
  const { path, scope, lines } = definition.source
  const by = winner.definition.source
  if (scope !== by.scope || path === null || by.path === null) return []
  const severity = folder === winner.folder ? "warning" : "info"
  const message = `another agent named ${definition.id}, in ${by.path}, stands in front of it; rename one of them`
  return [{ severity, file: path, line: lines.name ?? 1, message }]
}
