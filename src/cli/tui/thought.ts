import { Growing } from "./growing.ts"
import { marked } from "./notes.ts"
import { mostLines } from "./setting.ts"
import { safe } from "./text-lines.ts"

const mostLive = 20

/** What a model thinks before it speaks. While more comes, the end of it. */
export class Thought extends Growing {
  readonly kind = "note"

  render(width: number): string[] {
    const { dim, italic } = this.theme
    const most = this.done ? mostLines : mostLive
    const from = this.done ? 0 : Math.max(0, this.text.length - most * width)
    const text = safe(this.text.slice(from)).trim()
    if (text === "") return []
    return marked("~ ", `thought: ${from > 0 ? "… " : ""}${text}`, { width, most, paint: (row) => dim(italic(row)) })
  }
}
