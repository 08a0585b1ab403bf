import { realpathSync } from "node:fs"

/** Where a path leads, or nothing when it leads nowhere that we can see. */
export function real(path: string): string[] {
  try {
    return [realpathSync.native(path)]
  } catch {
    return []
  }
}

/** A path as it is written and where it leads: a link in what is hidden is hidden too. */
export const both = (path: string): string[] =>
  real(path).flatMap((target) => (target === path ? [path] : [path, target]))
