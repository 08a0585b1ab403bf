import { tailOf } from "./cap.ts"

/** Live output for people, in batches: a flood shows its latest lines a few times a second and costs no more. */
export class Live {
  #show: (text: string) => void
  #waiting = ""
  #timer: NodeJS.Timeout | undefined
  #every: number
  #size: number

  constructor(show: (text: string) => void, { every = 50, size = 4_000 } = {}) {
    this.#show = show
    this.#every = every
    this.#size = size
  }

  push(text: string): void {
    if (text === "") return
    this.#waiting = tailOf(this.#waiting + text, this.#size)
    this.#timer ??= setTimeout(() => this.flush(), this.#every)
  }

  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting !== "") this.#show(this.#waiting)
    this.#waiting = ""
  }
}
