import type { Wait } from "../src/testing.ts"

/** How fine time is cut, in ms. */
const tick = 5

/** Waits that share one timer: with one each, a server of hundreds of streams does little else than keep timers. */
export function ticks(): Wait {
  const due = new Map<number, (() => void)[]>()
  let last = Math.floor(performance.now() / tick)
  setInterval(() => {
    for (const now = Math.floor(performance.now() / tick); last < now; ) {
      last++
      const ready = due.get(last) ?? []
      due.delete(last)
      for (const go of ready) go()
    }
  }, tick)
  return (ms, signal) =>
    new Promise((resolve, reject) => {
      // Counted from the tick that woke whoever waits again, so that lateness does not add up.
      const at = last + Math.max(1, Math.round(ms / tick))
      const go = () => (signal.aborted ? reject(signal.reason) : resolve())
      const others = due.get(at)
      if (others) others.push(go)
      else due.set(at, [go])
    })
}
