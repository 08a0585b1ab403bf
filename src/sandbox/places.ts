import { isWithin } from "../core/within.ts"

/** How a path and all below it look from inside: hidden is private and empty, masked is closed. What nothing is said about is there to be read. */
export type Place = { path: string; look: "hidden" | "masked" | "read" | "write" }

/** How a path looks: the deepest place around it says it, and of two the later one. */
export const lookOf = (path: string, places: readonly Place[]): Place["look"] =>
  places.reduce<Place>((nearest, place) => (closer(place, nearest, path) ? place : nearest), base).look

/** The same places in the order in which they are mounted: each over the one around it, and none without need. */
export function arranged(places: readonly Place[]): Place[] {
  const last = new Map(places.map((place) => [place.path, place]))
  const kept: Place[] = []
  for (const place of [...last.values()].sort((a, b) => a.path.length - b.path.length)) {
    if (lookOf(place.path, kept) !== place.look) kept.push(place)
  }
  return kept
}

const base: Place = { path: "/", look: "read" }

const closer = (place: Place, nearest: Place, path: string): boolean =>
  isWithin(path, place.path) && place.path.length >= nearest.path.length
