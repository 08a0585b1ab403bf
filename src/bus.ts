import type { Post, RunId } from "./core/event.ts"
import type { Log } from "./core/log.ts"
import type { RunView } from "./core/view.ts"
import { check, type Posting } from "./posting.ts"

export type Channel = {
  /** Resolves to the id when it is safe on disk. Waits while too many before it have not been dealt with. */
  publish(posting: Posting, options?: { signal?: AbortSignal }): Promise<string>
  /**
   * What is posted, in order, each to one of all who consume. It has been dealt with when the next is asked for or the
   * loop is left; what has not by the end of the process is given out again by the next one.
   */
  consume(options?: { channel?: string; signal?: AbortSignal }): AsyncIterable<Post>
}

/** What passes between a session and the world outside: `in` for its main run, `out` from it. */
export type Bus = { in: Channel; out: Channel }

/** The bus, or the session under it, was closed: nothing can be posted. */
export class Closed extends Error {
  override readonly name = "Closed"

  constructor() {
    super("the session is closed; open it again and publish this once more")
  }
}

/** `capacity`: so many of each way may wait to be dealt with before whoever publishes must wait too. */
export type Making = { log: Log; main: RunId; capacity?: number; newId(): string }

export function busOf({ log, main, capacity = 1_000, newId }: Making): Bus & { close(): void } {
  const lane = (way: Post["way"]) => new Lane({ log, main, capacity, newId, way })
  const lanes = { in: lane("in"), out: lane("out") }
  const unlisten = log.listen((event) => {
    if (event.run !== main) return
    if (event.type === "bus.posted") lanes[event.way].posted(event.id)
    if (event.type !== "bus.taken") return
    lanes.in.taken(event.id)
    lanes.out.taken(event.id)
  })
  return {
    ...lanes,
    close() {
      unlisten()
      lanes.in.close()
      lanes.out.close()
    },
  }
}

/** `post`: what it was given and has not looked at yet. */
type Consumer = { channel: string | undefined; post?: Post; wake(): void }
type Publisher = { enter(): void; leave(why: unknown): void }

/** One way of the bus. It keeps only what the log cannot say: who waits, and what is in whose hands. */
class Lane implements Channel {
  #making: Required<Making> & Pick<Post, "way">
  #given = new Set<string>()
  #consumers = new Set<Consumer>()
  #publishers = new Set<Publisher>()
  #closed = false

  constructor(making: Required<Making> & Pick<Post, "way">) {
    this.#making = making
  }

  async publish(posting: Posting, { signal }: { signal?: AbortSignal } = {}): Promise<string> {
    const { way, log } = this.#making
    check(way, posting)
    signal?.throwIfAborted()
    if (this.#closed) throw new Closed()
    const { id, channel, chatId, sender = senders[way], text, plain, replyTo } = posting
    const more = { ...(plain !== undefined && { plain }), ...(replyTo !== undefined && { replyTo }) }
    const post = () => this.#post({ id: id ?? this.#newId(), way, channel, chatId, sender, text, ...more })
    const known = id !== undefined && this.#run().heard.has(id)
    // Up to here nothing has waited, so that whoever comes first is first.
    const waits = !known && (this.#publishers.size > 0 || this.#isFull())
    const posted = waits ? await this.#enter(post, signal) : post()
    await log.synced()
    return posted
  }

  async *consume({ channel, signal }: { channel?: string; signal?: AbortSignal } = {}): AsyncGenerator<Post, void> {
    for (let post = await this.#next(channel, signal); post; post = await this.#next(channel, signal)) {
      try {
        yield { ...post }
      } finally {
        // What is in somebody's hands when the bus closes may be half done.
        if (!this.#closed) this.#making.log.emit(this.#making.main, { type: "bus.taken", id: post.id })
      }
    }
  }

  /** The first who waits for such a post gets it. */
  posted(id: string): void {
    const post = this.#run().posts.get(id)
    if (!post || this.#given.has(id)) return
    const consumer = [...this.#consumers].find(fits(post))
    if (consumer) this.#give(consumer, post)
  }

  taken(id: string): void {
    this.#given.delete(id)
    for (const publisher of this.#publishers) {
      if (this.#isFull()) return
      this.#publishers.delete(publisher)
      publisher.enter()
    }
  }

  close(): void {
    this.#closed = true
    for (const { wake } of this.#consumers) wake()
    this.#consumers.clear()
    for (const { leave } of this.#publishers) leave(new Closed())
    this.#publishers.clear()
  }

  async #next(channel: string | undefined, signal: AbortSignal | undefined): Promise<Post | undefined> {
    if (this.#closed || signal?.aborted) return undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const consumer: Consumer = { channel, wake: resolve }
    const stop = () => this.#stop(consumer)
    signal?.addEventListener("abort", stop, { once: true })
    this.#consumers.add(consumer)
    const first = this.#untaken().find((post) => !this.#given.has(post.id) && fits(post)(consumer))
    if (first) this.#give(consumer, first)
    await promise
    signal?.removeEventListener("abort", stop)
    return consumer.post
  }

  #give(consumer: Consumer, post: Post): void {
    this.#consumers.delete(consumer)
    this.#given.add(post.id)
    consumer.post = post
    consumer.wake()
  }

  /** What it was given in this very moment is for another. */
  #stop(consumer: Consumer): void {
    const { post } = consumer
    this.#consumers.delete(consumer)
    delete consumer.post
    consumer.wake()
    if (!post) return
    this.#given.delete(post.id)
    this.posted(post.id)
  }

  /** Waits for room and posts in the moment that there is some, so that nobody else can take it. */
  #enter(post: () => string, signal: AbortSignal | undefined): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const publisher: Publisher = { enter: () => resolve(attempt(post)), leave: reject }
    const stop = () => {
      this.#publishers.delete(publisher)
      reject(signal?.reason)
    }
    signal?.addEventListener("abort", stop, { once: true })
    this.#publishers.add(publisher)
    return promise.finally(() => signal?.removeEventListener("abort", stop))
  }

  #post(post: Post): string {
    const { log, main } = this.#making
    if (!this.#run().heard.has(post.id)) log.emit(main, { type: "bus.posted", ...post })
    // A sealed log takes nothing, and says nothing.
    if (!this.#run().heard.has(post.id)) throw new Closed()
    return post.id
  }

  #isFull(): boolean {
    return this.#untaken().length >= this.#making.capacity
  }

  #untaken(): Post[] {
    return [...this.#run().posts.values()].filter(({ way }) => way === this.#making.way)
  }

  #newId(): string {
    let id = this.#making.newId()
    while (this.#run().heard.has(id)) id = this.#making.newId()
    return id
  }

  #run(): RunView {
    return this.#making.log.view.get(this.#making.main)!
  }
}

const fits =
  (post: Post) =>
  ({ channel }: Consumer): boolean =>
    channel === undefined || channel === post.channel

/** At once, with what it throws as a rejection. */
const attempt = async (post: () => string): Promise<string> => post()

const senders = { in: "user", out: "assistant" }
