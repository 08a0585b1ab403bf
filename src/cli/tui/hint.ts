import type { RunId } from "../../core/event.ts"
import { isOver, progressOf } from "../../core/progress.ts"
import type { Session } from "../../face.ts"

type Shown = {
  session: Pick<Session, "view" | "main">
  /** Whether ctrl+c was pressed just now. */
  warned: boolean
  asking: boolean
  opened: RunId | undefined
  chosen: RunId | undefined
  now: number
}

/** What keys do just now, in a line. */
export function hintOf({ session, warned, asking, opened, chosen, now }: Shown): string {
  if (warned) return "ctrl+c again: leave"
  if (asking) return "answer with a key that the question names · esc: no · ctrl+c: stop"
  if (opened !== undefined) return "enter: steer it · esc: back · ctrl+b: send behind"
  const run = session.view.get(chosen ?? "")
  if (run) {
    const progress = progressOf(session.view, run, now)
    const keys = isOver(progress) ? "esc: let it be" : "esc: stop it · ctrl+b: send behind"
    return `chosen: ${run.agent} (${progress.state}) · enter: open · ${keys}`
  }
  if (isAtWork(session)) return "esc: stop · up, down: choose an agent · ctrl+o: its transcript · ?: help"
  const isNew = (session.view.get(session.main)?.messages.length ?? 0) === 0
  return isNew
    ? "say what is to be done · /: commands · @: files and agents · ?: help"
    : "/: commands · @: files and agents · ctrl+r: earlier lines · ?: help"
}

/** Whether the main run does anything, or is about to. */
export function isAtWork({ view, main }: Pick<Session, "view" | "main">): boolean {
  const run = view.get(main)
  return run !== undefined && !run.rest && run.messages.length + run.mail.length > 0
}
