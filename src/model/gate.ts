import type { Failure } from "../core/event.ts"

export type Clock = {
  /** Milliseconds on a clock that never jumps. */
  now(): number
  /** Runs `then` later; gives back what calls it off. */
  after(ms: number, then: () => void): () => void
  /** At least 0 and below 1. */
  random(): number
}

/** How a request fared, as far as it concerns all others to the same provider. */
export type Leaving =
  | { how: "well" }
  | { how: "ill" }
  /** The provider wants less: nobody enters for `wait` milliseconds, and fewer at a time after that. */
  | { how: "limited"; wait: number }
  /** Nobody will fare better: whoever waits, and whoever comes soon, is turned away with the same failure. */
  | { how: "barred"; error: Failure }

export type Entry = { open: true; leave(leaving: Leaving): void } | { open: false; error: Failure }

type Waiter = { admit(): void; refuse(error: Failure): void }

/** The longest that a timer can count. */
export const longestTimer = 2 ** 31 - 1

const barredFor = 5_000
/** After a pause those who waited enter one by one, all of them within about this time. */
const spread = 2_000
const widestGap = 200

export const stopped: Failure = { kind: "network", message: "the request was stopped" }

/** One for each provider, shared by all runs: a limit that one of them meets slows everyone, and nobody stampedes. */
export class Gate {
  #clock: Clock
  #waiting = new Set<Waiter>()
  #inside = 0
  #limit = Number.POSITIVE_INFINITY
  /** Counts the cuts of the limit: requests that were under way at one have no say in the next. */
  #cuts = 0
  #closedUntil = 0
  /** The most who waited at a time since the last pause; 0 when its effects are over. */
  #crowd = 0
  #barred: { error: Failure; until: number } | undefined
  #cancel: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves when a request may be made. Who entered must leave. Never rejects: a fired signal is a closed gate. */
  enter(signal: AbortSignal): Promise<Entry> {
    if (signal.aborted) return Promise.resolve({ open: false, error: stopped })
    if (this.#barred && this.#clock.now() < this.#barred.until) {
      return Promise.resolve({ open: false, error: this.#barred.error })
    }
    if (this.#waiting.size === 0 && this.#crowd === 0 && this.#isFree()) return Promise.resolve(this.#admitted())
    return new Promise((resolve) => {
      const end = (entry: Entry) => {
        signal.removeEventListener("abort", abort)
        this.#waiting.delete(waiter)
        resolve(entry)
      }
      const abort = () => {
        end({ open: false, error: stopped })
        this.#pump()
      }
      const waiter: Waiter = {
        admit: () => end(this.#admitted()),
        refuse: (error) => end({ open: false, error }),
      }
      signal.addEventListener("abort", abort, { once: true })
      this.#waiting.add(waiter)
      this.#pump()
    })
  }

  #isFree(): boolean {
    return this.#inside < this.#limit && this.#closedUntil <= this.#clock.now()
  }

  #admitted(): Entry {
    const cuts = this.#cuts
    let left = false
    this.#inside++
    const leave = (leaving: Leaving) => {
      if (left) return
      left = true
      this.#learn(leaving, cuts)
      this.#inside--
      this.#pump()
    }
    return { open: true, leave }
  }

  #learn(leaving: Leaving, cuts: number): void {
    switch (leaving.how) {
      case "well":
        this.#limit++
        return
      case "ill":
        return
      case "limited":
        if (cuts === this.#cuts) {
          this.#limit = Math.max(1, Math.floor(this.#inside / 2))
          this.#cuts++
        }
        this.#closedUntil = Math.max(this.#closedUntil, this.#clock.now() + leaving.wait)
        this.#crowd = Math.max(1, this.#crowd)
        return
      case "barred":
        this.#barred = { error: leaving.error, until: this.#clock.now() + barredFor }
        for (const waiter of this.#waiting) waiter.refuse(leaving.error)
        return
      default:
        leaving satisfies never
    }
  }

  #pump(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const waiter of this.#waiting) {
      if (this.#inside >= this.#limit) return
      const wait = this.#closedUntil - this.#clock.now()
      if (wait > 0) {
        this.#cancel = this.#clock.after(Math.min(wait, longestTimer), () => this.#pump())
        return
      }
      if (this.#crowd > 0) this.#pace()
      waiter.admit()
    }
  }

  /** After a pause the next may only follow a little later, until nobody is left. */
  #pace(): void {
    const others = this.#waiting.size - 1
    this.#crowd = others === 0 ? 0 : Math.max(this.#crowd, others)
    if (others > 0) {
      this.#closedUntil = this.#clock.now() + this.#clock.random() * Math.min(widestGap, (2 * spread) / this.#crowd)
    }
  }
}
