import { type Assistant, callsOf, type Message, type Part, type Result, type User } from "../core/message.ts"
import type { Body } from "./body.ts"
import type { Request } from "./model.ts"

/**
 * What every provider accepts: a user's words, or an answer with exactly one result for each of its calls. `of` is what
 * it was made from, and all that it depends on.
 */
export type Block =
  | { role: "user"; of: Message[]; user: User }
  | { role: "assistant"; of: Message[]; parts: Part[]; results: Result[] }

/** Makes any list of messages legal: results follow their calls in the order of these, what has no call is left out. */
export function blocksOf(messages: readonly Message[]): Block[] {
  const open: Open[] = []
  let answer: Extract<Open, { role: "assistant" }> | undefined
  for (const message of messages) {
    switch (message.role) {
      case "user":
        open.push({ role: "user", of: [message], user: message })
        break
      case "assistant":
        answer = { role: "assistant", of: [message], assistant: message, results: new Map() }
        for (const { id } of callsOf(message.parts)) answer.results.set(id, undefined)
        open.push(answer)
        break
      case "result":
        if (!answer?.results.has(message.call) || answer.results.get(message.call)) break
        answer.results.set(message.call, message)
        answer.of.push(message)
        break
      default:
        message satisfies never
    }
  }
  return open.map((each) => (each.role === "user" ? each : closed(each)))
}

type Open =
  | { role: "user"; of: Message[]; user: User }
  | { role: "assistant"; of: Message[]; assistant: Assistant; results: Map<string, Result | undefined> }

function closed({ of, assistant, results }: Extract<Open, { role: "assistant" }>): Block {
  const seen = new Set<string>()
  const parts = assistant.parts.filter((part) => part.type !== "call" || (!seen.has(part.id) && seen.add(part.id)))
  const answered = callsOf(parts).map(({ id, name }) => results.get(id) ?? cutOff(id, name))
  return { role: "assistant", of, parts, results: answered }
}

const cutOff = (call: string, name: string): Result => ({
  role: "result",
  call,
  name,
  ok: false,
  text: "no result: the call was cut off",
})

/**
 * Encodes a run's messages as items of a JSON array, a comma before each, and each only once: what was encoded for an
 * earlier request of the same run, or of the one it was forked from, is used again as far as the messages are still the
 * same objects.
 */
export function createTranscript(encode: (block: Block) => object[]): (request: Request) => readonly string[] {
  const kept = new WeakMap<object, { blocks: Block[]; texts: string[] }>()
  return ({ memo, from, messages }) => {
    const blocks = blocksOf(messages)
    const before = kept.get(memo) ?? (from && kept.get(from)) ?? { blocks: [], texts: [] }
    const same = sharedLength(before.blocks, blocks)
    const more = blocks.slice(same).map((block) =>
      encode(block)
        .map((message) => `,${JSON.stringify(message)}`)
        .join(""),
    )
    const texts = [...before.texts.slice(0, same), ...more]
    kept.set(memo, { blocks, texts })
    return texts
  }
}

/** A body that ends with an array: `opening` comes before its items, each of which has a comma before it, and `closing` behind. */
export function listed(opening: string, items: readonly string[], closing: string): Body {
  const first = items.findIndex((item) => item !== "")
  if (first === -1) return { kept: [opening], rest: closing }
  return { kept: [opening + items[first]!.slice(1), ...items.slice(first + 1)], rest: closing }
}

/** Writes each object only once, however often it is asked for. */
export function once<T extends object>(write: (value: T) => string): (value: T) => string {
  const kept = new WeakMap<T, string>()
  return (value) => {
    const text = kept.get(value) ?? write(value)
    kept.set(value, text)
    return text
  }
}

function sharedLength(before: Block[], now: Block[]): number {
  const end = Math.min(before.length, now.length)
  for (let i = 0; i < end; i++) if (!sameMessages(before[i]!.of, now[i]!.of)) return i
  return end
}

const sameMessages = (a: Message[], b: Message[]): boolean =>
  a.length === b.length && a.every((message, i) => message === b[i])

/** What the model reads of a result: that a call failed must be in the words, where the format has no place for it. */
export const wordsOf = ({ ok, text }: Result): string => {
  const words = text.toWellFormed()
  return ok || /^error\b/i.test(words) ? words : `Error: ${words}`
}
