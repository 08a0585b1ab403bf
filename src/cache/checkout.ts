import { lstat, realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { readRegular } from "../config/file.ts"
import { mainOf } from "../config/repository.ts"
import { isWithin } from "../core/within.ts"

/** The files that say which commit is checked out where this `.git` lies. Some of them may not be there. */
export async function marksOf(git: string, root: string): Promise<string[]> {
  const places = await placesOf(git, root)
  if (!places) return []
  const { folder, common } = places
  const head = await readRegular(join(folder, "HEAD"), { limit: 4096, within: folder })
  const ref = head.got === "bytes" ? /^ref: (refs\/\S+)/.exec(head.bytes.toString())?.[1] : undefined
  const loose = ref && (await realFile(join(common, ref), common))
  const tables = await Promise.all(
    [folder, common].map((each) => realFile(join(each, "reftable", "tables.list"), common)),
  )
  const refs = [loose ?? join(common, "packed-refs"), ...tables.filter((path) => path !== undefined)]
  return [join(folder, "HEAD"), join(folder, "index"), ...refs]
}

/** `common` is what a worktree's folder lies in: branches are there. */
type Places = { folder: string; common: string }

/** Where the repository keeps them: in this folder, or where a file in its place says. */
async function placesOf(git: string, root: string): Promise<Places | undefined> {
  if ((await lstat(git)).isDirectory()) return { folder: git, common: git }
  const reading = await readRegular(git, { limit: 4096, within: dirname(git) })
  const named = reading.got === "bytes" ? /^gitdir: (.+)/.exec(reading.bytes.toString())?.[1] : undefined
  const folder = named && (await realpath(resolve(dirname(git), named)).catch(() => undefined))
  if (!folder) return undefined
  const common = basename(dirname(folder)) === "worktrees" ? dirname(dirname(folder)) : folder
  // Out of the workspace only where the repository there says that this is a worktree of its own.
  return isWithin(common, root) || (await mainOf(dirname(git))) ? { folder, common } : undefined
}

async function realFile(path: string, within: string): Promise<string | undefined> {
  const reading = await readRegular(path, { limit: 4096, within })
  return reading.got === "bytes" ? reading.path : undefined
}
