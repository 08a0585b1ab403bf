import { createHash, type Hash } from "node:crypto"
import type { BigIntStats } from "node:fs"
import { lstat, opendir, readlink } from "node:fs/promises"
import { basename, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { foldersDown } from "../config/repository.ts"
import { codeOf } from "../core/error.ts"
import { marksOf } from "./checkout.ts"

const most = 200_000
const atOnce = 64

/**
 * A hash that is another one after any change of a file below `root`. Undefined if nobody can tell: there are too many
 * files, one cannot be looked at, or they are being changed right now.
 */
export async function stateOf(root: string, now: () => number, limit = most): Promise<string | undefined> {
  try {
    const first = await survey(root, now(), limit)
    if (isSettled(first)) return first.state
    // A little longer than a tick: timers and clocks are rounded.
    await wait(Number(tickOf(first.newest) / million) + 5)
    const second = await survey(root, now(), limit)
    return isSettled(second) ? second.state : undefined
  } catch {
    return undefined
  }
}

/** `newest`: when the last of the files was changed; in nanoseconds, as is `begun`. */
type Survey = { state: string; begun: bigint; newest: bigint }

/** Two changes within one tick of the file system's clock look like one: a file that new may change and look the same. */
const isSettled = ({ begun, newest }: Survey): boolean => newest + tickOf(newest) < begun

const million = 1_000_000n

/** Systems count in steps of up to 10 ms; a file system that knows only whole seconds, in steps of up to two. */
const tickOf = (time: bigint): bigint => (time % (1000n * million) === 0n ? 2000n * million : 20n * million)

/** Names need not be text: a path has a character for each byte. */
type Path = string
const pathOf = (text: string): Path => Buffer.from(text).toString("latin1")
const bytesOf = (path: Path): Buffer => Buffer.from(path, "latin1")

type Walk = { root: string; hash: Hash; newest: bigint; left: number; folders: Path[] }

async function survey(root: string, now: number, limit: number): Promise<Survey> {
  const begun = BigInt(Math.trunc(now)) * million
  const walk: Walk = { root, hash: createHash("sha256"), newest: 0n, left: limit, folders: [pathOf(root)] }
  for (let folder = walk.folders.pop(); folder !== undefined; folder = walk.folders.pop()) await list(walk, folder)
  const [top] = foldersDown(root)
  if (top !== root) await addMarks(walk, pathOf(join(top, ".git")))
  return { state: walk.hash.digest("hex"), begun, newest: walk.newest }
}

async function list(walk: Walk, folder: Path): Promise<void> {
  const names = await namesIn(folder, walk.left)
  walk.left -= names.length
  // Packages are put there whole: the folder of each is looked at, but not into.
  const whole = basename(folder) === "node_modules" && folder !== pathOf(walk.root)
  for (let at = 0; at < names.length; at += atOnce) {
    const paths = names.slice(at, at + atOnce).map((name) => `${folder}/${name}`)
    const entries = await Promise.all(paths.map(entryAt))
    for (const entry of entries) {
      const isFolder = entry.stat.isDirectory()
      add(walk, entry, isFolder && !whole)
      if (basename(entry.path) === ".git") await addMarks(walk, entry.path)
      else if (isFolder && !whole) walk.folders.push(entry.path)
    }
  }
}

async function namesIn(folder: Path, limit: number): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(bytesOf(folder), { encoding: "latin1", bufferSize: 1024 })) {
    if (names.length === limit) throw new Error("there are too many files to look at")
    names.push(name)
  }
  return names.sort()
}

type Entry = { path: Path; stat: BigIntStats; target?: string }

async function entryAt(path: Path): Promise<Entry> {
  const stat = await lstat(bytesOf(path), { bigint: true })
  return stat.isSymbolicLink() ? { path, stat, target: await readlink(bytesOf(path), "latin1") } : { path, stat }
}

/** Of a link counts where it leads, and of a folder that is looked into nothing but its name and mode. */
function add(walk: Walk, { path, stat, target }: Entry, open: boolean): void {
  const { mode, size, mtimeNs, ctimeNs, ino } = stat
  const content = open ? "" : target !== undefined ? JSON.stringify(target) : `${size} ${mtimeNs} ${ctimeNs} ${ino}`
  walk.hash.update(`${JSON.stringify(path)} ${mode} ${content}\n`)
  if (!open && target === undefined && ctimeNs > walk.newest) walk.newest = ctimeNs
}

async function addMarks(walk: Walk, git: Path): Promise<void> {
  for (const mark of await marksOf(bytesOf(git).toString(), walk.root)) {
    const entry = await entryAt(pathOf(mark)).catch((error) => {
      if (codeOf(error) !== "ENOENT") throw error
    })
    if (entry) add(walk, entry, false)
  }
}
