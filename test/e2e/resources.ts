import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { setTimeout } from "node:timers/promises"

export type Held = { resources: Record<string, number>; listeners: Record<string, number>; files: string[] }

/** What this process holds now: what keeps it alive, who listens to it, and its open files. */
export const held = (): Held => ({
  resources: counted(process.getActiveResourcesInfo()),
  listeners: Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)])),
  files: readdirSync("/proc/self/fd").flatMap(linkOf).sort(),
})

const counted = (names: readonly string[]): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]).sort())

/** The folder that is being read has one too, which is gone by now. */
function linkOf(fd: string): string[] {
  try {
    return [`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`]
  } catch {
    return []
  }
}

/** The processes with this on their command line, where arguments end with a NUL. */
export const processesWith = (words: string): string[] =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && textOf(`/proc/${pid}/cmdline`).includes(words))

/** What is gone by now, or is another user's, reads as nothing. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** Looks until it is so, without keeping everybody else from work, but no longer than a test may take. */
export async function seen(holds: () => boolean): Promise<void> {
  for (let looks = 0; !holds(); looks++) {
    if (looks === 1_000) throw new Error(`it never came to that: ${holds}`)
    await setTimeout(20)
  }
}

/** What a command that is stopped, and everything that it started, has to be gone. */
const grace = 2_000

/** The same, for what a stop has to bring about. */
export async function soon(holds: () => boolean): Promise<boolean> {
  for (const began = performance.now(); !holds(); await setTimeout(20))
    if (performance.now() - began > grace) return false
  return true
}
