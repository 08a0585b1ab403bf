import { readdirSync, readFileSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"

/** Processes with this word among their arguments. A zombie has none: it is gone. */
export const alive = (word: string): number[] =>
  readdirSync("/proc").flatMap((pid) => (/^\d+$/.test(pid) && argumentsOf(pid).includes(word) ? [Number(pid)] : []))

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    return []
  }
}

/** Waits until a condition holds and says how long it took. */
export async function until(condition: () => boolean, limit = 5_000): Promise<number> {
  const began = performance.now()
  while (!condition()) {
    if (performance.now() - began > limit) throw new Error(`still not so after ${limit} ms: ${condition}`)
    await pause(10)
  }
  return performance.now() - began
}

/** A duration for `sleep` that no other test uses, by which its process is found again. */
export const longNap = (): string => `1000.${Math.floor(Math.random() * 1e12)}`
