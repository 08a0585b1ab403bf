import { createHash } from "node:crypto"
import { closeSync, readSync } from "node:fs"
import { setImmediate } from "node:timers/promises"
import * as z from "zod"
import { type Output, type Tool, tool, type Use } from "../agent/scope.ts"
import { codeOf } from "../core/error.ts"
import { digest, hashOf, mostHashed } from "./files.ts"
import { imageType } from "./image.ts"
import { count, pathInput, tolerant } from "./input.ts"
import { Lines } from "./lines.ts"
import { missing } from "./missing.ts"
import { type OpenFile, openFile } from "./open.ts"
import { readAccess, readable, shown } from "./paths.ts"
import { decode, wideEncoding } from "./text.ts"
import type { World } from "./world.ts"

const mostLines = 2_000
const width = 2_000
/** Below the cap for results, so that what is shown ends with a whole line. */
const room = 49_000
const chunkSize = 256 * 1024
const mostImage = 5 * 1024 * 1024

const input = tolerant(
  { path: "file_path" },
  z.strictObject({
    file_path: pathInput,
    offset: count(0).optional().describe("first line, from 1"),
    limit: count(1).optional().describe(`lines, ${mostLines} if not given`),
  }),
)

type Input = z.output<typeof input>
/** A file at hand: its content as it comes, which may be all of it at once, and how it is called. */
type Source = OpenFile & { path: string; name: string; first: Buffer; isAll: boolean; rest: AsyncGenerator<Buffer> }

export const read = (world: World): Tool =>
  tool({
    name: "read",
    description: "Read a file, with line numbers. Images are shown. Long files: use offset and limit.",
    input,
    repeatable: true,
    access: ({ file_path }, root) => readAccess(world, file_path, root),
    async run(asked, use) {
      const path = readable(world, asked.file_path, use)
      const file = await openFile(path).catch(async (error) => {
        throw codeOf(error) === "ENOENT" ? await missing(world, path, use) : error
      })
      try {
        use.signal.throwIfAborted()
        const buffer = Buffer.allocUnsafe(Math.min(chunkSize, Math.max(file.stats.size + 1, 4_096)))
        const first = buffer.subarray(0, readSync(file.descriptor, buffer))
        // A regular file gives less than asked only at its end.
        const isAll = first.length < buffer.length
        const rest = chunks(file.descriptor, isAll, use.signal)
        return await look({ ...file, path, name: shown(path, use.root), first, isAll, rest }, asked, use)
      } finally {
        closeSync(file.descriptor)
      }
    },
  })

async function look(source: Source, asked: Input, use: Use): Promise<Output> {
  const image = imageType(source.first)
  if (image) return await picture(source, image, use)
  if (wideEncoding(source.first)) return await wide(source, asked)
  if (source.first.includes(0)) {
    const size = `${source.stats.size} bytes`
    throw new Error(`${source.name} is a binary file (${size}): look at it with bash, for instance file or xxd`)
  }
  return await text(source, asked)
}

async function picture({ path, name, stats, first, rest }: Source, mediaType: string, use: Use): Promise<Output> {
  if (!use.images) throw new Error(`${name} is an image, and this model cannot look at images`)
  if (stats.size > mostImage)
    throw new Error(`${name} is an image of ${stats.size} bytes: ${mostImage} is the most; make it smaller`)
  const bytes = await whole(first, rest)
  return {
    ok: true,
    text: `${name}: image (${mediaType}, ${bytes.length} bytes)`,
    images: [{ mediaType, data: bytes.toString("base64") }],
    touched: [{ did: "read", path, hash: hashOf(bytes) }],
  }
}

async function wide({ path, name, stats, first, rest }: Source, asked: Input): Promise<Output> {
  if (stats.size > mostHashed) throw new Error(`${name} is UTF-16 text of ${stats.size} bytes: convert it with bash`)
  const bytes = await whole(first, rest)
  const lines = windowOf(asked)
  const { text, lossy } = decode(bytes)
  lines.push(Buffer.from(text))
  lines.end()
  lines.lossy ||= lossy
  return { ok: true, text: told(name, lines, asked), touched: [{ did: "read", path, hash: hashOf(bytes) }] }
}

async function text({ path, name, stats, first, isAll, rest }: Source, asked: Input): Promise<Output> {
  const partly = asked.offset !== undefined || asked.limit !== undefined
  if (stats.size > mostHashed && !partly)
    throw new Error(`${name} has ${stats.size} bytes: read a part of it with offset and limit, or grep it`)
  const lines = windowOf(asked)
  const bom = first[0] === 0xef && first[1] === 0xbb && first[2] === 0xbf ? 3 : 0
  if (isAll) {
    lines.whole(first.subarray(bom))
    return { ok: true, text: told(name, lines, asked), touched: [{ did: "read", path, hash: hashOf(first) }] }
  }
  const hash = createHash("sha256")
  lines.push(first.subarray(bom))
  hash.update(first)
  let size = first.length
  for await (const chunk of rest) {
    size += chunk.length
    lines.push(chunk)
    if (Math.max(size, stats.size) <= mostHashed) hash.update(chunk)
    else if (lines.full) return { ok: true, text: told(name, lines, asked, "part") }
  }
  lines.end()
  if (size > mostHashed) return { ok: true, text: told(name, lines, asked, "part") }
  return { ok: true, text: told(name, lines, asked), touched: [{ did: "read", path, hash: digest(hash) }] }
}

const windowOf = ({ offset = 1, limit = mostLines }: Input): Lines =>
  new Lines({ offset: Math.max(1, offset), limit, width, room })

/** The lines, and what the model must know to get the rest. */
function told(name: string, lines: Lines, { offset = 1 }: Input, seen: "all" | "part" = "all"): string {
  const first = Math.max(1, offset)
  const last = first + lines.shown.length - 1
  if (seen === "all" && lines.total === 0) return `(${name} is empty)`
  if (lines.shown.length === 0) throw new Error(`${name} has only ${lines.total} lines: there is no line ${first}`)
  const notes: string[] = []
  if (seen === "part") notes.push(`lines ${first}-${last}; the file is too large to edit`)
  else if (first > 1 || last < lines.total) notes.push(`lines ${first}-${last} of ${lines.total}`)
  if (last < lines.total) notes.push(`go on with offset ${last + 1}`)
  if (lines.lossy) notes.push("some bytes are not UTF-8 and are shown as \uFFFD")
  return [...lines.shown, ...(notes.length > 0 ? ["", `(${notes.join("; ")})`] : [])].join("\n")
}

/** What comes after the first. The buffer is used again for each chunk: whoever keeps a part of it must copy that. */
async function* chunks(descriptor: number, isAll: boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
  if (isAll) return
  const buffer = Buffer.allocUnsafe(chunkSize)
  for (;;) {
    // A chunk is read in microseconds; between two of them everybody else has a turn.
    await setImmediate()
    signal.throwIfAborted()
    const size = readSync(descriptor, buffer)
    if (size === 0) return
    yield buffer.subarray(0, size)
    if (size < buffer.length) return
  }
}

async function whole(first: Buffer, rest: AsyncGenerator<Buffer>): Promise<Buffer> {
  const parts = [Buffer.from(first)]
  for await (const chunk of rest) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts)
}
