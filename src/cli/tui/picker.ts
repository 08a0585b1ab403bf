import { type Component, Input, matchesKey, SelectList, truncateToWidth } from "@earendil-works/pi-tui"
import { oneLine } from "../../core/one-line.ts"
import type { Item } from "../slash/ground.ts"
import type { Theme } from "./theme.ts"

type Options = { title: string; items: readonly Item[]; theme: Theme; take(value: string | undefined): void }

const mostRows = 10

/** One of a list: typing narrows it, enter takes, esc leaves. */
export class Picker implements Component {
  /** Set by the terminal's library. */
  focused = false
  #options: Options
  #input = new Input({ prompt: "  filter: " })
  #list: SelectList
  #isEmpty = false

  constructor(options: Options) {
    this.#options = options
    this.#list = this.#listOf("")
  }

  invalidate(): void {
    this.#list.invalidate()
  }

  render(width: number): string[] {
    const { title, theme } = this.#options
    this.#input.focused = this.focused
    const head = truncateToWidth(theme.bold(` ${oneLine(title, 200)}`), width)
    const foot = truncateToWidth(theme.dim(" up, down: choose · enter: take · esc: leave"), width)
    const rows = this.#isEmpty
      ? [truncateToWidth(theme.dim("  nothing has all of these words"), width)]
      : this.#list.render(width)
    return [head, ...this.#input.render(width), ...rows, foot]
  }

  handleInput(data: string): void {
    const moves = ["up", "down", "enter", "pageUp", "pageDown"] as const
    if (matchesKey(data, "escape") || matchesKey(data, "ctrl+c")) this.#options.take(undefined)
    else if (moves.some((key) => matchesKey(data, key))) this.#list.handleInput(data)
    else {
      this.#input.handleInput(data)
      this.#list = this.#listOf(this.#input.getValue())
    }
  }

  /** What has all the words that were typed, in any case. */
  #listOf(typed: string): SelectList {
    const { items, theme, take } = this.#options
    const words = typed.toLowerCase().split(/\s+/)
    const shown = items.filter(({ label, description = "" }) =>
      words.every((word) => `${label} ${description}`.toLowerCase().includes(word)),
    )
    this.#isEmpty = shown.length === 0
    const list = new SelectList(
      shown.map(({ value, label, description }) => ({
        value,
        label: oneLine(label, 200),
        ...(description !== undefined && { description: oneLine(description, 200) }),
      })),
      mostRows,
      theme.select,
    )
    list.onSelect = ({ value }) => take(value)
    list.onCancel = () => take(undefined)
    return list
  }
}
