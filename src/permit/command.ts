import { endingsOf, pairsOf } from "./form.ts"
import type { Part } from "./shell.ts"
import { fits, mayFit, piecesOf } from "./wildcard.ts"
import { spoken } from "./word.ts"

/** Whether a rule's pattern is about a command: surely, perhaps (it has words that only the shell will know), or not. */
export type Match = "yes" | "maybe" | "no"

/** How a pattern that denies or asks is compared: as it may be meant. */
export function wideMatch(pattern: string, part: Part): Match {
  if (pattern === "*") return "yes"
  const pairs = pairsOf(pattern, part)
  if (pairs.some(({ pieces, text }) => fits(pieces, text))) return "yes"
  return pairs.some(({ pieces, text }) => mayFit(pieces, text)) ? "maybe" : "no"
}

/** How a pattern that allows is compared: as the command was written. */
export function narrowMatch(pattern: string, part: Part): boolean {
  if (pattern === "*") return true
  const text = part.words.map(spoken).join(" ")
  return endingsOf(pattern.trim()).some((each) => fits(piecesOf(each), text))
}

/** How many words a pattern spells out before its first wildcard; all of them where there is none. */
export function spelledOut(pattern: string): number {
  const [head = "", ...rest] = piecesOf(pattern.trim().replace(/:\*$/, " *"))
  if (rest.length === 0) return Number.POSITIVE_INFINITY
  return head.split(" ").length - 1
}
