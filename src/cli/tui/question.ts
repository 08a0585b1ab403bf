import {
  type Component,
  decodeKittyPrintable,
  Input,
  isKeyRepeat,
  matchesKey,
  truncateToWidth,
  visibleWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui"
import type { Question, Reply } from "../../agent/permission.ts"
import { count } from "../../core/numbers.ts"
import { printable } from "../../core/one-line.ts"
import { othersIn } from "../merged.ts"
import { questionBody } from "./question-lines.ts"
import type { Theme } from "./theme.ts"

type Options = {
  theme: Theme
  reply(question: Question, reply: Reply): void
  now(): number
  /** The height of the terminal. */
  rows?(): number
  /** Gets what was typed before anybody can have read the question: it was meant for something else. */
  early?(data: string): void
}

/** So long must the keys rest after a question appears, in milliseconds. */
const calm = 300
const longestWord = 2_000

/** Asks a person for permission, one question after the other. Nothing but a key that says so allows anything. */
export class Dialog implements Component {
  /** Set by the terminal's library. */
  focused = false
  readonly #options: Options
  readonly #queue: Question[] = []
  /** What is typed to go with a no, while it is being typed. */
  #word: Input | undefined
  /** When the first question appeared, or was last typed over. */
  #since = 0
  #top = 0
  #body: { width: number; lines: string[] } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get waiting(): number {
    return this.#queue.length
  }

  ask(question: Question): void {
    if (this.#at(question) >= 0) return
    this.#queue.push(question)
    if (this.#queue.length === 1) this.#appear()
  }

  withdraw(question: Pick<Question, "run" | "call">): void {
    const at = this.#at(question)
    if (at < 0) return
    this.#queue.splice(at, 1)
    if (at === 0) this.#appear()
  }

  invalidate(): void {
    this.#body = undefined
  }

  render(width: number): string[] {
    const question = this.#queue[0]
    if (!question) return []
    const { theme } = this.#options
    const lines = this.#lines(question, width)
    const most = this.#most()
    this.#scroll(0)
    const below = lines.length - this.#top - most
    const hidden = [
      ...(this.#top > 0 ? [`${count(this.#top, "line")} above`] : []),
      ...(below > 0 ? [`${count(below, "line")} below`] : []),
    ]
    return [
      theme.warning(titled(this.#queue.length, width)),
      ...lines.slice(this.#top, this.#top + most),
      ...(lines.length > most
        ? [theme.warning(truncateToWidth(`↕ ${hidden.join(", ")} (up, down, pgup, pgdn)`, width, "…"))]
        : []),
      ...this.#foot(question, width),
    ]
  }

  handleInput(data: string): void {
    const question = this.#queue[0]
    if (!question) return
    const now = this.#options.now()
    if (!this.#word && now - this.#since < calm) {
      // Whoever is in the middle of a word goes on for longer than that.
      this.#since = now
      this.#options.early?.(data)
      return
    }
    if (this.#scrolled(data)) return
    if (this.#word) this.#typed(this.#word, data)
    else if (!isKeyRepeat(data)) this.#chosen(question, data)
  }

  #chosen(question: Question, data: string): void {
    const key = (decodeKittyPrintable(data) ?? data).toLowerCase()
    if (key === "y") this.#answer(question, { allow: true })
    else if (key === "a" && question.always?.length) this.#answer(question, { allow: true, always: true })
    else if (key === "n" || matchesKey(data, "escape")) this.#answer(question, { allow: false })
    else if (key === "d" || matchesKey(data, "tab")) this.#word = this.#wordFor(question)
  }

  #typed(word: Input, data: string): void {
    word.handleInput(data)
    const typed = word.getValue()
    const kept = printable(typed).slice(0, longestWord)
    if (kept !== typed) word.setValue(kept)
  }

  #wordFor(question: Question): Input {
    const word = new Input({ prompt: "no, because: " })
    word.onEscape = () => {
      this.#word = undefined
    }
    word.onSubmit = (typed) => {
      const said = typed.trim()
      this.#answer(question, said ? { allow: false, word: said } : { allow: false })
    }
    return word
  }

  #answer(question: Question, reply: Reply): void {
    this.withdraw(question)
    this.#options.reply(question, reply)
  }

  #appear(): void {
    this.#word = undefined
    this.#body = undefined
    this.#top = 0
    this.#since = this.#options.now()
  }

  #at({ run, call }: Pick<Question, "run" | "call">): number {
    return this.#queue.findIndex((each) => each.run === run && each.call === call)
  }

  #lines(question: Question, width: number): string[] {
    if (this.#body?.width !== width) this.#body = { width, lines: questionBody(question, this.#options.theme, width) }
    return this.#body.lines
  }

  /** Lines of the question that are shown at once: what is around it stays in sight. */
  #most(): number {
    return Math.min(30, Math.max(4, (this.#options.rows?.() ?? 24) - 12))
  }

  #scrolled(data: string): boolean {
    const page = this.#most() - 1
    const by = { up: -1, down: 1, pageUp: -page, pageDown: page }
    const key = (["up", "down", "pageUp", "pageDown"] as const).find((each) => matchesKey(data, each))
    if (key) this.#scroll(by[key])
    return key !== undefined
  }

  #scroll(by: number): void {
    const last = Math.max(0, (this.#body?.lines.length ?? 0) - this.#most())
    this.#top = Math.min(last, Math.max(0, this.#top + by))
  }

  #foot(question: Question, width: number): string[] {
    const { theme } = this.#options
    const others = othersIn(question).map((line) => theme.warning(truncateToWidth(line, width, "…")))
    return [...others, ...this.#keys(question, width)]
  }

  #keys(question: Question, width: number): string[] {
    const { theme } = this.#options
    if (this.#word) {
      this.#word.focused = this.focused
      return [...this.#word.render(width), theme.dim(truncateToWidth("enter says no · esc goes back", width, "…"))]
    }
    const keys = [
      ["y", "once"],
      ...(question.always?.length ? [["a", "always"]] : []),
      ["n", "no"],
      ["d", "no, and why"],
    ] as const
    return wrapTextWithAnsi(keys.map(([key, does]) => `${theme.accent(key)} ${does}`).join(" · "), Math.max(1, width))
  }
}

function titled(waiting: number, width: number): string {
  const title = `── permission${waiting > 1 ? ` · 1 of ${waiting}` : ""} `
  return truncateToWidth(title + "─".repeat(Math.max(0, width - visibleWidth(title))), width, "")
}
