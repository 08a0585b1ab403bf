import { randomUUID } from "node:crypto"
import { lstat, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { readRegular } from "../config/file.ts"
import { hashOf } from "../store/line.ts"
import { privateFile, privateFolder } from "../store/private.ts"

/** Texts by key, a file each. What cannot be read is not there; what cannot be written is not kept. */
type Shelf = { get(key: string): Promise<string | undefined>; put(key: string, text: string): Promise<void> }

export type Bounds = { entries: number; bytes: number; longest: number }

const megabyte = 1024 * 1024
const usual: Bounds = { entries: 500, bytes: 50 * megabyte, longest: megabyte }

export function openShelf(folder: string, now: () => number, bounds: Bounds = usual): Shelf {
  const get = async (key: string): Promise<string | undefined> => {
    const reading = await readRegular(join(folder, key), { limit: bounds.longest })
    return reading.got === "bytes" ? decode(key, reading.bytes.toString()) : undefined
  }

  const put = async (key: string, text: string): Promise<void> => {
    const entry = encode(key, text)
    if (Buffer.byteLength(entry) > bounds.longest) return
    const draft = join(folder, `${key}.${randomUUID()}.new`)
    try {
      await privateFolder(folder)
      // Not synced: an entry that a power cut spoils is known by its sum, and costs no more than one more run.
      await privateFile(draft, entry)
      await rename(draft, join(folder, key))
      await trim(folder, bounds, now())
    } catch {
      await rm(draft, { force: true }).catch(() => {})
    }
  }

  return { get, put }
}

/** The sum is over the key too, so that no entry passes for another. */
const encode = (key: string, text: string): string => {
  const body = JSON.stringify(text)
  return `${hashOf(key + body)}\n${body}`
}

function decode(key: string, entry: string): string | undefined {
  const end = entry.indexOf("\n")
  const body = entry.slice(end + 1)
  if (entry.slice(0, Math.max(end, 0)) !== hashOf(key + body)) return undefined
  const text: unknown = JSON.parse(body)
  return typeof text === "string" ? text : undefined
}

/** Takes the oldest away until the rest is within bounds. Drafts that a crash left behind grow old like all others. */
async function trim(folder: string, { entries, bytes }: Bounds, now: number): Promise<void> {
  const files = await Promise.all((await readdir(folder)).map((name) => fileAt(join(folder, name))))
  // By the distance from now, or a clock that was once ahead would leave files that are never old.
  const distance = ({ time }: File) => Math.abs(now - time)
  const newestFirst = files.filter((file) => file !== undefined).sort((a, b) => distance(a) - distance(b))
  let room = bytes
  const over = newestFirst.filter(({ size }, index) => {
    room -= size
    return index >= entries || room < 0
  })
  await Promise.all(over.map(({ path }) => rm(path, { force: true })))
}

type File = { path: string; size: number; time: number }

/** Undefined if another process has just taken it away. */
async function fileAt(path: string): Promise<File | undefined> {
  try {
    const { size, mtimeMs: time } = await lstat(path)
    return { path, size, time }
  } catch {
    return undefined
  }
}
