import { fit } from "./text-lines.ts"

/** What kind of thing a block is: those of one kind stand close together. */
type Kind = "words" | "answer" | "call" | "note"

/** A piece of a conversation. Once it is `done` it never changes again. */
export type Block = {
  readonly kind: Kind
  readonly done: boolean
  render(width: number): string[]
}

/** A block that is done from the beginning. */
export const fixed = (kind: Kind, lines: (width: number) => string[]): Block => ({
  kind,
  done: true,
  render: (width) => lines(width),
})

/** The rows of a block as they were last shown. */
type Known = { width: number; rows: string[]; done: boolean }

/** All blocks below one another. The rows of those that are done, up to the first that is not, are kept for a width. */
export class Stack {
  #blocks: Block[] = []
  #kept: { width: number; blocks: number; rows: string[] } = { width: 0, blocks: 0, rows: [] }
  #tail = new WeakMap<Block, Known>()
  /** All rows as they were last shown. */
  #shown: readonly string[] = []
  /** Whether anything is shown as it was, and not as it is. */
  #stale = false

  push(blocks: readonly Block[]): void {
    for (const block of blocks) this.#blocks.push(block)
  }

  /** Puts others in the place of some that are not done. */
  replace(old: readonly Block[], blocks: readonly Block[]): void {
    const found = old.map((block) => this.#blocks.lastIndexOf(block)).filter((at) => at >= this.#kept.blocks)
    const at = found.length > 0 ? Math.min(...found) : this.#blocks.length
    const tail = this.#blocks.splice(at).filter((block) => !old.includes(block))
    this.push([...blocks, ...tail])
  }

  forget(): void {
    this.#kept = { width: 0, blocks: 0, rows: [] }
    this.#tail = new WeakMap()
    this.#shown = []
    this.#stale = false
  }

  /** From here on all is shown as it is. */
  thaw(): void {
    if (this.#stale) this.forget()
  }

  /** `live`: what stands below all blocks just now. `fold`: so many of the first rows stay as they were last shown. */
  render(width: number, live: readonly Block[] = [], fold = 0): string[] {
    if (this.#kept.width !== width) this.#kept = { width, blocks: 0, rows: [] }
    const kept = this.#kept
    for (let next = this.#blocks[kept.blocks]; next?.done; next = this.#blocks[kept.blocks]) {
      this.#add(kept.rows, next, this.#blocks[kept.blocks - 1], fold)
      this.#tail.delete(next)
      kept.blocks++
    }
    const rows = kept.rows.slice()
    let before = this.#blocks[kept.blocks - 1]
    for (const block of [...this.#blocks.slice(kept.blocks), ...live]) {
      this.#add(rows, block, before, fold)
      before = block
    }
    this.#shown = rows
    return rows
  }

  #add(rows: string[], block: Block, before: Block | undefined, fold: number): void {
    const start = rows.length
    const blank = isApart(before, block) && start > 0 ? 1 : 0
    const more = this.#rows(block, start + blank, fold)
    if (more.length === 0) return
    if (blank > 0) rows.push("")
    for (const row of more) rows.push(row)
    for (let at = start; at < Math.min(fold, rows.length); at++) {
      const shown = this.#shown[at] ?? rows[at]!
      this.#stale ||= shown !== rows[at]
      rows[at] = shown
    }
  }

  #rows(block: Block, start: number, fold: number): string[] {
    const { width } = this.#kept
    const known = this.#tail.get(block)
    if (known?.width === width && known.done) return known.rows
    if (known?.width === width && start + known.rows.length <= fold) {
      this.#stale = true
      return known.rows
    }
    const rows = block.render(width).map((row) => fit(row, width))
    this.#tail.set(block, { width, rows, done: block.done })
    return rows
  }
}

const isApart = (before: Block | undefined, { kind }: Block): boolean =>
  before !== undefined && (before.kind !== kind || kind === "words" || kind === "answer")
