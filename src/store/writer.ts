import type { Fact, Stamped } from "../core/event.ts"
import type { Sink } from "../core/log.ts"
import { type Blob, encode, type Line } from "./line.ts"
import { StoreError, storeError } from "./store-error.ts"

/** The file behind a writer. */
export type Target = {
  /** For messages. */
  path: string
  /** Blobs are safe before the line that names them is written. */
  put(blobs: readonly Blob[]): Promise<void>
  /** Hands all of it to the system, from where a kill of this process cannot take it back, or throws. */
  write(text: string): void
  sync(): Promise<void>
  close(): Promise<void>
}

/**
 * Group commit: one write a turn of the event loop, one sync at a time, shared by all who wait.
 * After the first failure nothing more is written: a gap in the file would be worse than its end.
 */
export class Writer implements Sink {
  #target: Target
  #queue: Line[] = []
  #draining: Promise<void> | undefined
  #unsynced = false
  #last: Promise<void> = Promise.resolve()
  /** The sync that has not begun: whoever asks now is in time for it. */
  #next: Promise<void> | undefined
  #failure: StoreError | undefined
  #closing: Promise<void> | undefined

  constructor(target: Target) {
    this.#target = target
  }

  append(fact: Stamped<Fact>): void {
    if (this.#failure) return
    try {
      this.#take(encode(fact))
    } catch (error) {
      this.#fail(`store fact ${fact.seq} (${fact.type}) in ${this.#target.path}`, error)
    }
  }

  synced(): Promise<void> {
    this.#next ??= this.#last = this.#sync(this.#last)
    return this.#next
  }

  broken(): Error | undefined {
    return this.#failure
  }

  /** Lets go of the file in any case; rejects when not everything could be written. */
  close(): Promise<void> {
    this.#closing ??= this.synced().finally(() => {
      this.#failure ??= new StoreError("io", `${this.#target.path} is closed; hold the session again to go on with it`)
      return this.#target.close()
    })
    return this.#closing
  }

  #take(line: Line): void {
    this.#queue.push(line)
    this.#draining ??= new Promise((resolve) => setImmediate(resolve)).then(() => this.#drain())
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const lines = this.#queue
      this.#queue = []
      if (this.#failure) break
      try {
        const blobs = lines.flatMap((line) => line.blobs)
        if (blobs.length > 0) await this.#target.put(blobs)
        this.#target.write(lines.map(({ text }) => text).join(""))
        this.#unsynced = true
      } catch (error) {
        this.#fail(`write to ${this.#target.path}`, error)
      }
    }
    this.#draining = undefined
  }

  async #sync(before: Promise<void>): Promise<void> {
    await before.catch(() => {})
    while (this.#draining) await this.#draining
    this.#next = undefined
    if (this.#failure) throw this.#failure
    if (!this.#unsynced) return
    this.#unsynced = false
    try {
      await this.#target.sync()
    } catch (error) {
      // Never tried again: the system may have dropped what it could not write, and would then report success.
      throw this.#fail(`sync ${this.#target.path}`, error)
    }
  }

  #fail(doing: string, error: unknown): StoreError {
    this.#failure ??= storeError(doing, error)
    return this.#failure
  }
}
