import type { Outcome } from "../core/event.ts"

export const codes = {
  done: 0,
  failed: 1,
  usage: 2,
  limit: 53,
  disk: 74,
  timeout: 124,
  interrupted: 130,
  pipe: 141,
} as const

/** What the program's exit says about how a run ended. */
export function exitCode(outcome: Pick<Outcome, "status"> & { error?: { kind: string } }): number {
  switch (outcome.status) {
    case "completed":
      return codes.done
    case "failed":
      return outcome.error?.kind === "store" ? codes.disk : codes.failed
    case "max_turns":
    case "budget":
      return codes.limit
    case "timeout":
      return codes.timeout
    case "cancelled":
      return codes.interrupted
    default:
      return outcome.status satisfies never
  }
}

/** Something that the person at the keyboard can put right; shown without a stack. */
export class UsageError extends Error {
  override readonly name = "UsageError"
}
