import type { RunId } from "../core/event.ts"
import { family, type View } from "../core/view.ts"

/**
 * How far a stop goes. `turn`: what a run does now, with all that it waits for; what was said to it meanwhile it then
 * takes up. `run`: the same, and it rests until it is woken. `family`: also those that work behind it.
 */
export type Reach = "turn" | "run" | "family"

/** The runs that a stop concerns. */
export function reached(view: View, run: RunId, reach: Reach): RunId[] {
  if (reach === "family") return family(view, run)
  const children = [...(view.get(run)?.children.values() ?? [])]
  const waitedFor = children.filter((child) => view.get(child)?.behind === false)
  return [run, ...waitedFor.flatMap((child) => family(view, child))]
}
