import { printable } from "../../core/one-line.ts"
import { listFiles, ripgrepPath } from "../../tools/ripgrep.ts"
import { nowhere } from "../../tools/world.ts"

/** Milliseconds; where listing takes longer, files are typed by hand. */
const patience = 5_000

/** The files of a folder, without those that git ignores, by path from it. */
export const filesBelow =
  (folder: string, { env, signal }: { env: NodeJS.ProcessEnv; signal: AbortSignal }): (() => Promise<string[]>) =>
  () =>
    listFiles({ ...nowhere, env, ripgrep: ripgrepPath }, { folder, signal, timeout: patience })

type Listing = {
  list(): Promise<readonly string[]>
  now(): number
  /** For so long one listing counts, in milliseconds. */
  fresh?: number
  most?: number
}

/** The files of a folder, listed again only after some seconds: the upper ones first, and of very many not all. */
export function listing({ list, now, fresh = 10_000, most = 20_000 }: Listing): () => Promise<readonly string[]> {
  let last: { at: number; files: Promise<readonly string[]> } | undefined
  return () => {
    if (last && now() - last.at < fresh) return last.files
    const files = list().then((paths) => upperFirst(paths.filter(isNameable)).slice(0, most))
    last = { at: now(), files }
    return files
  }
}

/** Whether a path can be typed: nothing in it steers the terminal, and no quote ends it early. */
const isNameable = (path: string): boolean => printable(path) === path && !/["\n\t]/.test(path)

/** Each path is measured once: there may be very many. */
function upperFirst(paths: readonly string[]): string[] {
  const measured = paths.map((path) => ({ path, depth: path.split("/").length }))
  measured.sort((one, other) => one.depth - other.depth || (one.path < other.path ? -1 : 1))
  return measured.map(({ path }) => path)
}
