import { mark } from "./model/anthropic-encode.ts"

/** Bytes of a request's body: of it all, and of its parts. `settings` is what is in no other part, with all the keys. */
export type Sizes = { bytes: number; system: number; tools: number; messages: number; settings: number }

/** Each format has names of its own for the same parts. One that keeps its system prompt among the messages has it first. */
export function sizesOf(body: string): Sizes {
  const members = new Map(membersOf(body))
  const sizeOf = (...names: string[]) => names.reduce((sum, name) => sum + size(members.get(name) ?? ""), 0)
  const first = firstOf(members.get("messages") ?? "")
  const told = first.startsWith('{"role":"system",') ? size(first) : 0
  const parts = {
    system: sizeOf("system", "instructions") + told,
    tools: sizeOf("tools"),
    messages: sizeOf("messages", "input") - told,
  }
  const bytes = size(body)
  return { bytes, ...parts, settings: bytes - parts.system - parts.tools - parts.messages }
}

/** How far two bodies are the same, up to the first byte that is another. */
export function sharedBytes(one: Buffer, other: Buffer): number {
  const end = Math.min(one.length, other.length)
  let at = 0
  while (at < end && one[at] === other[at]) at++
  return at
}

/** Marks say where the cache may end. They move with every request, and the cache does not count them as content. */
export const unmarked = (body: string): string => body.replaceAll(mark, "")

const size = (text: string): number => Buffer.byteLength(text)

/** The keys of a JSON object with their values as they are written. */
function* membersOf(object: string): Generator<[key: string, value: string]> {
  for (let at = 1; object[at] === '"'; ) {
    const colon = endOf(object, at)
    const end = endOf(object, colon + 1)
    yield [object.slice(at + 1, colon - 1), object.slice(colon + 1, end)]
    at = end + 1
  }
}

const firstOf = (array: string): string => array.slice(1, endOf(array, 1))

/** Where the JSON value that begins here ends. */
function endOf(text: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < text.length; at++) {
    const letter = text[at]!
    if (letter === '"') at = quoteAfter(text, at)
    else if ("{[".includes(letter)) depth++
    else if ("}]".includes(letter)) depth--
    if (depth === 0 && ",:}]".includes(text[at + 1] ?? ",")) return at + 1
  }
  return text.length
}

function quoteAfter(text: string, begin: number): number {
  for (let at = begin + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    let before = at
    while (text[before - 1] === "\\") before--
    if ((at - before) % 2 === 0) return at
  }
}
