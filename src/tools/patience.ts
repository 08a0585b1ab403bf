import { setTimeout } from "node:timers/promises"
import { codeOf } from "../core/error.ts"

const passing = new Set(["EMFILE", "ENFILE", "EAGAIN"])

/** Tries again when the system has no descriptor or process left: others are about to give theirs back. */
export async function patiently<T>(work: () => Promise<T>, tries = 3, wait = 50): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (tries === 0 || !passing.has(codeOf(error) ?? "")) throw error
  }
  await setTimeout(wait)
  return await patiently(work, tries - 1, wait * 5)
}
