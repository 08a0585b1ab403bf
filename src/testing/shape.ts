/** How an answer travels. What it says stays the same. */
export type Shape = {
  /** Milliseconds before the first byte. */
  latency?: number
  /** How many words or pieces a second; all at once if not given. */
  tokensPerSecond?: number
  /** The body goes out in chunks of so many bytes, whatever they cut through. */
  chunkBytes?: number
  /** Characters in one event: a word if not given, `Infinity` for everything in one. */
  piece?: number
  newline?: "\n" | "\r\n" | "\r"
  /** A comment line before every event. */
  comments?: boolean
}

/** Words with the space before them; together they are the text. */
export function pieces(text: string, size: number | undefined): string[] {
  if (size === undefined) return text.match(/\s*\S+|\s+$/g) ?? []
  if (size >= text.length) return text === "" ? [] : [text]
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = isHigh(text, at + size - 1) ? at + size + 1 : at + size
    found.push(text.slice(at, end))
    at = end
  }
  return found
}

/** Arguments come in a few pieces, however long: at least two, so that a call can break off in between. */
export function argumentPieces(text: string, size: number | undefined): string[] {
  const count = Math.min(8, Math.max(2, Math.ceil(text.length / 8)))
  return pieces(text, size ?? Math.max(1, Math.ceil(text.length / count)))
}

const isHigh = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xd800
