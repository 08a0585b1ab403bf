import type * as Yaml from "yaml"
import type { Entry, Note } from "./entry.ts"
import { plain } from "./plain.ts"
import { scan } from "./scanner.ts"
import { split } from "./split.ts"
import { strict } from "./strict.ts"

export type FrontMatter = { entries: Entry[]; body: string; notes: Note[] }

const mostMatter = 32 * 1024
const mostLines = 1_000

/** Reads the front matter of any file that people have; null if it has none. Nothing in it is ever executed. */
export async function frontMatter(text: string): Promise<FrontMatter | null> {
  const parts = split(text)
  if (!parts) return null
  const { matter, line, body } = parts
  if (parts.language)
    return unread(
      line - 1,
      body,
      `front matter in ${parts.language} is not read, so the agent gets no tools; write it in YAML`,
    )
  if (matter.length > mostLines || matter.reduce((sum, each) => sum + each.length + 1, 0) > mostMatter)
    return unread(
      line,
      body,
      "the front matter is over 32 KB or 1,000 lines, so the agent gets no tools; make it shorter",
    )
  const { entries, notes } = await read(matter, line)
  if (!entries.length) return null
  return { entries, body, notes: [...(parts.odd ? [warning(line, parts.odd)] : []), ...notes] }
}

async function read(matter: readonly string[], line: number): Promise<{ entries: Entry[]; notes: Note[] }> {
  const entries = plain(matter, line)
  if (entries && !entries.some(isSpilled)) return { entries, notes: [] }
  const yaml = await import("yaml")
  const whole = matter.some(isBroken) ? undefined : strict(yaml, matter, line)
  if (whole && !whole.entries.some(isSpilled)) return whole
  const scanned = scan(matter, line, (lines, at) => field(yaml, lines, at))
  const note: Note = { severity: "info", line, message: "the front matter is not clean YAML; it was read line by line" }
  return scanned.entries.length ? { ...scanned, notes: [note, ...scanned.notes] } : scanned
}

/** One field of a scanned front matter, or several where only the first was known. */
function field(yaml: typeof Yaml, lines: readonly string[], at: number): Entry[] | undefined {
  const entries = plain(lines, at) ?? (isBroken(lines[0]!) ? undefined : strict(yaml, lines, at)?.entries)
  return entries?.some(isSpilled) ? undefined : entries
}

/** Plain text with a colon in it, which YAML forbids: seen at once, where a parser reads it all to find an error. */
const isBroken = (line: string): boolean =>
  /^[A-Za-z][\w-]*: +[A-Za-z]/.test(line) && line.includes(": ", line.indexOf(": ") + 2) && !line.includes(" #")

/** A key that is no field but a line of a description that was not indented. */
const isSpilled = ({ key }: Entry): boolean =>
  /^(?:user|assistant|human|commentary)$/i.test(key) || /^(?:Context|Examples?)$|^<|\s/.test(key)

const warning = (line: number, message: string): Note => ({ severity: "warning", line, message })

/** What cannot be read gives no tools. */
function unread(line: number, body: string, message: string): FrontMatter {
  return { entries: [{ key: "tools", value: null, text: "", line, broken: message }], body, notes: [] }
}
