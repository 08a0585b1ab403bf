import type { Block } from "./block.ts"
import type { Theme } from "./theme.ts"

/** A block whose text comes piece by piece. */
export abstract class Growing implements Block {
  abstract readonly kind: Block["kind"]
  done = false
  protected text: string
  protected readonly theme: Theme

  constructor(theme: Theme, text = "") {
    this.theme = theme
    this.text = text
  }

  add(text: string): void {
    this.text += text
  }

  end(): this {
    this.done = true
    return this
  }

  abstract render(width: number): string[]
}
