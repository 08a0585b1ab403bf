import type { Failure, Status } from "../core/event.ts"

/** Why a run's signal fired. Anything else that fires it counts as cancelled. */
export class Stopped extends Error {
  readonly status: Extract<Status, "cancelled" | "timeout" | "budget">

  constructor(status: Stopped["status"], message: string) {
    super(message)
    this.status = status
  }
}

/** Ends a run, with a reason that a program can read. */
export class Failed extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}
