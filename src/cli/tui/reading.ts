import { type Component, Text } from "@earendil-works/pi-tui"
import type { Event, RunId } from "../../core/event.ts"
import { oneLine } from "../../core/one-line.ts"
import type { View } from "../../core/view.ts"
import { Conversation } from "./conversation.ts"
import type { Theme } from "./theme.ts"

type Options = { main: RunId; view: View; theme: Theme }

/** What is read: the conversation with the main run, or the transcript that is open instead of it. */
export class Reading implements Component {
  #options: Options
  #main: Conversation
  #opened: { run: RunId; conversation: Conversation; title: Text } | undefined

  constructor(options: Options) {
    const { main, view, theme } = options
    this.#options = options
    this.#main = new Conversation({ run: main, view, theme, detail: "brief" })
  }

  /** Whose transcript is open. */
  get opened(): RunId | undefined {
    return this.#opened?.run
  }

  event(event: Event): void {
    this.#main.event(event)
    this.#opened?.conversation.event(event)
  }

  /** Said where it is seen now, and kept where it stays. */
  note(text: string): void {
    this.#main.note(text)
    this.#opened?.conversation.note(text)
  }

  /** False if there is no such run. */
  open(run: RunId): boolean {
    const { view, theme } = this.#options
    const found = view.get(run)
    if (!found) return false
    const name = `${oneLine(found.agent, 30)} ${run}`
    const title = theme.bold(`transcript of ${name} · what you type here steers it · esc goes back`)
    const conversation = new Conversation({ run, view, theme, detail: "all" })
    this.#opened = { run, conversation, title: new Text(title, 1, 1) }
    return true
  }

  close(): void {
    this.#opened = undefined
  }

  /** `fold`: so many rows have left the screen by its upper edge. */
  render(width: number, fold = 0): string[] {
    if (!this.#opened) return this.#main.render(width, fold)
    const { conversation, title } = this.#opened
    return [...conversation.render(width, fold), ...title.render(width)]
  }

  /** What left the screen may change again: all is about to be drawn anew. */
  thaw(): void {
    this.#main.thaw()
    this.#opened?.conversation.thaw()
  }

  invalidate(): void {
    this.#main.invalidate()
    this.#opened?.conversation.invalidate()
    this.#opened?.title.invalidate()
  }
}
