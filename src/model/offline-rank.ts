import type { Term } from "./offline-terms.ts"

export type Counts = { word: string; found: Map<string, number> }[]
export type Found = { path: string; lines: { number: number; text: string }[] }

export type Place = "source" | "tests" | "documents"

const isTest = (path: string): boolean => /(^|[/._-])(tests?|specs?)([/._-]|$)/i.test(path)
const isDocument = (path: string): boolean => /\.(md|mdx|rst|txt|adoc)$/i.test(path)

export const isPlace = (word: string): word is Place => ["source", "tests", "documents"].includes(word)

export function inPlace(place: Place): (path: string) => boolean {
  if (place === "tests") return isTest
  return place === "documents" ? isDocument : (path) => !isTest(path) && !isDocument(path)
}

/** The best files for the terms. Rare terms count for more, many hits in one file for little more than a few. */
export function rank(counts: Counts, most: number, counted: (path: string) => boolean): string[] {
  const files = [...new Set(counts.flatMap(({ found }) => [...found.keys()]))].filter(counted)
  const rarity = (n: number) => Math.log(1 + files.length / (1 + n)) ** 2
  const weights = counts.map(({ word, found }) => {
    const inPath = (path: string) => path.toLowerCase().includes(word.toLowerCase())
    const hits = files.filter((path) => found.has(path)).length
    return { found, inPath, rare: rarity(hits), rareInPath: rarity(files.filter(inPath).length) }
  })
  const score = (path: string) =>
    weights.reduce((sum, { found, inPath, rare, rareInPath }) => {
      const hits = found.get(path) ?? 0
      return sum + (rare * hits) / (hits + 2) + (inPath(path) ? rareInPath : 0)
    }, 0)
  const scored = files.map((path) => ({ path, score: score(path) }))
  const sorted = scored.sort((a, b) => b.score - a.score || a.path.localeCompare(b.path))
  return sorted.slice(0, most).map(({ path }) => path)
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
