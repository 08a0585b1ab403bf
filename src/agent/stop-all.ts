import type { RunId } from "../core/event.ts"
import type { Log } from "../core/log.ts"
import { owedBy } from "./delivery.ts"
import type { Stopped } from "./stopped.ts"
import type { Working } from "./working.ts"

/** `meant`: the run that the stop is about; the others end with it. `goesOn`: that one takes up what was said meanwhile. */
type Aim = { meant?: RunId; goesOn?: boolean }

/** Stops runs: all hear of it in the same tick, and none begins anything after that. Resolves when they are at rest. */
export async function stopAll(
  at: (run: RunId) => Working | undefined,
  log: Log,
  runs: readonly RunId[],
  why: Stopped,
  { meant, goesOn = false }: Aim = {},
): Promise<void> {
  const members = runs.flatMap((id) => at(id) ?? [])
  // One that is only just being opened is not at work yet, and must not begin; one at rest may be about to rise.
  const concerned = runs.filter((id) => {
    const working = at(id)
    if (working?.stop.signal.aborted && !(working.goesOn && !goesOn)) return false
    const run = log.view.get(id)!
    return !run.rest || (working && (run.mail.some(({ quiet }) => !quiet) || owedBy(log.view, run)))
  })
  for (const id of concerned) {
    const isMeant = id === meant
    const working = at(id)
    if (working) working.goesOn = isMeant && goesOn
    const how = isMeant ? goesOn && { goesOn: true as const } : { above: true as const }
    log.emit(id, { type: "run.stopped", status: why.status, why: why.message, ...how })
  }
  for (const { stop } of members) stop.abort(why)
  await Promise.all(members.map(({ done }) => done))
}
