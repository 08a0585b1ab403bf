import type { Summary } from "./store.ts"

const longest = 80

/** A prompt as one line for a list; nothing in it may move the cursor of a terminal. */
export function titleOf(prompt: string): string {
  const line = prompt
    .slice(0, 2_000)
    .replace(/[\s\p{C}]+/gu, " ")
    .trim()
  const letters = [...line]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : line
}

export const newestFirst = (a: Summary, b: Summary): number =>
  b.updatedAt - a.updatedAt || b.header.at - a.header.at || (a.header.id < b.header.id ? -1 : 1)
