import { isUtf8 } from "node:buffer"
import { headOf } from "./cap.ts"

export type Wanted = { offset: number; limit: number; width: number; room: number }

/** Picks a window of lines from bytes as they come, and remembers nothing else of them. */
export class Lines {
  readonly shown: string[] = []
  /** Lines so far, the unfinished one included. */
  total = 0
  lossy = false
  #wanted: Wanted
  #used = 0
  #full = false
  #parts: Buffer[] = []
  #length = 0
  #begun = false

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  /** Whether nothing that still comes would be shown. */
  get full(): boolean {
    return this.#full
  }

  /** All there is, at once: the same as bytes in pieces, and much faster. */
  whole(bytes: Buffer): void {
    if (!isUtf8(bytes)) {
      this.push(bytes)
      this.end()
      return
    }
    const lines = bytes.toString("utf8").split("\n")
    if (lines.at(-1) === "") lines.pop()
    this.total = lines.length
    const { offset, width } = this.#wanted
    for (let at = offset - 1; at < lines.length && !this.#full; at++) {
      const line = lines[at]!
      const text = line.endsWith("\r") ? line.slice(0, -1) : line
      this.#add(at + 1, text.length > width ? this.#shortened(text, Buffer.byteLength(line)) : text)
    }
  }

  push(chunk: Buffer): void {
    let start = 0
    while (start < chunk.length) {
      const end = chunk.indexOf(10, start)
      this.#take(chunk.subarray(start, end === -1 ? chunk.length : end))
      if (end === -1) return
      this.#close()
      start = end + 1
    }
  }

  end(): void {
    if (this.#begun) this.#close()
  }

  #take(piece: Buffer): void {
    if (!this.#begun) this.total++
    this.#begun = true
    if (this.total < this.#wanted.offset || this.#full) return
    // A character takes four bytes at most: more than that is never shown of a line.
    const room = this.#wanted.width * 4 + 4 - this.#length
    if (room > 0) this.#parts.push(Buffer.from(piece.subarray(0, room)))
    this.#length += piece.length
  }

  #close(): void {
    const inWindow = this.total >= this.#wanted.offset && !this.#full
    if (inWindow) this.#show()
    this.#parts = []
    this.#length = 0
    this.#begun = false
  }

  #show(): void {
    const bytes = Buffer.concat(this.#parts)
    const cut = this.#length > bytes.length
    const text = bytes.toString("utf8").replace(/\r$/, "")
    if (!cut && !isUtf8(bytes)) this.lossy = true
    this.#add(this.total, cut || text.length > this.#wanted.width ? this.#shortened(text, this.#length) : text)
  }

  #add(number: number, line: string): void {
    const row = `${String(number).padStart(6)}\t${line}`
    this.#used += row.length + 1
    if (this.#used > this.#wanted.room && this.shown.length > 0) {
      this.#full = true
      return
    }
    this.shown.push(row)
    if (this.shown.length === this.#wanted.limit) this.#full = true
  }

  #shortened(text: string, bytes: number): string {
    return `${headOf(text, this.#wanted.width)}… [cut: this line has ${bytes} bytes]`
  }
}
