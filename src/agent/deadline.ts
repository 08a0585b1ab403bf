/** What a timer can wait for at a time. */
export const longest = 2 ** 31 - 1

/** Ends work whose time is up. Time that is spent waiting for a person does not count. */
export class Deadline {
  #left: number
  #since = 0
  #waits = 0
  #over = false
  #timer: NodeJS.Timeout | undefined
  #now: () => number
  #expire: () => void

  constructor(options: { ms: number; now: () => number; expire: () => void }) {
    this.#left = options.ms
    this.#now = options.now
    this.#expire = options.expire
    this.#start()
  }

  /** Several may wait for a person at once: the time runs again when none does. */
  pause(): void {
    if (this.#waits++ > 0) return
    clearTimeout(this.#timer)
    this.#left -= this.#now() - this.#since
  }

  resume(): void {
    if (--this.#waits === 0 && !this.#over) this.#start()
  }

  /** What is left of its time. */
  left(): number {
    return this.#waits > 0 ? this.#left : this.#left - (this.#now() - this.#since)
  }

  stop(): void {
    this.#over = true
    clearTimeout(this.#timer)
  }

  #start(): void {
    this.#since = this.#now()
    const ms = Math.max(0, Math.min(this.#left, longest))
    this.#timer = setTimeout(() => {
      this.#left -= ms
      if (this.#left > 0) this.#start()
      else this.#expire()
    }, ms)
  }
}
