type Span = { name: string; start: number }

/** Writes Markdown piece by piece. Breaks and spaces wait until text follows, so that none is left over. */
export class Prose {
  /** Always in pairs: what leads up to a text, and the text. */
  #out: string[] = []
  #gap = 0
  #space = false
  #marker = ""
  #spans: Span[] = []
  /** What each new line begins with. */
  indent = ""

  /** So many newlines, at least, before what comes next. */
  gap(lines: 1 | 2): void {
    this.#gap = Math.max(this.#gap, lines)
  }

  space(): void {
    this.#space = true
  }

  /** What the next line begins with after its indent: a bullet, a heading's sign. */
  mark(marker: string): void {
    this.#marker = marker
  }

  /** Running text, whose white space means no more than a space. */
  text(text: string): void {
    const words = text.replace(/\s+/g, " ")
    if (words.startsWith(" ")) this.#space = true
    if (words.trim() === "") return
    this.put(words.trim())
    this.#space = words.endsWith(" ")
  }

  /** Text as it stands. */
  put(text: string): void {
    this.#out.push(this.#lead(), text.replaceAll("\n", `\n${this.indent}`))
    this.#gap = 0
    this.#space = false
    this.#marker = ""
  }

  open(name: string): void {
    this.#spans.push({ name, start: this.#out.length })
    if (this.#spans.length > 100) this.#spans.shift()
  }

  /** Rewrites what was written since a span was opened, if anything was. */
  close(name: string, rewrite: (text: string) => string): void {
    const index = this.#spans.findLastIndex((span) => span.name === name)
    const span = this.#spans[index]
    if (!span) return
    this.#spans.length = index
    const [lead, ...texts] = this.#out.splice(span.start)
    if (lead !== undefined) this.#out.push(lead, rewrite(texts.join("")))
  }

  toString(): string {
    return this.#out.join("").trim()
  }

  #lead(): string {
    const first = this.#out.length === 0
    if (first || this.#gap > 0) return `${first ? "" : "\n".repeat(this.#gap)}${this.indent}${this.#marker}`
    return this.#space ? " " : ""
  }
}
