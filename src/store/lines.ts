import type { FileHandle } from "node:fs/promises"

/** `bytes` is undefined for a line that is too long to hold. Only the last may not have `ended`. */
export type RawLine = { bytes: Buffer | undefined; size: number; ended: boolean }

const chunk = 256 * 1024
const newline = 10

/** The lines of a file, however large it is, some at a time; never more of it in memory than one chunk and one line. */
export async function* linesOf(file: FileHandle, longest = 64 * 1024 * 1024): AsyncGenerator<RawLine[]> {
  let parts: Buffer[] = []
  let size = 0
  const add = (part: Buffer) => {
    size += part.length
    if (size <= longest) parts.push(part)
    else parts = []
  }
  const take = (ended: boolean): RawLine => {
    const [only] = parts
    const bytes = parts.length === 1 ? only : Buffer.concat(parts)
    const line = { bytes: size <= longest ? bytes : undefined, size, ended }
    parts = []
    size = 0
    return line
  }
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunk), 0, chunk)
    if (bytesRead === 0) break
    const read = buffer.subarray(0, bytesRead)
    const lines: RawLine[] = []
    let from = 0
    for (let end = read.indexOf(newline); end >= 0; end = read.indexOf(newline, from)) {
      add(read.subarray(from, end))
      lines.push(take(true))
      from = end + 1
    }
    if (from < bytesRead) add(read.subarray(from))
    if (lines.length > 0) yield lines
  }
  if (size > 0) yield [take(false)]
}
