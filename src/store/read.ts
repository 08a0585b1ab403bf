import { isUtf8 } from "node:buffer"
import { type FileHandle, open } from "node:fs/promises"
import type { Fact, Stamped } from "../core/event.ts"
import type { Blobs } from "./blobs.ts"
import { isHeader, readFact } from "./fact.ts"
import { blobsIn, decode } from "./line.ts"
import { linesOf, type RawLine } from "./lines.ts"
import { Losses } from "./losses.ts"
import type { Header, Stored } from "./store.ts"
import { StoreError } from "./store-error.ts"

/** `ended`: whether the last line was. `seq`: the highest number of any line. */
type Read = { stored: Stored; ended: boolean; seq: number }

/** Everything that can be read of a session's file. */
export async function readSession(path: string, id: string, blobs: Blobs): Promise<Read> {
  const file = await open(path, "r")
  try {
    return await readLines(file, { path, id, blobs })
  } finally {
    await file.close()
  }
}

export type Texts = ReadonlyMap<string, string | undefined>

type Source = { path: string; id: string; blobs: Blobs }

async function readLines(file: FileHandle, { path, id, blobs }: Source): Promise<Read> {
  const losses = new Losses()
  const facts: Stamped<Fact>[] = []
  const seen = new Set<number>()
  const texts = new Map<string, string | undefined>()
  let header: Header | undefined
  let number = 0
  let seq = 0
  let ended = true

  const take = (line: RawLine, text: string) => {
    const reading = readFact(valueIn(text, texts, () => losses.blob(number)))
    seq = Math.max(seq, reading.is === "fact" ? reading.fact.seq : numberIn(text))
    if (reading.is === "stranger") losses.stranger()
    else if (reading.is === "garbage" && !line.ended) losses.torn(line.size)
    else if (reading.is === "garbage") losses.garbage(number)
    else if (seen.has(reading.fact.seq)) losses.repeated(number)
    else {
      seen.add(reading.fact.seq)
      facts.push(reading.fact)
    }
  }
  for await (const lines of linesOf(file)) {
    for (const line of lines) {
      number++
      ended = line.ended
      const text = textOf(line)
      if (header) {
        for (const hash of blobsIn(text)) if (!texts.has(hash)) texts.set(hash, await blobs.get(hash))
        take(line, text)
      } else header = headerIn(text, { id, path })
    }
  }
  return { stored: { header: header ?? headerIn("", { id, path }), facts, lost: losses.sentences() }, ended, seq }
}

/** Every line begins with its number, whatever else it says. */
const numberIn = (text: string): number => Number(/^\{"seq":(\d{1,15})\b/.exec(text)?.[1] ?? 0)

/** Bytes that are not UTF-8 would turn into other letters without a word. */
const textOf = ({ bytes }: RawLine): string => (bytes && isUtf8(bytes) ? bytes.toString("utf8") : "")

/** Undefined when the line is not JSON. `missing` hears of each blob that has no text. */
export function valueIn(text: string, texts: Texts, missing: () => void): unknown {
  try {
    return decode(text, (hash, length) => {
      const found = texts.get(hash)
      if (found !== undefined) return found
      missing()
      return `[a text of ${length} characters stood here, but its file ${hash} is missing or damaged]`
    })
  } catch {
    return undefined
  }
}

/** The first line of a session's file. The file's name, not the header, says which session it is: files get copied. */
export function headerIn(text: string, { id, path }: { id: string; path: string }): Header {
  const header = valueIn(text, new Map(), () => {})
  if (!isHeader(header)) {
    const what = `session ${id} cannot be read: the first line of ${path} is not that of a session`
    throw new StoreError("bad_session", `${what}; restore the file or start a new session`)
  }
  const { legwork, ...about } = header
  if (legwork === 1) return { ...about, legwork, id }
  const what = `session ${id} was written by Legwork ${header.version} in format ${legwork}`
  throw new StoreError("newer_version", `${what}, and this version reads format 1; update Legwork to go on with it`)
}
