import { reasonOf } from "../core/error.ts"
import type { Outcome } from "../core/event.ts"

/** An outcome once it is safe on disk; one that cannot be stored is a failure. */
export async function stored(outcome: Outcome, synced: () => Promise<void>): Promise<Outcome> {
  try {
    await synced()
    return outcome
  } catch (error) {
    return { status: "failed", text: outcome.text, error: { kind: "store", message: reasonOf(error) } }
  }
}
