import type { Message, ToolSpec } from "./message.ts"
import { totalTokens, type Usage } from "./usage.ts"

/** What providers count for a picture, at most, more or less. */
const image = 1_600

/** Tokens of a text: a guess that rather errs upwards. */
export const weighText = (text: string): number => Math.ceil(bytesOf(text) / 3)

/** Bytes of a text in UTF-8. Node counts them fastest; a browser has to do without it. */
const bytesOf: (text: string) => number = typeof Buffer === "function" ? (text) => Buffer.byteLength(text) : countBytes

export function countBytes(text: string): number {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!
    bytes += widthOf(code)
    if (code > 0xffff) i++ // both halves of a surrogate pair
  }
  return bytes
}

const widthOf = (code: number): number => (code <= 0x7f ? 1 : code <= 0x7ff ? 2 : code <= 0xffff ? 3 : 4)

/** As much of a text, from its beginning, as has no more tokens than these. */
export function headWithin(text: string, tokens: number): string {
  let bytes = tokens * 3
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!
    bytes -= widthOf(code)
    if (bytes < 0) return text.slice(0, i).toWellFormed()
    if (code > 0xffff) i++ // both halves of a surrogate pair
  }
  return text
}

/** Tokens of a message, with what a provider's format puts around it. */
export function weigh(message: Message): number {
  if (message.role !== "assistant") {
    let sum = 12 + weighText(message.text)
    for (const image of message.images ?? []) sum += weighImage(image)
    return sum
  }
  let sum = 4
  for (const part of message.parts) {
    if (part.type === "text") sum += 8 + weighText(part.text)
    else if (part.type === "reasoning") sum += 24 + weighText(part.text)
    else sum += 24 + weighText(part.broken ?? JSON.stringify(part.input) ?? "")
  }
  return sum
}

/** Providers shrink large pictures, so that these never count for more; small ones count for less. */
const weighImage = ({ data }: { data: string }): number => Math.min(image, Math.ceil(data.length / 3))

const toolWeights = new WeakMap<readonly ToolSpec[], number>()

export function weighTools(tools: readonly ToolSpec[]): number {
  const weight = toolWeights.get(tools) ?? weighText(JSON.stringify(tools))
  toolWeights.set(tools, weight)
  return weight
}

export const weighAll = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + weigh(message), 0)

/** What the first so many messages weigh, with system prompt and tools: in tokens as the provider counts, and as we guess. */
export type Weight = { tokens: number; guess: number; messages: number }

/** As much of a run as its weight depends on. */
type Weighty = { system: string; tools: ToolSpec[]; messages: Message[]; weight: Weight }

/** What the conversation weighs as it is now, in tokens: what the provider last said, and a guess for what came since. */
export function weightOf(run: Weighty): { tokens: number; guess: number } {
  const { tokens, guess, messages } = run.weight
  let since = messages === 0 ? weighText(run.system) + weighTools(run.tools) : 0
  for (let at = messages; at < run.messages.length; at++) since += weigh(run.messages[at]!)
  return { tokens: tokens + since, guess: guess + since }
}

/** Some servers count nothing, or always the same: a number far below what the text weighs is not believed. */
export function weighed(run: Weighty, usage: Usage): Weight {
  const { tokens, guess } = weightOf(run)
  const said = totalTokens(usage)
  return { tokens: said < guess / 4 ? tokens : said, guess, messages: run.messages.length }
}
