import type { RunId } from "../core/event.ts"
import type { RunView } from "../core/view.ts"
import { Deadline } from "./deadline.ts"
import type { Options } from "./options.ts"
import type { Rights } from "./rights.ts"
import type { Stopped } from "./stopped.ts"
import { timeUp } from "./timed.ts"
import type { Working } from "./working.ts"

type Around = {
  options: Options
  rights: Rights
  /** What is at work in this process. */
  at(run: RunId): Working | undefined
  cancel(why: Stopped): void
}

/** Nobody waits for a child any longer. It may outlast those above it, so it may use no more than they have left. */
export function moveBehind(run: RunView, { options, rights, at, cancel }: Around): void {
  const { log, place, now } = options
  const { id, origin } = run
  const parent = rights.view(origin!.run)
  const timeLeft = (each: RunId) => at(each)?.deadline?.left()
  const limits = rights.within(parent, run.limits, true, timeLeft)
  const announce = parent.depth === 0 ? place?.() : undefined
  log.emit(id, { type: "run.moved", behind: true, limits, ...(announce && { announce }) })
  const ms = Math.min(limits.timeout ?? Number.POSITIVE_INFINITY, timeLeft(id) ?? Number.POSITIVE_INFINITY)
  const working = at(id)
  if (!working || ms === Number.POSITIVE_INFINITY) return
  working.deadline?.stop()
  working.deadline = new Deadline({ ms, now, expire: () => cancel(timeUp()) })
}
