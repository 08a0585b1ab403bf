import type { Limits } from "../core/event.ts"
import { Deadline } from "./deadline.ts"
import { Stopped } from "./stopped.ts"
import type { Working } from "./working.ts"

type Watch = {
  working: Working
  limits: Limits
  now(): number
  /** For how long nothing has happened. */
  idleFor(): number
  end(why: Stopped): void
}

export const timeUp = (): Stopped => new Stopped("timeout", "its time was up")

/** Does the work, and ends it when its time is up or nothing has happened around it for too long. */
export async function timed<T>({ working, limits, now, idleFor, end }: Watch, work: () => Promise<T>): Promise<T> {
  const { timeout, idle } = limits
  if (timeout !== undefined) working.deadline = new Deadline({ ms: timeout, now, expire: () => end(timeUp()) })
  const check = () =>
    idle !== undefined && idleFor() > idle && end(new Stopped("timeout", "nothing happened for too long"))
  const timer = idle === undefined ? undefined : setInterval(check, Math.max(10, idle / 4))
  try {
    return await work()
  } finally {
    working.deadline?.stop()
    clearInterval(timer)
  }
}
