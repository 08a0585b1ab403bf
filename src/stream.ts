import { type Event, isHint } from "./core/event.ts"
import type { Log } from "./core/log.ts"

/** A reader that falls this far behind misses hints. It never misses a fact. */
const slack = 10_000

/** The events from now on, as an async iterable. It ends when `close` is called or the reader leaves; `left` hears of it. */
export function streamOf(log: Log, left = () => {}): { events: AsyncIterableIterator<Event>; close(): void } {
  const queue: Event[] = []
  let wake: (() => void) | undefined
  let open = true
  const rouse = () => {
    wake?.()
    wake = undefined
  }
  const unlisten = log.listen((event) => {
    if (queue.length >= slack && isHint(event)) return
    queue.push(event)
    rouse()
  })
  const close = () => {
    open = false
    unlisten()
    left()
    rouse()
  }
  async function* read(): AsyncGenerator<Event> {
    try {
      for (;;) {
        yield* queue.splice(0)
        if (!open) return
        if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      close()
    }
  }
  return { events: read(), close }
}
