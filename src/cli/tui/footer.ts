import { type Component, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui"
import { dollars, tokenCount } from "../../core/numbers.ts"
import { progressOf } from "../../core/progress.ts"
import type { View } from "../../core/view.ts"
import { weightOf } from "../../core/weight.ts"
import type { Session } from "../../face.ts"
import { duration } from "./row-line.ts"
import type { Theme } from "./theme.ts"

type Options = {
  session: Pick<Session, "main" | "model" | "capacity">
  view: View
  theme: Theme
  now(): number
  /** What keys do just now. */
  hint(): string
}

/** One line at the bottom: what the main run does, its numbers, how full its window is, and what keys do. */
export class Footer implements Component {
  #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  invalidate(): void {}

  render(width: number): string[] {
    const { theme, hint, session } = this.#options
    const left = ` ${this.#doing()}`
    const right = `${session.model} `
    const gap = width - visibleWidth(left) - visibleWidth(right)
    const line = gap > 1 ? `${left}${" ".repeat(gap)}${right}` : left
    return [theme.dim(truncateToWidth(line, width)), theme.dim(truncateToWidth(` ${hint()}`, width))]
  }

  #doing(): string {
    const { session, view, now } = this.#options
    const main = view.get(session.main)
    if (!main) return "ready"
    const { state, why, elapsedMs, family } = progressOf(view, main, now())
    const full = Math.round((100 * weightOf(main).tokens) / session.capacity().window)
    const isOver = main.rest !== undefined || state === "ready"
    return [
      why === undefined ? state : `${state}: ${why}`,
      ...(isOver ? [] : [duration(elapsedMs)]),
      tokenCount(family.tokens),
      dollars(family.cost),
      `window ${full}%`,
    ].join(" · ")
  }
}
