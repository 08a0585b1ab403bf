import type { Term } from "./offline-terms.ts"

export type Counts = { word: string; found: Map<string, number> }[]
export type Found = { path: string; lines: { number: number; text: string }[] }

/** The best files for the terms. Rare terms count for more, many hits in one file for little more than a few. */
export function rank(counts: Counts, most: number): string[] {
  const files = [...new Set(counts.flatMap(({ found }) => [...found.keys()]))]
  const rarity = (n: number) => Math.log(1 + files.length / (1 + n)) ** 2
  const weights = counts.map(({ word, found }) => {
    const inPath = (path: string) => path.toLowerCase().includes(word.toLowerCase())
    return { found, inPath, rare: rarity(found.size), rareInPath: rarity(files.filter(inPath).length) }
  })
  const score = (path: string) =>
    weights.reduce((sum, { found, inPath, rare, rareInPath }) => {
      const hits = found.get(path) ?? 0
      return sum + (rare * hits) / (hits + 2) + (inPath(path) ? rareInPath : 0)
    }, 0)
  const scored = files.map((path) => ({ path, score: score(path) }))
  const sorted = scored.sort((a, b) => b.score - a.score || a.path.localeCompare(b.path)).map(({ path }) => path)
  return mixed(sorted, most)
}

/** Tests repeat the words of what they test: they get a third of the places, unless there is nothing else. */
function mixed(paths: string[], most: number): string[] {
  const isTest = (path: string) => /(^|[/._-])(tests?|specs?)([/._-]|$)/i.test(path)
  const tests = paths.filter(isTest).slice(0, Math.ceil(most / 3))
  const others = paths.filter((path) => !isTest(path)).slice(0, most - tests.length)
  const kept = new Set([...others, ...tests])
  return paths.filter((path) => kept.has(path))
}

/** How much a term tells: the fewer files have it, the more. */
export const telling = (counts: Counts): number[] => counts.map(({ found }) => 1 / Math.log2(2 + found.size))

/** The lines of a file, as `read` numbers them, that say most about the terms; in the file's order. */
export function scan(
  file: { path: string; numbered: string },
  terms: readonly Term[],
  weights: readonly number[],
  most: number,
): Found[] {
  const patterns = terms.map(({ pattern }) => new RegExp(pattern, "i"))
  const hits = file.numbered.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\t(.*)$/.exec(line)
    if (!match) return []
    const text = match[2]!.trim()
    const words = patterns.reduce((sum, pattern, n) => sum + (pattern.test(text) ? weights[n]! : 0), 0)
    return words > 0 ? [{ number: Number(match[1]), text: text.slice(0, 160), score: words * kind(text) }] : []
  })
  const best = hits.sort((a, b) => b.score - a.score || a.number - b.number).slice(0, most)
  const lines = best.sort((a, b) => a.number - b.number).map(({ number, text }) => ({ number, text }))
  return lines.length > 0 ? [{ path: file.path, lines }] : []
}

/** Where something is made says more than where it is used, and imports say least. */
function kind(line: string): number {
  if (/^(import|from|require|use|#include)\b/.test(line)) return 0.2
  return /^(export|pub|public|class|def|fn|func|function|interface|type|struct|test|it|describe|#+)\b/.test(line)
    ? 1.5
    : 1
}
