import { type Component, Input, matchesKey, truncateToWidth } from "@earendil-works/pi-tui"
import { count } from "../../core/numbers.ts"
import { oneLine, printable } from "../../core/one-line.ts"
import type { Theme } from "./theme.ts"

type Options = {
  theme: Theme
  /** What was typed before, the oldest first. */
  entries: readonly string[]
  take(text: string): void
  leave(): void
}

const mostRows = 8
const mostSearched = 2_000

type Entry = { text: string; line: string; searched: string }

/** Finds a prompt that was typed before: the newest first, by all of the words that are typed, in any case. */
export class Search implements Component {
  /** Set by the terminal's library. */
  focused = false
  readonly #options: Options
  readonly #input = new Input({ prompt: "search: " })
  readonly #entries: Entry[]
  #found: Entry[]
  #chosen = 0

  constructor(options: Options) {
    this.#options = options
    this.#entries = [...new Set([...options.entries].reverse())].map((text) => ({
      text,
      line: oneLine(text, 300),
      searched: oneLine(text, mostSearched).toLowerCase(),
    }))
    this.#found = this.#entries
    this.#input.onEscape = () => options.leave()
    this.#input.onSubmit = () => this.#take()
  }

  invalidate(): void {
    this.#input.invalidate()
  }

  render(width: number): string[] {
    const { theme } = this.#options
    this.#input.focused = this.focused
    const first = Math.max(0, Math.min(this.#chosen - Math.floor(mostRows / 2), this.#found.length - mostRows))
    const rows = this.#found.slice(first, first + mostRows).map(({ line }, at) => {
      const isChosen = first + at === this.#chosen
      const row = truncateToWidth(`${isChosen ? "→ " : "  "}${line}`, width, "…")
      return isChosen ? theme.bold(theme.accent(row)) : row
    })
    const none = this.#entries.length === 0 ? "nothing was typed here yet" : "nothing typed before has these words"
    return [
      ...this.#input.render(width),
      ...(rows.length > 0 ? rows : [theme.dim(truncateToWidth(`  ${none}`, width, "…"))]),
      theme.dim(truncateToWidth(`  ${this.#counted()} · enter takes · ctrl+r older · esc leaves`, width, "…")),
    ]
  }

  handleInput(data: string): void {
    if (matchesKey(data, "ctrl+r") || matchesKey(data, "down")) this.#move(1)
    else if (matchesKey(data, "ctrl+s") || matchesKey(data, "up")) this.#move(-1)
    else this.#type(data)
  }

  #type(data: string): void {
    const before = this.#input.getValue()
    this.#input.handleInput(data)
    const typed = this.#input.getValue()
    if (typed === before) return
    this.#input.setValue(printable(typed))
    this.#find(printable(typed))
  }

  #find(typed: string): void {
    const words = typed.toLowerCase().split(/\s+/)
    this.#found = this.#entries.filter(({ searched }) => words.every((word) => searched.includes(word)))
    this.#chosen = 0
  }

  #move(by: number): void {
    this.#chosen = Math.max(0, Math.min(this.#found.length - 1, this.#chosen + by))
  }

  #take(): void {
    const found = this.#found[this.#chosen]
    if (found) this.#options.take(found.text)
  }

  #counted(): string {
    const { length } = this.#found
    return length > mostRows ? `${this.#chosen + 1} of ${length}` : count(length, "prompt")
  }
}
