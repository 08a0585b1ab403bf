import {
  closeSync,
  constants,
  type Dir,
  fstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs"
import { join, sep } from "node:path"
import { realOf } from "../config/repository.ts"

/** A file that may be an agent's. `stamp` changes when its content may have. */
export type Found = { path: string; real: string; stamp: string }
export type Problem = { path: string; message: string }
export type Search = {
  folder: string
  ending: string
  /** Nothing that really lies elsewhere is read. */
  within?: string
  /** Whether folders whose names begin with a dot are searched too. */
  dots?: true
}

const mostFiles = 5_000
const mostEntries = 50_000
const mostDepth = 16
const mostBytes = 1024 * 1024

type Walk = { search: Search; files: Found[]; problems: Problem[]; seen: Set<string>; entries: number }

/** The agent files below a folder, sorted, those of a folder before those of the folders in it. None if it is not there. */
export function findFiles(search: Search): { files: Found[]; problems: Problem[] } {
  const walk: Walk = { search, files: [], problems: [], seen: new Set(), entries: 0 }
  const real = realOf(search.folder)
  if (real === undefined) return walk
  if (isOutside(real, search.within)) {
    walk.problems.push({ path: search.folder, message: "leads out of the project and is not read; put a folder there" })
    return walk
  }
  visit(walk, { path: search.folder, real }, 0)
  if (isFull(walk))
    walk.problems.push({ path: search.folder, message: `holds more than ${mostFiles} files; the rest is not read` })
  return walk
}

type Spot = { path: string; real: string }

const isFull = ({ files, entries }: Walk): boolean => files.length >= mostFiles || entries >= mostEntries

function visit(walk: Walk, folder: Spot, depth: number): void {
  // A folder that is linked into itself is seen once.
  if (depth > mostDepth || walk.seen.has(folder.real)) return
  walk.seen.add(folder.real)
  const folders: Spot[] = []
  for (const { name, plain } of entriesOf(walk, folder.path)) {
    if (isFull(walk)) return
    const path = join(folder.path, name)
    const real = plain ? join(folder.real, name) : realOf(path)
    if (isWanted(walk.search, name) && look(walk, { path, real: real ?? path }, name))
      folders.push({ path, real: real! })
  }
  for (const each of folders) visit(walk, each, depth + 1)
}

function entriesOf(walk: Walk, folder: string): { name: string; plain: boolean }[] {
  let opened: Dir | undefined
  const entries: { name: string; plain: boolean }[] = []
  try {
    opened = opendirSync(folder, { bufferSize: 256 })
    for (let entry = opened.readSync(); entry && walk.entries < mostEntries; entry = opened.readSync()) {
      walk.entries++
      entries.push({ name: entry.name, plain: entry.isFile() || entry.isDirectory() })
    }
  } catch (error) {
    walk.problems.push({ path: folder, message: cannot(error) })
  } finally {
    opened?.closeSync()
  }
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** Agent files, and whatever may be a folder of them. */
function isWanted({ ending, dots }: Search, name: string): boolean {
  if (name === "node_modules" || name === ".git" || (name.startsWith(".") && !dots)) return false
  return isAgentFile(name, ending) || !/\.\w+$/.test(name.slice(1))
}

const isAgentFile = (name: string, ending: string): boolean => name.toLowerCase().endsWith(ending)

/** Keeps a file, or says that it is a folder to go into. */
function look({ search, files, problems }: Walk, { path, real }: Spot, name: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat?.isDirectory() && !isAgentFile(name, search.ending)) return false
  const message = whyNot(stat, isOutside(real, search.within))
  if (message) problems.push({ path, message })
  else if (stat!.isDirectory()) return true
  else files.push({ path, real, stamp: [stat!.mtimeMs, stat!.ctimeMs, stat!.size, stat!.ino].join() })
  return false
}

function whyNot(stat: ReturnType<typeof statSync>, outside: boolean): string | undefined {
  if (!stat) return "is a link that leads nowhere; take it away"
  if (outside) return "leads out of the project and is not read; put the file itself there"
  if (!stat.isFile() && !stat.isDirectory()) return "is not a regular file and is not read"
  if (stat.isFile() && stat.size > mostBytes) return "is larger than 1 MB and is not read; make it smaller"
  return undefined
}

const isOutside = (real: string, within: string | undefined): boolean =>
  within !== undefined && real !== within && !real.startsWith(within.endsWith(sep) ? within : within + sep)

/** The bytes of a file, or why they cannot be had. Not through a link: whoever found it has followed those. */
export function readFound({ real }: Found, within?: string): Buffer | string {
  let descriptor: number | undefined
  try {
    descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(descriptor)
    // It may have been replaced since it was found.
    if (!stat.isFile()) return "is not a regular file and is not read"
    if (stat.size > mostBytes) return "is larger than 1 MB and is not read; make it smaller"
    if (within && isOutside(openedPath(descriptor, real), within)) return "leads out of the project and is not read"
    const bytes = Buffer.allocUnsafe(stat.size)
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, 0))
  } catch (error) {
    return cannot(error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function openedPath(descriptor: number, real: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    return real
  }
}

const cannot = (error: unknown): string =>
  `cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}); check who may read it`
