import { type Component, Container } from "@earendil-works/pi-tui"
import type { Question } from "../../agent/permission.ts"
import type { Dialog } from "./question.ts"

type Options = { dialog: Dialog; editor: Component; focus(part: Component): void }

/** Who has the keys: a question comes before a list, and a list before the input. */
export class Front {
  /** Where a list to choose from, or a search, is shown. */
  readonly place = new Container()
  #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  get isAsking(): boolean {
    return this.#options.dialog.waiting > 0
  }

  get hasList(): boolean {
    return this.place.children.length > 0
  }

  ask(question: Question): void {
    this.#options.dialog.ask(question)
    this.focus()
  }

  withdraw(question: Question): void {
    this.#options.dialog.withdraw(question)
    this.focus()
  }

  open(list: Component): void {
    this.place.clear()
    this.place.addChild(list)
    this.focus()
  }

  close(): void {
    this.place.clear()
    this.focus()
  }

  focus(): void {
    const { dialog, editor, focus } = this.#options
    focus(this.isAsking ? dialog : (this.place.children[0] ?? editor))
  }
}
