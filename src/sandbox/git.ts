import { existsSync, lstatSync, readFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { real } from "./real.ts"

/** What git must see to work in a folder: the whole repository around it, and where a worktree or submodule has its own. */
export function repositoryOf(root: string): string[] {
  const top = topOf(root)
  if (top === undefined) return []
  const git = join(top, ".git")
  return [top, ...(lstatSync(git).isFile() ? linked(git) : [])]
}

function topOf(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder
  return folder === "/" ? undefined : topOf(dirname(folder))
}

/**
 * Where a `.git` that is a file points to. Such a file may come with the folder and name any place,
 * so it is believed only about a place inside another repository's `.git` that names this folder in turn.
 */
function linked(file: string): string[] {
  const [, target] = /^gitdir: (.+)$/m.exec(text(file)) ?? []
  const [folder] = target ? real(resolve(dirname(file), target)) : []
  if (!folder || !existsSync(join(folder, "HEAD"))) return []
  const parent = dirname(folder)
  const leadsTo = (back: string | undefined): string | undefined => (back ? real(resolve(folder, back))[0] : undefined)
  if (basename(parent) === "worktrees") {
    const common = dirname(parent)
    const isOwn = leadsTo(text(join(folder, "gitdir")).trim()) === file
    return isOwn && existsSync(join(common, "HEAD")) && existsSync(join(common, "objects")) ? [common] : []
  }
  const [, worktree] = /^\s*worktree\s*=\s*"?(.+?)"?\s*$/m.exec(text(join(folder, "config"))) ?? []
  const isOwn = leadsTo(worktree) === dirname(file)
  return isOwn && folder.includes("/.git/modules/") && existsSync(join(folder, "objects")) ? [folder] : []
}

/** Where the submodules of a repository are, as it says itself. */
export const submodules = (top: string): string[] =>
  [...text(join(top, ".gitmodules")).matchAll(/^\s*path\s*=\s*"?(.+?)"?\s*$/gm)].map(([, path]) => path!)

function text(file: string): string {
  try {
    return readFileSync(file, "utf8")
  } catch {
    return ""
  }
}
