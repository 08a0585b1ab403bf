import type { Component } from "@earendil-works/pi-tui"
import type { Reading } from "./reading.ts"
import { fit } from "./text-lines.ts"

type Options = {
  reading: Pick<Reading, "render" | "thaw" | "invalidate">
  /** What stands below it, from top to bottom. */
  below: readonly Component[]
  /** The height of the terminal. */
  rows(): number
}

/**
 * All that is on the screen. Rows that have left it by its upper edge stay as they were: to change one of them, a terminal
 * must be cleared with all that it remembers, and drawn anew from the beginning.
 */
export class Page implements Component {
  #options: Options
  #size = { width: 0, height: 0 }
  /** Rows above the upper edge of the screen. It never gets fewer of them without being cleared. */
  #fold = 0

  constructor(options: Options) {
    this.#options = options
  }

  /** To be called when the terminal is about to be cleared. */
  anew(): void {
    this.#fold = 0
    this.#options.reading.thaw()
  }

  render(width: number): string[] {
    const { reading, below, rows } = this.#options
    const height = rows()
    if (width !== this.#size.width || height !== this.#size.height) this.anew()
    this.#size = { width, height }
    let above = reading.render(width, this.#fold)
    if (this.#fold > 0 && above.length <= this.#fold) {
      // So much is gone that nothing of it would be in sight.
      this.anew()
      above = reading.render(width)
    }
    // The library ends the program where a line is too wide, and leaves the conversation in a public folder.
    const lines = above.concat(below.flatMap((part) => part.render(width).map((line) => fit(line, width))))
    this.#fold = Math.max(this.#fold, lines.length - height)
    return lines
  }

  invalidate(): void {
    for (const part of [this.#options.reading, ...this.#options.below]) part.invalidate()
    this.anew()
  }
}
