import type { Block } from "./block.ts"
import { marked } from "./notes.ts"
import { mostLines } from "./setting.ts"
import { safe } from "./text-lines.ts"
import type { Theme } from "./theme.ts"

const mostLive = 20

/** What a model thinks before it speaks. While more comes, the end of it. */
export class Thought implements Block {
  readonly kind = "note"
  done = false
  #text: string
  #theme: Theme

  constructor(theme: Theme, text = "") {
    this.#theme = theme
    this.#text = text
  }

  add(text: string): void {
    this.#text += text
  }

  end(): this {
    this.done = true
    return this
  }

  render(width: number): string[] {
    const { dim, italic } = this.#theme
    const most = this.done ? mostLines : mostLive
    const from = this.done ? 0 : Math.max(0, this.#text.length - most * width)
    const text = safe(this.#text.slice(from)).trim()
    if (text === "") return []
    return marked("~ ", `thought: ${from > 0 ? "… " : ""}${text}`, { width, most, paint: (row) => dim(italic(row)) })
  }
}
