import { lstat, realpath } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"

/** The folders from the repository's root down to the working folder; without a repository, just the latter. */
export async function foldersDown(cwd: string): Promise<[string, ...string[]]> {
  const start = await realpath(cwd).catch(() => resolve(cwd))
  const folders: [string, ...string[]] = [start]
  for (let folder = start; ; folder = dirname(folder)) {
    if (folder !== start) folders.unshift(folder)
    if (await exists(join(folder, ".git"))) return folders
    if (folder === dirname(folder)) return [start]
  }
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
