import { type Event, type Fact, type Hint, isHint, type RunId, type Stamped } from "./event.ts"
import { apply, type View } from "./view.ts"

export type Listener = (event: Event, view: View) => void

/** Where facts go. It takes them at once and may write them later; `synced` says when all taken so far are safe. */
export type Sink = {
  append(fact: Stamped<Fact>): void
  /** Rejects once anything could not be written, and for ever after. */
  synced(): Promise<void>
  /** Why it would reject, as soon as that is known. */
  broken?(): Error | undefined
}

export const nowhere: Sink = { append: () => {}, synced: () => Promise.resolve() }

/** The session's one stream. An event goes into the view, a fact to the sink as well, then to whoever listens. */
export class Log {
  readonly view: View = new Map()
  #seq = 0
  #listeners = new Set<Listener>()
  #untold: Event[] = []
  #telling = false
  #sealed = false
  #sink: Sink
  #clock: () => number
  #complain: (error: unknown) => void

  /** `complain` hears of listeners that throw: a broken screen must not break the run that it shows. */
  constructor(sink: Sink, clock: () => number, complain: (error: unknown) => void) {
    this.#sink = sink
    this.#clock = clock
    this.#complain = complain
  }

  emit(run: RunId, body: Fact | Hint): void {
    if (this.#sealed) return
    const event = { seq: this.#seq + 1, at: this.#clock(), run, ...body } as Event
    this.#take(event)
    if (!isHint(event)) this.#sink.append(event)
    this.#untold.push(event)
    if (!this.#telling) this.#tell()
  }

  /** What a listener sets off is told after what it listened to, so that everybody hears all in one order. */
  #tell(): void {
    this.#telling = true
    for (let event = this.#untold.shift(); event; event = this.#untold.shift()) {
      for (const listen of this.#listeners) {
        try {
          listen(event, this.view)
        } catch (error) {
          this.#complain(error)
        }
      }
    }
    this.#telling = false
  }

  /**
   * Feeds stored facts back in. Nothing is written and nobody is told. Returns those that make no sense here.
   * `seq` is the highest number in the store: what comes is numbered from there, so that no number is used twice.
   */
  replay(facts: Iterable<Stamped<Fact>>, seq = 0): Stamped<Fact>[] {
    const refused: Stamped<Fact>[] = []
    for (const fact of facts) {
      try {
        this.#take(fact)
      } catch {
        refused.push(fact)
      }
    }
    this.#seq = Math.max(this.#seq, seq)
    return refused
  }

  /** Nothing that comes later is taken: work that is broken off now can be gone on with from here. */
  seal(): void {
    this.#sealed = true
  }

  /** Resolves when every fact so far is safe on disk. */
  synced(): Promise<void> {
    return this.#sink.synced()
  }

  /** Why nothing can be stored any more, once that is so. */
  broken(): Error | undefined {
    return this.#sink.broken?.()
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The fold comes before the sink: an event that the view refuses is never stored. */
  #take(event: Event): void {
    apply(this.view, event)
    this.#seq = Math.max(this.#seq, event.seq)
  }
}
