import { closeSync } from "node:fs"
import { readdir } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import { nearest } from "../core/nearest.ts"
import { isWithin } from "../core/within.ts"
import { openFolder } from "./open.ts"
import { resolved, shown } from "./paths.ts"
import { listFiles } from "./ripgrep.ts"
import type { World } from "./world.ts"

const mostNames = 5

/** What to say of a path where nothing is, with the names that may have been meant. */
export async function missing(world: World, path: string, use: { root: string; signal: AbortSignal }): Promise<Error> {
  const root = resolved(".", use.root)
  const what = `there is nothing at ${shown(path, use.root)}`
  if (!isWithin(path, root)) return new Error(`${what}: check the path`)
  const close = new Set([...(await beside(path)), ...(await namesakes(world, path, { root, signal: use.signal }))])
  const named = [...close].slice(0, mostNames).map((each) => shown(each, use.root))
  return new Error(
    named.length > 0 ? `${what}; did you mean ${named.join(", ")}?` : `${what}: use glob or ls to find it`,
  )
}

/** The entry of the same folder whose name is nearest. */
async function beside(path: string): Promise<string[]> {
  try {
    const folder = await openFolder(dirname(path))
    try {
      const name = nearest(basename(path), await readdir(folder.at(".")))
      return name === undefined ? [] : [join(folder.path, name)]
    } finally {
      closeSync(folder.descriptor)
    }
  } catch {
    return []
  }
}

/** Files of the same name elsewhere in the workspace. A hint only: when the search fails, there is none. */
async function namesakes(world: World, path: string, { root, signal }: { root: string; signal: AbortSignal }) {
  const name = basename(path)
  try {
    const files = await listFiles(world, { folder: root, signal, timeout: 2_000 })
    return files
      .filter((file) => basename(file) === name)
      .sort()
      .map((file) => join(root, file))
  } catch {
    return []
  }
}
