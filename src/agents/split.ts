import { meaning } from "./keys.ts"

/** A file in two parts. `line` is where the front matter begins, counted from 1. */
export type Split = {
  matter: string[]
  line: number
  body: string
  /** The language that the fence names, where it is not YAML: such a front matter is not read. */
  language?: string
  /** What was odd about the fences. */
  odd?: string
}

const dashes = /^(?:[-–—]{3,}|—)$/
const opening = /^-{3,}[ \t]*([A-Za-z][\w+-]*)?$/
const readable = new Set(["yaml", "yml", "json"])

/** Finds the front matter; null if there is none. */
export const split = (text: string): Split | null => usual(text) ?? unusual(text)

/** A file as it should be, without looking at each line of a long prompt. */
function usual(text: string): Split | undefined {
  if (!text.startsWith("---\n")) return undefined
  const close = text.indexOf("\n---", 3)
  const end = close < 0 ? -1 : text.indexOf("\n", close + 1)
  if (close < 0 || !isFence(text.slice(close + 1, end < 0 ? undefined : end))) return undefined
  return { matter: text.slice(4, close).split("\n"), line: 2, body: end < 0 ? "" : text.slice(end + 1) }
}

function unusual(text: string): Split | null {
  const all = text.split("\n")
  const start = skipComments(all)
  const outer = outerFence(all, start)
  const first = outer ? nextFull(all, start + 1) : start
  const lines = dedented(all, first)
  const open = lines[first]?.trim() ?? ""
  if (open.startsWith("+++")) return foreign(lines, first, "toml")
  const language = opening.exec(open)?.[1]?.toLowerCase()
  if (language && !readable.has(language)) return foreign(lines, first, language)
  const fenced = opening.test(open) || (dashes.test(open) && isKey(lines[nextFull(lines, first + 1)]))
  // Without an opening fence, only what begins like an agent's front matter and is closed counts as one.
  if (!fenced && !isFirstKey(open)) return null
  const from = fenced ? first + 1 : first
  const close = lines.findIndex((line, at) => at >= from && isFence(line))
  if (close < 0 && !fenced) return null
  const end = close < 0 ? unclosedEnd(lines, from) : close
  const body = lines.slice(close < 0 ? end : close + 1)
  return {
    matter: lines.slice(from, end),
    line: from + 1,
    body: (outer ? withoutOuter(body, outer) : body).join("\n"),
    ...(close < 0 && { odd: "the front matter is not closed; put a line of three dashes after it" }),
    ...(!fenced && { odd: "the front matter is not opened; put a line of three dashes before it" }),
  }
}

const isFence = (line: string): boolean => dashes.test(line.trimEnd())
const isKey = (line = ""): boolean => {
  const colon = line.indexOf(":")
  return colon > 0 && colon < 40 && meaning(line.slice(0, colon).trim()) !== undefined
}
const isFirstKey = (line: string): boolean => /^(?:name|description)[ \t]*:/.test(line)

function nextFull(lines: readonly string[], from: number): number {
  const at = lines.findIndex((line, index) => index >= from && line.trim() !== "")
  return at < 0 ? lines.length : at
}

/** The first line that is neither blank nor part of a comment, such as a licence or a linter's. */
function skipComments(lines: readonly string[]): number {
  const first = nextFull(lines, 0)
  if (!lines[first]?.trimStart().startsWith("<!--")) return first
  const end = lines.findIndex((line, at) => at >= first && line.includes("-->"))
  const next = end < 0 ? first : nextFull(lines, end + 1)
  return opening.test(lines[next]?.trim() ?? "") ? next : first
}

/** The marks of a code fence that is put around the whole file. */
function outerFence(lines: readonly string[], at: number): string | undefined {
  const marks = /^\s*(`{3,}|~{3,})[ \t]*\w*[ \t]*$/.exec(lines[at] ?? "")?.[1]
  const inside = lines[nextFull(lines, at + 1)]?.trim() ?? ""
  return marks && opening.test(inside) ? marks : undefined
}

/** The end of the outer code fence, either just after the front matter or at the end of the file. */
function withoutOuter(body: string[], marks: string): string[] {
  const closes = (line = "") => line.trim().startsWith(marks) && line.trim().length === marks.length
  const first = nextFull(body, 0)
  if (closes(body[first])) return body.slice(first + 1)
  const fences = body.filter((line) => line.trim().startsWith(marks))
  const last = body.findLastIndex(closes)
  const isLast = nextFull(body, last + 1) === body.length
  return fences.length % 2 === 1 && isLast ? body.slice(0, last) : body
}

/** A file that is indented as a whole, by what its first line is indented. */
function dedented(lines: string[], first: number): string[] {
  const indent = /^[ \t]*/.exec(lines[first] ?? "")![0]
  if (!indent) return lines
  return lines.map((line) => {
    let shared = 0
    while (shared < indent.length && line[shared] === indent[shared]) shared++
    return line.slice(shared)
  })
}

/** Where a front matter without its closing fence ends: at the blank line after its last known key. */
function unclosedEnd(lines: string[], from: number): number {
  const heading = lines.findIndex((line, at) => at >= from && /^#+ /.test(line))
  const limit = heading < 0 ? lines.length : heading
  const last = lines.findLastIndex((line, at) => at >= from && at < limit && isKey(line))
  const blank = lines.findIndex((line, at) => at > last && at >= from && line.trim() === "")
  return blank < 0 ? limit : Math.min(blank, limit)
}

function foreign(lines: string[], first: number, language: string): Split {
  const fence = lines[first]!.trim().slice(0, 3)
  const close = lines.findIndex((line, at) => at > first && line.trimEnd() === fence)
  const body = close < 0 ? [] : lines.slice(close + 1)
  return { matter: [], line: first + 2, body: body.join("\n"), language }
}
