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

/** All blocks below one another. The rows of those that are done, up to the first that is not, are kept for a width. */
export class Stack {
  #blocks: Block[] = []
  #kept: { width: number; blocks: number; rows: string[] } = { width: 0, blocks: 0, rows: [] }
  #tail = new WeakMap<Block, { width: number; rows: string[] }>()

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
  }

  /** `live`: what stands below all blocks just now. */
  render(width: number, live: readonly Block[] = []): string[] {
    if (this.#kept.width !== width) this.#kept = { width, blocks: 0, rows: [] }
    const kept = this.#kept
    for (let next = this.#blocks[kept.blocks]; next?.done; next = this.#blocks[kept.blocks]) {
      add(kept.rows, this.#rows(next, width), isApart(this.#blocks[kept.blocks - 1], next))
      this.#tail.delete(next)
      kept.blocks++
    }
    const rows = kept.rows.slice()
    let before = this.#blocks[kept.blocks - 1]
    for (const block of [...this.#blocks.slice(kept.blocks), ...live]) {
      add(rows, this.#rows(block, width), isApart(before, block))
      before = block
    }
    return rows
  }

  #rows(block: Block, width: number): string[] {
    const known = this.#tail.get(block)
    if (known?.width === width) return known.rows
    const rows = block.render(width).map((row) => fit(row, width))
    if (block.done) this.#tail.set(block, { width, rows })
    return rows
  }
}

const isApart = (before: Block | undefined, { kind }: Block): boolean =>
  before !== undefined && (before.kind !== kind || kind === "words" || kind === "answer")

function add(rows: string[], more: readonly string[], apart: boolean): void {
  if (more.length === 0) return
  if (apart && rows.length > 0) rows.push("")
  for (const row of more) rows.push(row)
}
