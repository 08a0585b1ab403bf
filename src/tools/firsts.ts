/** Of rows that come file by file in any order: the first ones by path. The others are only counted. */
export class Firsts {
  total = 0
  #need: number
  #kept = 0
  #files: { path: string; rows: string[] }[] = []

  constructor(need: number) {
    this.#need = need
  }

  add(path: string, row: string): void {
    this.total++
    let file = this.#files.at(-1)
    if (file?.path !== path) {
      file = { path, rows: [] }
      this.#files.push(file)
    }
    if (file.rows.length >= this.#need) return
    file.rows.push(row)
    if (++this.#kept > 4 * this.#need + 1_000) this.#prune()
  }

  /** Rows from `offset` on, as far as they were needed. */
  from(offset: number): string[] {
    this.#prune()
    return this.#files.flatMap(({ rows }) => rows).slice(offset, this.#need)
  }

  #prune(): void {
    this.#files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
    let rows = 0
    const end = this.#files.findIndex((file) => (rows += file.rows.length) >= this.#need)
    if (end !== -1) this.#files.length = end + 1
    this.#kept = this.#files.reduce((sum, file) => sum + file.rows.length, 0)
  }
}
