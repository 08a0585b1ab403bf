import type { Editor } from "@earendil-works/pi-tui"
import type { RunId } from "../../core/event.ts"
import { count } from "../../core/numbers.ts"
import { isOver, progressOf } from "../../core/progress.ts"
import type { Session } from "../../face.ts"
import type { Front } from "./front.ts"
import { isAtWork } from "./hint.ts"
import type { Panel } from "./panel.ts"
import type { Reading } from "./reading.ts"
import { Search } from "./search.ts"
import type { Action } from "./shortcut.ts"
import type { Theme } from "./theme.ts"

type Options = {
  session: Pick<Session, "view" | "main" | "cancel" | "sendBehind">
  theme: Theme
  reading: Pick<Reading, "opened" | "open" | "close">
  panel: Pick<Panel, "chosen" | "choose" | "move">
  editor: Pick<Editor, "getText" | "setText">
  front: Pick<Front, "isAsking" | "hasList" | "open" | "close">
  /** What was typed before, the oldest first. */
  entries(): readonly string[]
  note(text: string): void
  /** For work that nobody waits for. */
  attempt(work: Promise<unknown>): void
  command(line: string): Promise<unknown>
  /** Opens what is typed in an editor of the user's own. */
  edit(): Promise<void>
  suspend(): void
  leave(): void
  draw(): void
  /** Draws all from the beginning, where something else is to be read. */
  redraw(): void
}

/** A second ctrl+c counts as one if it comes within so many milliseconds. */
const twice = 2_000

/** What the keys do that mean something wherever one is. */
export class Actions {
  #options: Options
  #stoppedAt = Number.NEGATIVE_INFINITY

  constructor(options: Options) {
    this.#options = options
  }

  /** Whether ctrl+c leaves. */
  isWarned(): boolean {
    return performance.now() - this.#stoppedAt < twice
  }

  /** False if the key is for whatever has the focus after all. */
  act(action: Action): boolean {
    const { attempt, command, edit, suspend } = this.#options
    switch (action) {
      case "interrupt":
        return this.#interrupt()
      case "escape":
        return this.#escape()
      case "up":
        return this.#move(-1)
      case "down":
        return this.#move(1)
      case "toggle":
        this.#toggle()
        return true
      case "behind":
        this.#behind()
        return true
      case "search":
        this.#search()
        return true
      case "outside":
        attempt(edit())
        return true
      case "suspend":
        suspend()
        return true
      case "help":
      case "exit":
        attempt(command(`/${action}`))
        return true
      default:
        return action satisfies never
    }
  }

  open(run: RunId): void {
    const { reading, panel, redraw } = this.#options
    if (!reading.open(run)) return
    panel.choose(run)
    redraw()
  }

  #close(): void {
    const { reading, panel, redraw } = this.#options
    reading.close()
    panel.choose(undefined)
    redraw()
  }

  /** Once: what was typed goes, or what the main run does and waits for stops. Again: we leave. */
  #interrupt(): boolean {
    const { session, front, editor, attempt, leave, draw } = this.#options
    if (this.isWarned()) leave()
    else if (front.hasList && !front.isAsking) return false
    else if (editor.getText() !== "" && !front.isAsking) editor.setText("")
    else {
      this.#stoppedAt = performance.now()
      setTimeout(draw, twice).unref()
      if (isAtWork(session)) attempt(session.cancel(session.main, { reach: "run" }))
    }
    return true
  }

  /** Goes back; else stops just the chosen agent, or lets it be if it is over; else the main run. */
  #escape(): boolean {
    const { session, panel, reading, attempt } = this.#options
    const run = session.view.get(panel.chosen ?? "")
    if (reading.opened !== undefined) this.#close()
    else if (run && isOver(progressOf(session.view, run, Date.now()))) panel.choose(undefined)
    else if (run) attempt(session.cancel(run.id))
    else if (isAtWork(session)) attempt(session.cancel(session.main, { reach: "run" }))
    else return false
    return true
  }

  /** With nothing typed the arrows choose among agents, as long as there are any; else they find what was typed before. */
  #move(by: 1 | -1): boolean {
    const { panel } = this.#options
    const before = panel.chosen
    panel.move(by)
    return panel.chosen !== before
  }

  #toggle(): void {
    const { reading, panel, note } = this.#options
    const run = panel.chosen ?? this.#latest()
    if (reading.opened !== undefined) this.#close()
    else if (run === undefined) note("there is no agent whose transcript could be opened yet")
    else this.open(run)
  }

  /** The child to which something happened last. */
  #latest(): RunId | undefined {
    const children = [...this.#options.session.view.values()].filter(({ depth }) => depth > 0)
    return children.reduce((last, each) => (last && last.seenAt > each.seenAt ? last : each), children[0])?.id
  }

  /** The chosen child, or all that the main run waits for, go on behind. */
  #behind(): void {
    const { session, panel, note } = this.#options
    const waited = session.view.get(session.main)?.children.values() ?? []
    const runs = panel.chosen === undefined ? [...waited] : [panel.chosen]
    const sent = runs.filter((run) => session.sendBehind(run)).length
    note(sent > 0 ? `${count(sent, "agent")} sent behind; results will come by themselves` : "nobody is waited for")
  }

  #search(): void {
    const { front, editor, theme, entries } = this.#options
    const take = (text: string) => {
      front.close()
      editor.setText(text)
    }
    front.open(new Search({ theme, entries: entries(), take, leave: () => front.close() }))
  }
}
