import { type createHash, hash, randomUUID } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  type Stats,
} from "node:fs"
import { type FileHandle, open, unlink } from "node:fs/promises"
import { basename, dirname } from "node:path"
import type { Output, Use } from "../agent/scope.ts"
import type { Change } from "../core/access.ts"
import { codeOf } from "../core/error.ts"
import { plainly } from "./errno.ts"
import { makeFolder, type OpenFolder, openFile } from "./open.ts"
import { patiently } from "./patience.ts"

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

/** More than this is not hashed, so it does not count as read and cannot be edited. */
export const mostHashed = 50 * 1024 * 1024

const linux = process.platform === "linux"

export type Version = { bytes: Buffer; hash: string; stats: Stats }

export const hashOf = (bytes: Uint8Array): string => hash("sha256", bytes).slice(0, 32)

export const digest = (hash: ReturnType<typeof createHash>): string => hash.digest("hex").slice(0, 32)

/** A file as it is now, or null when it is not there. */
export async function current(path: string): Promise<Version | null> {
  try {
    const { descriptor, stats } = await openFile(path)
    try {
      if (stats.size > mostHashed) throw new Error(`${path} has ${stats.size} bytes: too large to edit, use bash`)
      const bytes = readFileSync(descriptor)
      return { bytes, hash: hashOf(bytes), stats }
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null
    throw error
  }
}

/** Whether a planned change was made: the file itself tells. */
export async function recall({ path, before, after }: Change): Promise<Output | "again" | undefined> {
  const hash = (await current(path))?.hash ?? null
  if (hash === before) return "again"
  if (hash !== after) return undefined
  return { ok: true, text: `${path} was changed as asked`, touched: [{ did: "wrote", path, hash: after, before }] }
}

/** Lets pass only a version that the run has seen. */
export function mustKnow(path: string, now: Version, use: Use): void {
  const known = use.files.get(path)
  if (known === undefined) throw new Error(`${path} is there already and was not read: read it first, then change it`)
  if (known !== now.hash) throw new Error(changed(path))
  if ((now.stats.mode & 0o222) === 0)
    throw new Error(`${path} is marked read-only: change its mode first if that is meant`)
}

const changed = (path: string): string => `${path} was changed since it was read: read it again, then decide anew`

/** Puts `bytes` where `before` was, whole or not at all, and only if `before` still is what is there. */
export async function replace(path: string, bytes: Buffer, before: Version | null): Promise<void> {
  const folder = await makeFolder(dirname(path)).catch((error) => {
    throw plainly(error, path)
  })
  const temporary = `.legwork-${randomUUID()}.tmp`
  try {
    await fill(folder.at(temporary), bytes, before?.stats)
    swap(folder, { name: basename(path), temporary, before })
    syncFolder(folder.descriptor)
  } catch (error) {
    throw plainly(error, path)
  } finally {
    await unlink(folder.at(temporary)).catch(() => {})
    closeSync(folder.descriptor)
  }
}

/** Some file systems cannot sync a folder; the file itself is safe by then. */
function syncFolder(descriptor: number): void {
  try {
    fsyncSync(descriptor)
  } catch (error) {
    if (codeOf(error) !== "EINVAL" && codeOf(error) !== "EBADF") throw error
  }
}

async function fill(place: string, bytes: Buffer, like: Stats | undefined): Promise<void> {
  const handle = await patiently(() => open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666))
  try {
    if (like) await resemble(handle, like)
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function resemble(handle: FileHandle, like: Stats): Promise<void> {
  const own = await handle.stat()
  // Only the superuser can give a file away; anybody else made this one as theirs.
  if (own.uid !== like.uid || own.gid !== like.gid) await handle.chown(like.uid, like.gid).catch(() => {})
  await handle.chmod(like.mode & 0o7777)
}

type Swap = { name: string; temporary: string; before: Version | null }

/** Synchronous on purpose: between the last look and the rename nothing else in this process can act. */
function swap(folder: OpenFolder, { name, temporary, before }: Swap): void {
  const [from, to] = [folder.at(temporary), folder.at(name)]
  const real = linux ? readlinkSync(`/proc/self/fd/${folder.descriptor}`) : realpathSync(folder.path)
  if (real !== folder.path) throw new Error(`the folder ${folder.path} was moved: nothing was written`)
  if (before === null) appear(from, to, `${folder.path}/${name}`)
  else if (isStill(to, before)) renameSync(from, to)
  else throw new Error(changed(`${folder.path}/${name}`))
}

/** A hard link, unlike a rename, refuses to replace what another process has just made. */
function appear(from: string, to: string, path: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw new Error(`${path} was made by somebody else meanwhile: read it first`)
    if (!noLinks.has(codeOf(error) ?? "")) throw error
    renameSync(from, to)
  }
}

/** What file systems without hard links answer. */
const noLinks = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"])

function isStill(place: string, before: Version): boolean {
  let descriptor: number
  try {
    descriptor = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (["ENOENT", "ELOOP", "ENXIO"].includes(codeOf(error) ?? "")) return false
    throw error
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile() || stats.size !== before.bytes.length) return false
    return hashOf(readFileSync(descriptor)) === before.hash
  } finally {
    closeSync(descriptor)
  }
}
