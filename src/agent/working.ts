import type { Outcome } from "../core/event.ts"
import type { Deadline } from "./deadline.ts"

/** A run at work in this process. `seen` is when anything last happened to it. */
export type Working = {
  stop: AbortController
  done: Promise<Outcome>
  deadline?: Deadline
  seen: number
  queued: boolean
  /** Stopped, it takes up what was said to it meanwhile. */
  goesOn: boolean
  /** A call waits for it, and could go on without. */
  waited: boolean
  memo: object
  /** Resolves when nobody is to wait for it any longer. */
  moved: PromiseWithResolvers<undefined>
}

/** A run that has just been set going. */
export const freshly = (stop: AbortController, now: number, outcome: Outcome): Working => ({
  stop,
  done: Promise.resolve(outcome),
  seen: now,
  queued: false,
  goesOn: false,
  waited: false,
  memo: {},
  moved: Promise.withResolvers(),
})
