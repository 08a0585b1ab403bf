import type { Priority } from "../core/event.ts"

const order: readonly Priority[] = ["high", "normal", "low"]

/** How often a queue may be passed over for a more urgent one before it has its turn all the same. */
const patience = 8

/** At most `size` pieces of work at a time; the rest wait by priority, and none for ever. */
export class Slots {
  #free: number
  #waiting: Record<Priority, (() => void)[]> = { high: [], normal: [], low: [] }
  #passed: Record<Priority, number> = { high: 0, normal: 0, low: 0 }

  constructor(size: number) {
    this.#free = size
  }

  /** Rejects with the signal's reason if it fires while the work still waits. `waits` hears that it must. */
  async use<T>(signal: AbortSignal, priority: Priority, work: () => Promise<T>, waits?: () => void): Promise<T> {
    if (this.#free > 0) this.#free--
    else {
      waits?.()
      await this.#wait(signal, this.#waiting[priority])
    }
    try {
      return await work()
    } finally {
      this.#release()
    }
  }

  #wait(signal: AbortSignal, queue: (() => void)[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", leave)
        resolve()
      }
      const leave = () => {
        queue.splice(queue.indexOf(go), 1)
        reject(signal.reason)
      }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener("abort", leave, { once: true })
      queue.push(go)
    })
  }

  #release(): void {
    const waiting = order.filter((priority) => this.#waiting[priority].length > 0)
    const next = waiting.find((priority) => this.#passed[priority] >= patience) ?? waiting[0]
    if (!next) {
      this.#free++
      return
    }
    for (const priority of waiting) this.#passed[priority] = priority === next ? 0 : this.#passed[priority] + 1
    this.#waiting[next].shift()!()
  }
}
