import { dirname } from "node:path"
import { isWithin } from "../core/within.ts"
import { lookOf, type Place } from "./places.ts"

type Mounts = { places: readonly Place[]; kept: readonly Place[]; writable: readonly string[] }

/**
 * What is mounted over the places, parents first: what is kept as it is, what is masked, and every writable folder on
 * the way to that: one that is moved would carry it to another name.
 */
export function masked(paths: readonly string[], { places, kept, writable }: Mounts): Place[] {
  const shown = paths.filter((path) => lookOf(path, places) !== "hidden")
  if (shown.length === 0) return [...kept]
  const around = [...places, ...kept]
  const pins = shown
    .flatMap((path) => writable.flatMap((folder) => between(folder, dirname(path))))
    .filter((path) => lookOf(path, around) === "write")
  const all = [...look("write", pins), ...kept, ...look("masked", shown)]
  const last = [...new Map(all.map((place) => [place.path, place])).values()]
  return last
    .filter(({ path }) => !shown.some((mask) => mask !== path && isWithin(path, mask)))
    .sort((a, b) => a.path.length - b.path.length)
}

/** The folders from one down to another, without the first. */
export const between = (folder: string, path: string): string[] =>
  path === folder || !isWithin(path, folder) ? [] : [...between(folder, dirname(path)), path]

const look = (how: Place["look"], paths: readonly string[]): Place[] => paths.map((path) => ({ path, look: how }))
