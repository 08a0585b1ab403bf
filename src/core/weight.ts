import type { Message, ToolSpec } from "./message.ts"

/** What providers count for a picture, at most, more or less. */
const image = 1_600

/** Tokens of a text: a guess that rather errs upwards. */
export function weighText(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // Half a surrogate pair counts two bytes, and so the pair four.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1
  }
  return Math.ceil(bytes / 3)
}

/** Tokens of a message, with what a provider's format puts around it. */
function weigh(message: Message): number {
  if (message.role !== "assistant")
    return 12 + weighText(message.text) + (message.images ?? []).reduce((sum, each) => sum + weighImage(each), 0)
  return message.parts.reduce((sum, part) => {
    if (part.type === "text") return sum + 8 + weighText(part.text)
    const said = part.type === "call" ? (part.broken ?? JSON.stringify(part.input) ?? "") : part.text
    return sum + 24 + weighText(said)
  }, 4)
}

/** Providers shrink large pictures, so that these never count for more; small ones count for less. */
const weighImage = ({ data }: { data: string }): number => Math.min(image, Math.ceil(data.length / 3))

const weighed = new WeakMap<readonly ToolSpec[], number>()

export function weighTools(tools: readonly ToolSpec[]): number {
  const weight = weighed.get(tools) ?? weighText(JSON.stringify(tools))
  weighed.set(tools, weight)
  return weight
}

export const weighAll = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + weigh(message), 0)
