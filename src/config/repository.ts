import { lstatSync, realpathSync, statSync } from "node:fs"
import { realpath } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { readRegular } from "./file.ts"

/** The folders from the repository's root down to the working folder; without a repository, just the latter. */
export function foldersDown(cwd: string): [string, ...string[]] {
  const start = realOf(cwd) ?? resolve(cwd)
  const folders: [string, ...string[]] = [start]
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder !== start) folders.unshift(folder)
    if (exists(join(folder, ".git"))) return folders
    if (folder === dirname(folder)) return [start]
  }
}

/** Where a path really leads; nothing if it is not there. */
export function realOf(path: string): string | undefined {
  try {
    // Most places that are looked for are not there, and an error takes longer than a look.
    return statSync(path, { throwIfNoEntry: false }) && realpathSync.native(path)
  } catch {
    return undefined
  }
}

function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}

/** The main folder of the repository that a worktree belongs to; undefined for a folder that is none. */
export async function mainOf(root: string): Promise<string | undefined> {
  const link = join(root, ".git")
  const own = /^gitdir: (.+)$/.exec((await lineOf(link)) ?? "")?.[1]
  const folder = own && (await realpath(resolve(root, own)).catch(() => undefined))
  if (!folder) return undefined
  const [list, git] = [dirname(folder), dirname(dirname(folder))]
  if (basename(list) !== "worktrees" || basename(git) !== ".git") return undefined
  // Any folder can say where it belongs; only the repository itself knows its worktrees.
  const back = await lineOf(join(folder, "gitdir"))
  return back && resolve(folder, back) === link ? dirname(git) : undefined
}

async function lineOf(path: string): Promise<string | undefined> {
  const reading = await readRegular(path, { limit: 4096 })
  return reading.got === "bytes" ? reading.bytes.toString().trimEnd() : undefined
}
