/** The word that was probably meant, if any is close enough to say so. */
export function nearest(word: string, words: Iterable<string>): string | undefined {
  const wanted = word.toLowerCase()
  let best: { word: string; off: number } | undefined
  for (const each of words) {
    const off = distance(wanted, each.toLowerCase())
    if (off <= allowance(wanted) && off < (best?.off ?? Number.POSITIVE_INFINITY)) best = { word: each, off }
  }
  return best?.word
}

const allowance = (word: string): number => Math.max(1, Math.floor(Math.min(word.length, 24) / 3))

/** How many letters must be added, dropped, changed or swapped with the next to get from one to the other. */
function distance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > allowance(from)) return Number.POSITIVE_INFINITY
  let [before, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      line[column] = Math.min(
        last[column]! + 1,
        line[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
        swapped ? before[column - 2]! + 1 : Number.POSITIVE_INFINITY,
      )
    }
    ;[before, last] = [last, line]
  }
  return last[to.length]!
}
