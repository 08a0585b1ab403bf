import { hole } from "./word.ts"

/** A pattern as the texts between its wildcards: one text means that there is no wildcard. */
export type Pieces = readonly string[]

/** `*` is any text; `\*` is an asterisk. */
export const piecesOf = (pattern: string): Pieces =>
  pattern.split(/(?<!\\)\*/).map((piece) => piece.replaceAll("\\*", "*"))

/** A text as a pattern that only it fits. */
export const literally = (text: string): string => text.replaceAll("*", "\\*")

/** Takes time in proportion to the text, whatever the pattern. */
export function fits(pieces: Pieces, text: string): boolean {
  const [first = "", ...rest] = pieces
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let from = first.length
  for (const piece of rest) {
    const found = text.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return text.length - from >= last.length && text.endsWith(last)
}

/** Whether a text with holes could turn out to fit, once they are filled. A hole on its own may also be no word at all. */
export function mayFit(pieces: Pieces, text: string): boolean {
  const parts = text.replaceAll(` ${hole}`, hole).replaceAll(`${hole} `, hole).split(hole)
  if (parts.length === 1) return fits(pieces, text)
  if (pieces.length === 1) return fits(parts, pieces[0]!)
  // With a wildcard on both sides, the middles can follow one another: only the ends may contradict.
  return (
    agree(pieces[0]!, parts[0]!, (long, short) => long.startsWith(short)) &&
    agree(pieces.at(-1)!, parts.at(-1)!, (long, short) => long.endsWith(short))
  )
}

const agree = (a: string, b: string, holds: (long: string, short: string) => boolean): boolean =>
  a.length >= b.length ? holds(a, b) : holds(b, a)
