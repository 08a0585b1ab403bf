import { lstatSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { isWithin } from "../core/within.ts"
import { submodules } from "./git.ts"
import { isGuarded } from "./guarded.ts"
import { between } from "./masks.ts"
import type { Place } from "./places.ts"
import { real } from "./real.ts"

/** Names that act when a folder is merely opened or entered: none of them may come into being unseen. */
export const awaited = [".git", ".legwork", ".claude", ".vscode", ".idea", ".husky", ".devcontainer"]

/** What in a writable folder must stay as it is. A mount of its own can neither be written, moved nor replaced. */
export function guards(folder: string): Place[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(
    ({ name }) => isGuarded(name) || awaited.includes(name),
  )
  const link = entries.find((entry) => entry.isSymbolicLink())
  if (link) {
    throw new Error(
      `${join(folder, link.name)} is a link, and nothing can keep a link from being replaced; ` +
        "put the file or folder itself there, or run the command without the fence",
    )
  }
  return [
    ...entries.map(({ name }): Place => ({ path: join(folder, name), look: "read" })),
    ...submodules(folder).flatMap((path) => pinned(folder, join(folder, path))),
  ]
}

/** A submodule's `.git` stays, and so do all folders on the way to it: one that is moved would take it along. */
function pinned(folder: string, module: string): Place[] {
  const git = join(module, ".git")
  if (!isWithin(module, folder) || real(git)[0] !== git || lstatSync(git).isSymbolicLink()) return []
  return [...between(folder, module).map((path): Place => ({ path, look: "write" })), { path: git, look: "read" }]
}
