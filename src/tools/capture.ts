import { type FileHandle, open } from "node:fs/promises"
import { reasonOf } from "../core/error.ts"
import { headOf, tailOf } from "./cap.ts"
import { Collapsed, Unescaped } from "./plain.ts"

type Options = {
  /** Makes an empty file for what does not fit and returns its path. */
  file(): Promise<string>
  /** Gets the text as it comes. */
  live(text: string): void
  /** Hides secrets in what goes into that file. */
  mask(text: string): string
  cap?: number
}

/** The output of a command as text. Memory is bounded: beyond the cap, only head and tail stay; the rest is in a file. */
export class Capture {
  #decoder = new TextDecoder()
  #unescaped = new Unescaped()
  #collapsed = new Collapsed()
  #file: Options["file"]
  #live: Options["live"]
  #mask: Options["mask"]
  #half: number
  #cap: number
  #head = ""
  #tail = ""
  #total = 0
  #spill: Spill | undefined

  constructor({ file, live, mask, cap = 50_000 }: Options) {
    this.#file = file
    this.#live = live
    this.#mask = mask
    this.#cap = cap
    this.#half = Math.floor(cap / 2)
  }

  /** Returns what to wait for before more is pushed, if anything. */
  push(chunk: Buffer): Promise<void> | undefined {
    return this.#add(this.#unescaped.push(this.#decoder.decode(chunk, { stream: true })))
  }

  async end(): Promise<string> {
    await this.#add(this.#unescaped.push(this.#decoder.decode()) + this.#unescaped.end())
    await this.#keep(this.#collapsed.end())
    if (!this.#spill) return this.#head
    const where = await this.#spill.end()
    const left = this.#total - this.#head.length - this.#tail.length
    return `${this.#head}\n\n[${left} of ${this.#total} characters left out here; ${where}]\n\n${this.#tail}`
  }

  #add(text: string): Promise<void> | undefined {
    this.#live(text.replace(/\r\n?/g, "\n"))
    return this.#keep(this.#collapsed.push(text))
  }

  #keep(text: string): Promise<void> | undefined {
    this.#total += text.length
    if (this.#spill) {
      this.#tail = tailOf(this.#tail + text, this.#half)
      return this.#spill.write(text)
    }
    this.#head += text
    if (this.#total <= this.#cap) return
    const all = this.#head
    this.#head = headOf(all, this.#half)
    this.#tail = tailOf(all, this.#half)
    this.#spill = new Spill(this.#file, this.#mask)
    return this.#spill.write(all)
  }
}

/** So much of a line that does not end is kept waiting. */
const longestLine = 65_536

/** A file that takes text in order. It never rejects: a full disk costs the kept text, not the call. */
class Spill {
  #path = ""
  #handle: FileHandle | undefined
  #error = ""
  #last: Promise<void>
  #mask: (text: string) => string
  /** The last line, until it has ended: what is hidden may be torn in two otherwise. */
  #line = ""

  constructor(file: () => Promise<string>, mask: (text: string) => string) {
    this.#mask = mask
    this.#last = this.#guard(async () => {
      this.#path = await file()
      this.#handle = await open(this.#path, "a")
    })
  }

  write(more: string): Promise<void> {
    const all = this.#line + more
    const whole = all.length > longestLine ? all.length : all.lastIndexOf("\n") + 1
    this.#line = all.slice(whole)
    return this.#write(this.#mask(all.slice(0, whole)))
  }

  #write(text: string): Promise<void> {
    this.#last = this.#last.then(() =>
      this.#guard(async () => {
        if (this.#error === "") await this.#handle?.appendFile(text)
      }),
    )
    return this.#last
  }

  /** Where the text is, in words for the model. */
  async end(): Promise<string> {
    await this.#write(this.#mask(this.#line))
    await this.#guard(async () => this.#handle?.close())
    if (this.#error !== "") return `the whole could not be kept in a file: ${this.#error}`
    return `all of it is in ${this.#path}: read that file with offset and limit, or grep it`
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#error ||= reasonOf(error)
    }
  }
}
