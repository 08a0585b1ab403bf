import type { RunId } from "../core/event.ts"
import { family, type RunView, type View } from "../core/view.ts"
import type { Working } from "./working.ts"

/** For how long nothing has happened around a run. Waiting for a person, or for a place, is not idleness. */
export function idleFor(view: View, run: RunView, at: (run: RunId) => Working | undefined, now: number): number {
  const members = family(view, run.id).map((id) => view.get(id)!)
  if (members.some(({ calls }) => [...calls.values()].some(({ state }) => state === "asking"))) return 0
  const working = members.flatMap(({ id }) => at(id) ?? [])
  if (working.some(({ queued }) => queued)) return 0
  return now - Math.max(...working.map(({ seen }) => seen))
}
