import { closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync, realpathSync, type Stats } from "node:fs"
import { basename, dirname, join } from "node:path"
import { codeOf } from "../core/error.ts"
import { plainly } from "./errno.ts"
import { patiently } from "./patience.ts"

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants

export type OpenFile = { descriptor: number; stats: Stats }

/** A folder held open, so that what is done `at` a name in it cannot end up elsewhere, however links move. */
export type OpenFolder = { path: string; descriptor: number; at(name: string): string }

/** Opens the regular file at a resolved path and nothing else: no link, no device, no pipe; it never waits. */
export async function openFile(path: string): Promise<OpenFile> {
  const descriptor = await opened(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (stats.isDirectory()) throw new Error(`${path} is a folder: use ls to see what is in it`)
    if (!stats.isFile()) throw new Error(`${path} is ${kindOf(stats)}, not a regular file: it is not read or written`)
    verify(descriptor, path)
    return { descriptor, stats }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

export async function openFolder(path: string): Promise<OpenFolder> {
  return held(await opened(path, O_RDONLY | O_NOFOLLOW | O_DIRECTORY), path)
}

/** As `openFolder`, and makes what is missing on the way, each within the one above it. */
export async function makeFolder(path: string): Promise<OpenFolder> {
  try {
    return await openFolder(path)
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw error
  }
  const above = await makeFolder(dirname(path))
  try {
    const place = above.at(basename(path))
    makeOne(place)
    return held(await opened(place, O_RDONLY | O_NOFOLLOW | O_DIRECTORY), path)
  } finally {
    closeSync(above.descriptor)
  }
}

function makeOne(place: string): void {
  try {
    mkdirSync(place)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
}

function held(descriptor: number, path: string): OpenFolder {
  try {
    verify(descriptor, path)
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
  const base = process.platform === "linux" ? `/proc/self/fd/${descriptor}` : path
  return { path, descriptor, at: (name) => join(base, name) }
}

/** What was opened must be what was judged. Where the system cannot tell, the path is at least followed again. */
function verify(descriptor: number, path: string): void {
  const real = process.platform === "linux" ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync.native(path)
  if (real !== path) throw new Error(`${path} was moved or replaced while it was being opened: try again`)
}

/** Synchronous but for the wait when the system has no descriptor left: opening a local file takes microseconds. */
async function opened(path: string, flags: number): Promise<number> {
  try {
    return await patiently(async () => openSync(path, flags))
  } catch (error) {
    throw plainly(error, path)
  }
}

function kindOf(stats: Stats): string {
  if (stats.isFIFO()) return "a pipe"
  if (stats.isSocket()) return "a socket"
  return "a device"
}
