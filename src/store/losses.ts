/** Counts what could not be read of a session, and puts it into words. */
export class Losses {
  #torn = 0
  #garbage: number[] = []
  #repeated: number[] = []
  #blobs: number[] = []
  #strangers = 0

  torn(bytes: number): void {
    this.#torn = bytes
  }

  garbage(line: number): void {
    this.#garbage.push(line)
  }

  repeated(line: number): void {
    this.#repeated.push(line)
  }

  blob(line: number): void {
    this.#blobs.push(line)
  }

  stranger(): void {
    this.#strangers++
  }

  sentences(): string[] {
    const said: string[] = []
    if (this.#garbage.length > 0) said.push(`${were(this.#garbage, "line")} not readable ${where(this.#garbage)}`)
    if (this.#repeated.length > 0)
      said.push(`${were(this.#repeated, "line")} there twice and dropped ${where(this.#repeated)}`)
    if (this.#blobs.length > 0) said.push(`${were(this.#blobs, "long text")} missing or damaged ${where(this.#blobs)}`)
    if (this.#strangers > 0)
      said.push(`${this.#strangers} ${plural(this.#strangers, "fact")} of a kind this version does not know`)
    if (this.#torn > 0) said.push(`the last line was torn (${this.#torn} ${plural(this.#torn, "byte")} dropped)`)
    return said
  }
}

const shown = 10
const plural = (count: number, noun: string): string => (count === 1 ? noun : `${noun}s`)

const were = ({ length }: number[], noun: string): string =>
  `${length} ${plural(length, noun)} ${length === 1 ? "was" : "were"}`

function where(lines: number[]): string {
  const more = lines.length > shown ? ` and ${lines.length - shown} more` : ""
  return `(${plural(lines.length, "line")} ${lines.slice(0, shown).join(", ")}${more})`
}
