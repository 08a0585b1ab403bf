import { reasonOf } from "./core/error.ts"
import type { Log } from "./core/log.ts"
import type { Found } from "./sandbox/sandbox.ts"

/** Fences that held, by the home that they hide: tested once in a process, whatever the number of its sessions. */
const fences = new Map<string, Promise<Found>>()

/** Most sessions start without a command, so nothing of it is loaded before one comes. */
export function lazySandbox(env: NodeJS.ProcessEnv): () => Promise<Found> {
  const home = env.HOME ?? ""
  const find = async (): Promise<Found> => {
    try {
      const found = await (await import("./sandbox/sandbox.ts")).findSandbox({ env })()
      // What is missing now may be there for the next session.
      if (!found.ok) fences.delete(home)
      return found
    } catch (error) {
      fences.delete(home)
      return { ok: false, why: `the fence cannot be tested: ${reasonOf(error)}`, fix: "see: legwork doctor" }
    }
  }
  let found: Promise<Found> | undefined
  return () => {
    if (found) return found
    found = fences.get(home) ?? find()
    fences.set(home, found)
    return found
  }
}

/** The fence is tried while the first answer is waited for, so that no agent has to wait for that. */
export function warmUp(log: Log, sandbox: () => Promise<Found>): void {
  const unlisten = log.listen(({ type }) => {
    if (type !== "mail.read") return
    unlisten()
    setTimeout(() => void sandbox(), afterAsking).unref()
  })
}

/** By then the first request has gone out. */
const afterAsking = 50

/**
 * Whether read-only agents are offered a shell; says once why they are not. Nobody waits for the test of a fence that is
 * installed: every command does, and where the fence turns out not to hold none is run.
 */
export function fencing(
  sandbox: () => Promise<Found>,
  warn: (text: string) => void,
): (agent: string) => Promise<boolean> {
  let known: Found | undefined
  let offered: Promise<boolean> | undefined
  const look = async (agent: string): Promise<boolean> => {
    const tested = sandbox().then((found) => {
      if (!found.ok) warn(`${agent} has no shell here: ${found.why}; ${found.fix}`)
      known = found
      return found.ok
    })
    tested.catch(() => {}) // of a listener to warnings; whoever awaits it hears of that
    return (await import("./sandbox/sandbox.ts")).isInstalled() || tested
  }
  return async (agent) => {
    if (known) return known.ok
    offered ??= look(agent)
    return offered
  }
}
