import { constants } from "node:fs"
import { lstat, open, readlink, realpath } from "node:fs/promises"
import { isWithin } from "../core/within.ts"

/** `bytes` are at most the limit, `size` is what the file has. `path` is where it really lies. */
export type Reading =
  | { got: "nothing" }
  | { got: "refused"; why: string }
  | { got: "bytes"; bytes: Buffer; size: number; path: string }

/** Reads the beginning of a regular file: never a pipe or a device, and no link that leads out of `within`. */
export async function readRegular(path: string, options: { limit: number; within?: string }): Promise<Reading> {
  try {
    const real = await realpath(path)
    if (options.within && !isWithin(real, options.within)) return { got: "refused", why: "leads out of the project" }
    if (!(await lstat(real)).isFile()) return { got: "refused", why: "is not a regular file" }
    return await readOpened(real, options)
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return { got: "nothing" }
    return { got: "refused", why: `cannot be read (${code})` }
  }
}

async function readOpened(real: string, { limit, within }: { limit: number; within?: string }): Promise<Reading> {
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) return { got: "refused", why: "is not a regular file" }
    // A folder on the way may have become a link since it was resolved.
    const opened = await readlink(`/proc/self/fd/${file.fd}`).catch(() => real)
    if (within && !isWithin(opened, within)) return { got: "refused", why: "leads out of the project" }
    const bytes = Buffer.alloc(Math.min(stat.size, limit))
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    return { got: "bytes", bytes: bytes.subarray(0, bytesRead), size: stat.size, path: real }
  } finally {
    await file.close()
  }
}
