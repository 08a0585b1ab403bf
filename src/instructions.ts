import { dirname, join, relative, resolve } from "node:path"
import { readRegular } from "./config/file.ts"
import { foldersDown } from "./config/repository.ts"
import { type Diagnostic, printable } from "./config/settings.ts"

export type Instructions = {
  /** Empty when the project has none. */
  text: string
  /** What the text was made of, in its order: paths from the project's root, and the bytes that entered it. */
  files: { path: string; bytes: number }[]
  diagnostics: Diagnostic[]
}

/** Bytes of one file and of all, how deep imports may go, how many files there may be. */
export type Bounds = { file: number; total: number; depth: number; files: number }

const usual: Bounds = { file: 64 * 1024, total: 128 * 1024, depth: 5, files: 100 }

type Document = { path: string; text: string; size: number; stub: boolean }
type Gathering = {
  root: string
  bounds: Bounds
  documents: Document[]
  seen: Set<string>
  warn(path: string, message: string): void
}

/** What AGENTS.md and CLAUDE.md say, from the repository's root down to the working folder, each text once. */
export async function instructions(cwd: string, bounds: Partial<Bounds> = {}): Promise<Instructions> {
  const folders = foldersDown(cwd)
  const diagnostics: Diagnostic[] = []
  const [root] = folders
  const warn = (path: string, message: string) =>
    void diagnostics.push({ severity: "warning", file: nameOf(path, root), message: printable(message) })
  const gathering = { root, bounds: { ...usual, ...bounds }, documents: [], seen: new Set<string>(), warn }
  for (const path of folders.flatMap((folder) => ["AGENTS.md", "CLAUDE.md"].map((name) => join(folder, name)))) {
    const why = await gather(path, 0, gathering)
    if (why && why !== absent) warn(path, `${why}; it is left out`)
  }
  return { ...compose(gathering), diagnostics }
}

const absent = "is not there"

/** Takes in a file and then what it imports. Says why not, if not. */
async function gather(path: string, depth: number, gathering: Gathering): Promise<string | undefined> {
  const { root, bounds, documents, seen } = gathering
  const reading = await readRegular(path, { limit: bounds.file, within: root })
  if (reading.got === "nothing") return absent
  if (reading.got === "refused") return reading.why
  if (seen.has(reading.path)) return undefined
  if (reading.bytes.includes(0)) return "is not text"
  if (documents.length >= bounds.files) return `comes after ${bounds.files} others`
  seen.add(reading.path)
  const text = cleaned(wholeLines(reading.bytes, reading.size))
  const document: Document = { path, text, size: reading.size, stub: false }
  documents.push(document)
  const { imports, others } = importsOf(text)
  let taken = 0
  for (const each of imports.slice(0, bounds.files)) if (await include(each, { path, depth, gathering })) taken++
  document.stub = !others && taken === imports.length
  return undefined
}

async function include(written: string, from: { path: string; depth: number; gathering: Gathering }): Promise<boolean> {
  const { path, depth, gathering } = from
  const why =
    depth >= gathering.bounds.depth
      ? `is more than ${gathering.bounds.depth} imports deep`
      : await gather(resolve(dirname(path), written), depth + 1, gathering)
  // Many words begin with @, names, packages and folders among them; only what looks like a document is missed.
  if (why && /\.(md|mdc|txt)$/i.test(written)) gathering.warn(path, `@${written} ${why}; it is not imported`)
  return !why
}

function compose({ root, bounds, documents, warn }: Gathering): Pick<Instructions, "text" | "files"> {
  const told = new Set<string>()
  const sections: string[] = []
  const files: Instructions["files"] = []
  let left = bounds.total
  for (const { path, text, size, stub } of documents) {
    const all = text.trim()
    if (stub || told.has(all)) continue
    told.add(all)
    const shown = wholeLines(Buffer.from(all).subarray(0, left), Buffer.byteLength(all)).toString().trimEnd()
    const bytes = Buffer.byteLength(shown)
    const cut = size > bounds.file || shown !== all
    const name = nameOf(path, root)
    if (cut)
      warn(path, bytes ? `is too long; ${bytes} of ${size} bytes are used` : "is left out: the others are too long")
    if (!bytes) continue
    left -= bytes
    files.push({ path: name, bytes })
    const note = cut ? `\n\n[cut: ${bytes} of ${size} bytes; read ${name} for the rest]` : ""
    sections.push(`# Instructions: ${name}\n\n${shown}${note}`)
  }
  return { text: sections.join("\n\n"), files }
}

/** What was cut ends with a whole line, or else with a whole character. */
function wholeLines(bytes: Buffer, size: number): Buffer {
  if (bytes.length >= size) return bytes
  const end = bytes.lastIndexOf(0x0a)
  if (end > 0) return bytes.subarray(0, end)
  return Buffer.from(bytes.toString().replace(/\ufffd+$/, ""))
}

/** Line ends as one, and none of the characters that hide or reorder text before a reader's eyes. */
const cleaned = (bytes: Buffer): string =>
  new TextDecoder()
    .decode(bytes)
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu, "")

/** The files named as `@path`, and whether the text says anything else. Code is no place for imports. */
export function importsOf(text: string): { imports: string[]; others: boolean } {
  const imports: string[] = []
  const rest = withoutCode(text).replace(/(^|[\s(])@([^\s`@]+)/g, (_, before: string, written: string) => {
    const path = written.replace(/[.,;:!?)\]}'"*]+$/, "")
    if (path) imports.push(path)
    return before
  })
  return { imports, others: rest.trim() !== "" }
}

/** A code span becomes one backtick; a fenced block a line of its own that no backtick can pair with. */
function withoutCode(text: string): string {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1]
    if (fence === undefined) lines.push(mark ? "\u0000" : line)
    if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = undefined
  }
  return lines.join("\n").replace(/(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?(?<!`)\1(?!`)/g, "`")
}

const nameOf = (path: string, root: string): string => printable(relative(root, path))
