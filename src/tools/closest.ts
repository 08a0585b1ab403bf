import { headOf } from "./cap.ts"

const mostLines = 20_000
const mostShown = 12

/** Ways in which a copied text often differs, from the slightest on. */
const differences: { say: string; plain(line: string): string }[] = [
  { say: "only white space at the ends of lines differs", plain: (line) => line.trimEnd() },
  { say: "only white space differs (tabs, spaces, indentation)", plain: (line) => line.replace(/\s+/g, "") },
  { say: "only quotes, dashes or other look-alike characters differ", plain: (line) => plainly(line) },
  { say: "only upper and lower case differ", plain: (line) => plainly(line).toLowerCase() },
]

const plainly = (line: string): string =>
  line
    .normalize("NFKC")
    .replace(/[\u2018\u2019\u201a\u201b]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-")
    .replace(/\s+/g, "")

/** What to add to "not in the file": what differs and where, with the lines as they really are. */
export function closest(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/).slice(0, mostLines)
  const asked = wanted.replace(/\r?\n$/, "").split(/\r?\n/)
  if (asked.every((line) => /^\s*\d+\t/.test(line)))
    return ": it has the line numbers that read puts before each line; leave them and the tab out"
  for (const { say, plain } of differences) {
    const at = windowAt(lines.map(plain), asked.map(plain))
    if (at !== -1) return `: ${say}. The file has\n${numbered(lines, at, asked.length)}`
  }
  const at = likeliest(lines, asked)
  if (at === -1) return ": nothing in it is like it; read the file again"
  return `. The closest lines are\n${numbered(lines, at, asked.length)}`
}

/** Where the asked lines stand one below the other; the first and the last may be parts of lines. */
function windowAt(lines: readonly string[], asked: readonly string[]): number {
  const last = asked.length - 1
  const fits = (line: string, part: string, index: number) => {
    if (last === 0) return part !== "" && line.includes(part)
    if (index === 0) return line.endsWith(part)
    return index === last ? line.startsWith(part) : line === part
  }
  return lines.findIndex(
    (_, at) => at + last < lines.length && asked.every((part, index) => fits(lines[at + index]!, part, index)),
  )
}

/** The place that shares most words with the asked lines, if it shares at least a third of them. */
function likeliest(lines: readonly string[], asked: readonly string[]): number {
  const words = new Set(asked.flatMap(wordsOf))
  if (words.size === 0) return -1
  const shared = lines.map((line) => new Set(wordsOf(line).filter((word) => words.has(word))))
  let best = { at: -1, score: Math.max(0, words.size / 3 - 1) }
  for (let at = 0; at < lines.length; at++) {
    const window = shared.slice(at, at + Math.min(asked.length, mostShown))
    const score = new Set(window.flatMap((each) => [...each])).size
    if (score > best.score && shared[at]!.size > 0) best = { at, score }
  }
  return best.at
}

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+/gu) ?? []

const numbered = (lines: readonly string[], at: number, length: number): string =>
  lines
    .slice(at, at + Math.min(length, mostShown))
    .map((line, index) => `${String(at + index + 1).padStart(6)}\t${headOf(line, 500)}`)
    .join("\n")
