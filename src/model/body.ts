import type { Request } from "./model.ts"

/**
 * A request's body. What was `kept` for an earlier request of the same run comes first and is the same string here, so that
 * its bytes need not be made again.
 */
export type Body = { kept: readonly string[]; rest: string }

export const textOf = ({ kept, rest }: Body): string => kept.join("") + rest

/** The same request as text. */
export const asText =
  (bodyOf: (request: Request) => Body): ((request: Request) => string) =>
  (request) =>
    textOf(bodyOf(request))

/** Below this, in characters, it is not worth the trouble. */
const large = 64 * 1024

/** Bytes of strings, one behind the other. What is there never changes: a request that is under way may still be sent from it. */
type Store = { of: string[]; ends: number[]; buffer: Buffer }

/** Makes bodies into what is sent. For each `memo` the bytes that stay are kept as long as it lives. */
export function bodies(): (body: Body, memo: object) => string | readonly Buffer[] {
  const stores = new WeakMap<object, Store>()
  return (body, memo) => {
    const { kept, rest } = body
    if (kept.reduce((sum, text) => sum + text.length, 0) < large) return textOf(body)
    const store = grown(stores.get(memo), kept)
    stores.set(memo, store)
    return [store.buffer.subarray(0, store.ends.at(-1)), Buffer.from(rest)]
  }
}

function grown(before: Store | undefined, kept: readonly string[]): Store {
  const store = before?.of.every((text, at) => text === kept[at])
    ? before
    : { of: [], ends: [], buffer: Buffer.allocUnsafe(0) }
  const more = kept.slice(store.of.length)
  makeRoom(store, more)
  for (const text of more) {
    const from = store.ends.at(-1) ?? 0
    store.ends.push(from + store.buffer.write(text, from))
    store.of.push(text)
  }
  return store
}

/** A little more than is needed, so that not every request has to copy what was there before. */
function makeRoom(store: Store, more: readonly string[]): void {
  const used = store.ends.at(-1) ?? 0
  const needed = more.reduce((sum, text) => sum + Buffer.byteLength(text), used)
  if (needed <= store.buffer.length) return
  const larger = Buffer.allocUnsafe(Math.ceil(needed * 1.5))
  store.buffer.copy(larger, 0, 0, used)
  store.buffer = larger
}
