import { Markdown } from "@earendil-works/pi-tui"
import { highlighted } from "./code.ts"
import { Growing } from "./growing.ts"
import { safe } from "./text-lines.ts"

/** What a model says, as Markdown. While more of it comes, only what follows the last safe place is read anew. */
export class Answer extends Growing {
  readonly kind = "answer"
  /** Where in the text the last piece begins; all before it stays as it is. */
  #last = 0
  #pieces: Markdown[] = []

  render(width: number): string[] {
    const rest = this.text.slice(this.#last)
    const cuts = isLinked(rest) ? [] : cutsIn(rest)
    const open = this.#pieces.pop()
    const pieces = [0, ...cuts].map((from, at) => rest.slice(from, cuts[at]))
    for (const [at, piece] of pieces.entries()) {
      const text = safe(piece).trim()
      if (at > 0 || !open) this.#pieces.push(this.#markdown(text))
      else {
        open.setText(text)
        this.#pieces.push(open)
      }
    }
    this.#last += cuts.at(-1) ?? 0
    const shown = this.#pieces.map((piece) => trimmed(piece.render(width)))
    // Whoever shows what is done keeps the rows.
    if (this.done) [this.#pieces, this.#last] = [[], 0]
    return shown.filter((rows) => rows.length > 0).flatMap((rows, at) => (at === 0 ? rows : ["", ...rows]))
  }

  #markdown(text: string): Markdown {
    const highlightCode = (code: string, language?: string) => highlighted(code, language, this.theme)
    const theme = { ...this.theme.markdown, highlightCode }
    // Money and variables of a shell are more common here than formulas.
    return new Markdown(text, 0, 0, theme, undefined, { renderLatex: false })
  }
}

/** Rows without the blanks that fill them up, and without empty ones at the end. */
function trimmed(rows: readonly string[]): string[] {
  const short = rows.map((row) => row.trimEnd())
  return short.slice(0, short.findLastIndex((row) => row !== "") + 1)
}

/** Links whose addresses stand elsewhere are found only in a text that is read as one. */
const isLinked = (text: string): boolean => /^ {0,3}\[[^\]\n]+\]:/m.test(text)

/** What may go on with what stands above a blank line: the next item, or anything further in. */
const goesOn = /^(?:\s|[-*+](?:\s|$)|[|>]|\d+[.)])/

/**
 * Where a Markdown text can be cut without a change in how its parts read: blank lines outside of code and lists. Never
 * before its last line, as what that is shows only when it is there to its end.
 */
export function cutsIn(text: string): number[] {
  const cuts: number[] = []
  let [at, blank, fence] = [0, false, ""]
  for (const line of text.split("\n").slice(0, -1)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
    if (blank && fence === "" && line !== "" && !goesOn.test(line)) cuts.push(at)
    if (mark && fence === "") fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = ""
    blank = line.trim() === ""
    at += line.length + 1
  }
  return cuts.filter((cut) => cut > 0)
}
