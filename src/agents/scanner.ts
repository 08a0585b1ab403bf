import type { Entry, Note } from "./entry.ts"
import { meaning, restricts } from "./keys.ts"
import { once } from "./strict.ts"

type Chunk = { key: string; line: number; lines: string[] }
/** Reads the lines of a field as YAML; undefined if they are none. */
export type ReadField = (lines: readonly string[], line: number) => Entry[] | undefined

/** Reads front matter that is not YAML, line by line: a key at the beginning of a line opens a field. */
export function scan(
  lines: readonly string[],
  firstLine: number,
  read: ReadField,
): { entries: Entry[]; notes: Note[] } {
  const fields = chunksOf(lines, firstLine).map((chunk) => ({
    chunk,
    entries: read(chunk.lines, chunk.line) ?? read(spaced(chunk), chunk.line),
  }))
  const { entries, notes } = once(fields.flatMap(({ chunk, entries }) => entries ?? [literal(chunk)]))
  const lost = swallowed(
    fields.flatMap(({ chunk, entries }) => (entries ? [] : [chunk])),
    entries,
  )
  return { entries: lost ? [...entries, lost] : entries, notes }
}

function chunksOf(lines: readonly string[], firstLine: number): Chunk[] {
  const inside = insideExamples(lines)
  const chunks: Chunk[] = []
  const seen = new Set<string>()
  for (const [at, line] of lines.entries()) {
    const chunk = chunks.at(-1)
    const key = keyOf(line)
    const prose = chunk && isProse(chunk.key)
    if (key && (prose ? !inside[at] && !seen.has(key) && endsProse(key, line) : true)) {
      chunks.push({ key, line: firstLine + at, lines: [line] })
      seen.add(key)
    } else chunk?.lines.push(line)
  }
  return chunks
}

/** The key that a line begins with. One that is known needs no space after its colon. */
function keyOf(line: string): string | undefined {
  const colon = line.indexOf(":")
  if (colon < 1 || colon > 60) return undefined
  const key = line
    .slice(0, colon)
    .trimEnd()
    .replace(/^(["'])(.*)\1$/, "$2")
  if (!/^[A-Za-z_$][\w.$-]*$/.test(key)) return undefined
  return meaning(key) || /^[ \t]|^$/.test(line.slice(colon + 1)) ? key : undefined
}

const isProse = (key: string): boolean => ["description", "whenToUse", "prompt"].includes(meaning(key) ?? "")

/** A dialogue may say "Context: …" or "Tools: …": only the exact word, and for context only a value that it may have. */
function endsProse(key: string, line: string): boolean {
  if (!meaning(key) || /^[A-Z]/.test(key)) return false
  return key !== "context" || /:\s*(?:fork|fresh|filtered)\s*$/.test(line)
}

/** Which lines stand inside an example. One that is never closed does not count, or it would swallow all that follows. */
function insideExamples(lines: readonly string[]): boolean[] {
  const lastClose = lines.findLastIndex((line) => line.includes("</example>"))
  let open = false
  return lines.map((line, at) => {
    const was = open && at <= lastClose
    const [opens, closes] = [line.lastIndexOf("<example>"), line.lastIndexOf("</example>")]
    if (opens !== closes) open = opens > closes
    return was
  })
}

/** YAML has no tabs at the beginning of a line; people do. */
const spaced = ({ lines }: Chunk): string[] =>
  lines.map((line) => line.replace(/^[ \t]+/, (indent) => indent.replaceAll("\t", "  ")))

/** The text as it stands, without the quotes around it or the mark of a block. */
function literal({ key, line, lines }: Chunk): Entry {
  const [first = "", ...rest] = lines
  const head = first.slice(first.indexOf(":") + 1).trim()
  const block = /^[|>][+-]?\d?$/.test(head)
  const text = [...(block ? [] : [head]), ...rest.map((each) => each.trim())].join("\n").trim()
  return { key, value: unquoted(text), text, line }
}

function unquoted(text: string): string {
  const quote = text[0]
  if (text.length < 2 || (quote !== '"' && quote !== "'") || !text.endsWith(quote)) return text
  const inner = text.slice(1, -1)
  return quote === "'" ? inner.replaceAll("''", "'") : inner
}

/** A line that takes power away and ended up inside the text of another field: as good as one that cannot be read. */
function swallowed(literals: readonly Chunk[], entries: readonly Entry[]): Entry | undefined {
  const had = new Set(entries.map(({ key }) => meaning(key)))
  for (const chunk of literals) {
    for (const [at, line] of chunk.lines.entries()) {
      const key = at > 0 ? keyOf(line.trimStart()) : undefined
      if (key && /^[a-z]/.test(key) && restricts(key) && !had.has(meaning(key)))
        return { key: "tools", value: null, text: line.trim(), line: chunk.line + at, broken: inside(key) }
    }
  }
  return undefined
}

const inside = (key: string): string =>
  `${key} stands inside another field and cannot be read, so the agent gets no tools; begin its line at the left`
