import { createHash } from "node:crypto"
import { lstatSync, statSync } from "node:fs"
import { basename, dirname, join, relative, resolve } from "node:path"
import { projectPlaces, userPlaces } from "../agents/dialects.ts"
import { findFiles, readFound } from "../agents/files.ts"
import { readRegular } from "../config/file.ts"
import { claudeFolder, projectFiles } from "../config/layers.ts"
import { foldersDown, realOf } from "../config/repository.ts"
import { isWithin } from "../core/within.ts"
import { inAgent, inSettings } from "./commands.ts"
import { namesIn } from "./named.ts"

/** A file that could give power: its path from the root, and that of the folder below which it does. */
export type Claim = { folder: string; path: string; hash: string }

/** The files of a repository that could give power, and a hash of their contents, which is empty without any. */
export type Repository = {
  root: string
  files: Claim[]
  hash: string
  /** The folders looked into, from the root, which is "", down to the working folder. */
  folders: string[]
  /** Why it cannot be trusted as it is; none if it can. */
  problems: { path: string; message: string }[]
}

/** What is the user's own comes with no repository, even where the home folder is one. */
export type User = { home?: string; env?: NodeJS.ProcessEnv }

const mostFiles = 2_000
const mostBytes = 16 * 1024 * 1024
const largest = 1024 * 1024

/** A file, or a folder of agents whose names end so. */
type Candidate = { folder: string; path: string; ending?: string }
type Survey = Pick<Repository, "root" | "files" | "problems"> & { bytes: number; commands: Commands[] }
/** What one file would have run. */
type Commands = Candidate & { said: unknown[] }

/** What came with the project, from the repository's root down to the working folder. */
export async function repositoryAt(cwd: string, user: User = {}): Promise<Repository> {
  const folders = foldersDown(cwd)
  const [root] = folders
  const survey: Survey = { root, files: [], problems: [], bytes: 0, commands: [] }
  const candidates = folders.flatMap(candidatesIn).filter(({ path }) => isThere(path))
  const own = candidates.length > 0 ? ownSpots(user) : []
  for (const candidate of candidates) {
    const { path, ending } = candidate
    if (isFull(survey)) break
    if (own.includes(ending === undefined ? spotOf(path) : realPath(path))) continue
    if (ending === undefined) await addFile(survey, candidate)
    else await addAgents(survey, { ...candidate, ending })
  }
  for (const commands of survey.commands) await addNamed(survey, folders, commands)
  const { files, problems } = survey
  if (isFull(survey))
    problems.push({ path: ".", message: "holds 2,000 files of settings and agents, or 16 MB; take some away" })
  // Most folders have none of these, and are not to wait until hashes can be made.
  const hash = files.length === 0 ? "" : hashOf(JSON.stringify(files.map(({ path, hash }) => [path, hash])))
  return { root, files, hash, folders: folders.map((folder) => relative(root, folder)), problems }
}

const candidatesIn = (folder: string): Candidate[] => [
  ...[...projectFiles.map(({ path }) => path), ".mcp.json"].map((name) => ({ folder, path: join(folder, name) })),
  ...projectPlaces([folder]).map((place) => ({ folder, path: place.folder, ending: place.ending })),
]

function ownSpots({ home, env = {} }: User): string[] {
  if (!home) return []
  const claude = claudeFolder(env, home)
  const settings = claude ? [spotOf(join(claude, "settings.json"))] : []
  return [...settings, ...userPlaces(home, env).map(({ folder }) => realPath(folder))]
}

const isFull = ({ files, bytes }: Survey): boolean => files.length >= mostFiles || bytes >= mostBytes

async function addFile(survey: Survey, { folder, path }: Candidate): Promise<void> {
  const reading = await readRegular(path, { limit: largest, within: survey.root })
  if (reading.got === "nothing") refuse(survey, path, "is a link that leads nowhere; take it away")
  else if (reading.got === "refused") refuse(survey, path, `${reading.why}; put a regular file there`)
  else if (reading.size > largest) refuse(survey, path, "is larger than 1 MB; make it smaller")
  else {
    add(survey, { folder, path }, reading.bytes)
    survey.commands.push({ folder, path, said: inSettings(reading.bytes) })
  }
}

async function addAgents(survey: Survey, { folder, path: place, ending }: Required<Candidate>): Promise<void> {
  const { files, problems } = findFiles({ folder: place, ending, within: survey.root })
  for (const { path, message } of problems) refuse(survey, path, message)
  for (const file of files) {
    if (isFull(survey)) return
    const bytes = readFound(file, survey.root)
    if (typeof bytes === "string") refuse(survey, file.path, bytes)
    else {
      add(survey, { folder, path: file.path }, bytes)
      survey.commands.push({ folder, path: file.path, said: await inAgent(file.path, bytes) })
    }
  }
}

/** Files of the repository that a command names are a part of what was agreed to: they are what is run. */
async function addNamed(survey: Survey, folders: readonly string[], { folder, path, said }: Commands): Promise<void> {
  const names = namesIn(said)
  if (!names) return refuse(survey, path, "has hooks and servers of over 2,000 words; make them shorter")
  for (const base of folders) {
    // Who works further up neither reads the file nor starts there.
    const deeper = base.length > folder.length ? base : folder
    for (const name of names) {
      if (isFull(survey)) return
      // Behind a substitution, what looks like a path from the root of the disk is one from the project's.
      for (const file of new Set([resolve(base, name), join(base, name)]))
        if (isWithin(file, survey.root) && isFile(file)) await addProgram(survey, { folder: deeper, path: file })
    }
  }
}

async function addProgram(survey: Survey, { folder, path }: Candidate): Promise<void> {
  if (survey.files.some((each) => each.path === relative(survey.root, path))) return
  const reading = await readRegular(path, { limit: mostBytes, within: survey.root })
  if (reading.got === "nothing") return
  // What lies elsewhere did not come with the repository; where it is found did.
  if (reading.got === "refused") add(survey, { folder, path }, Buffer.from(`${reading.why}: ${realPath(path)}`))
  else if (reading.size > mostBytes) refuse(survey, path, "is larger than 16 MB and named by a hook; make it smaller")
  else add(survey, { folder, path }, reading.bytes)
}

function add(survey: Survey, { folder, path }: Candidate, bytes: Buffer): void {
  const { root, files } = survey
  survey.bytes += bytes.length
  files.push({ folder: relative(root, folder), path: relative(root, path), hash: hashOf(bytes) })
}

const refuse = ({ root, problems }: Survey, path: string, message: string): void =>
  void problems.push({ path: relative(root, path), message })

export const hashOf = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex")

/** Whatever cannot be looked at is there too: reading it says why. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return true
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false
  } catch {
    return false
  }
}

/** Where a file stands, whatever it leads to. */
const spotOf = (path: string): string => join(realPath(dirname(path)), basename(path))

const realPath = (path: string): string => realOf(path) ?? path
