import type * as Yaml from "yaml"
import type { Entry, Note } from "./entry.ts"

const mostAliases = 20

/** What makes the parser's time grow with the square of the text or worse, and how much of it people need. */
const costly: readonly [RegExp, number][] = [
  [/(?<![^\s,[{:-])[&*][^\s&*,[\]{}]/g, 60],
  [/[[{]/g, 200],
  [/(?<!\S)\?(?=\s)/g, 8],
  [/(?<!\S)- (?=- )/g, 8],
]

/** Reads lines as YAML: undefined unless they are a map without a fault. A key that comes twice is no fault. */
export function strict(
  yaml: typeof Yaml,
  lines: readonly string[],
  firstLine: number,
): { entries: Entry[]; notes: Note[] } | undefined {
  const text = `${lines.join("\n")}\n`
  if (costly.some(([pattern, most]) => (text.match(pattern)?.length ?? 0) > most)) return undefined
  try {
    const document = yaml.parseDocument(text, { prettyErrors: false, logLevel: "silent", uniqueKeys: false })
    if (document.errors.length || !yaml.isMap(document.contents)) return undefined
    const lineAt = lineCounter(text, firstLine)
    return once(document.contents.items.map((pair) => entryOf(yaml, pair, { document, text, lineAt })))
  } catch {
    // Nested too deeply, or aliases that multiply: it is no front matter that a person wrote.
    return undefined
  }
}

/** Of entries with the same key the last counts. */
export function once(entries: readonly Entry[]): { entries: Entry[]; notes: Note[] } {
  const byKey = new Map<string, Entry>()
  const notes: Note[] = []
  for (const entry of entries) {
    if (byKey.has(entry.key)) notes.push(repeated(entry))
    byKey.set(entry.key, entry)
  }
  return { entries: [...byKey.values()], notes }
}

const repeated = ({ key, line }: Entry): Note => ({
  severity: "warning",
  line,
  message: `${key} comes twice; the last one counts, take the other out`,
})

type Place = { document: Yaml.Document.Parsed; text: string; lineAt(offset: number): number }

function entryOf(yaml: typeof Yaml, pair: Yaml.Pair, { document, text, lineAt }: Place): Entry {
  const { key, value } = pair as Yaml.Pair<Yaml.Node, Yaml.Node | null>
  const offset = key.range?.[0] ?? 0
  const line = lineAt(offset)
  const name = yaml.isScalar(key) ? (key.source ?? String(key.value)) : String(key)
  const plain = yaml.isScalar(value) && value.value !== null ? text.slice(...range(value)) : restOfLine(text, offset)
  return { key: name, value: value?.toJS(document, { maxAliasCount: mostAliases }) ?? null, text: plain, line }
}

const range = ({ range }: Yaml.Node): [number, number] => (range ? [range[0], range[1]] : [0, 0])

function restOfLine(text: string, offset: number): string {
  const end = text.indexOf("\n", offset)
  const line = text.slice(offset, end < 0 ? text.length : end)
  return line.slice(line.indexOf(":") + 1).trim()
}

/** The line of an offset; asked for in rising order, it reads the text once. */
function lineCounter(text: string, firstLine: number): (offset: number) => number {
  let line = firstLine
  let next = text.indexOf("\n")
  return (offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf("\n", next + 1)) line++
    return line
  }
}
