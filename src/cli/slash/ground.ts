import type { RunId } from "../../core/event.ts"
import type { View } from "../../core/view.ts"
import type { Session } from "../../face.ts"
import type { Summary } from "../../store/store.ts"
import type { Theme } from "../tui/theme.ts"

/** As much of a session as commands use. */
type Steered = Pick<
  Session,
  "id" | "main" | "cancel" | "sendBehind" | "agents" | "diagnostics" | "models" | "useModel" | "capacity" | "compact"
>

export type Item = { value: string; label: string; description?: string }

/** A key, or several, and what it does. */
export type Key = { key: string; about: string }

/** What a command stands on: the session, and the face that it was typed into. */
export type Ground = {
  session: Steered
  view: View
  theme: Theme
  /** The keys of this face. */
  keys?: readonly Key[]
  /** Adds lines to the conversation. What comes from models and files is made safe before. */
  note(text: string): void
  /** Opens an agent's transcript. */
  open(run: RunId): void
  /** Absent where nothing can be chosen from a list: the words of a command then say what to type. */
  pick?(title: string, items: Item[]): Promise<string | undefined>
  /** The stored sessions of this folder, newest first. */
  sessions(): Promise<Summary[]>
  prompt(text: string): void
  /** Ends the conversation, perhaps to go on with another. */
  leave(next?: { resume: string }): void
  now(): number
}

/** A line that begins with a slash. `hint` shows what may follow its name. */
export type Command = {
  name: string
  about: string
  hint?: string
  /** Other names of the same. */
  also?: string[]
  run(args: string, ground: Ground, all: readonly Command[]): Promise<void>
}

/** What is chosen from a list; where there are no lists, the words are said instead and nothing is chosen. */
export async function choose(
  ground: Ground,
  list: { title: string; items: Item[]; words: string },
): Promise<string | undefined> {
  if (ground.pick) return ground.pick(list.title, list.items)
  ground.note(list.words)
  return undefined
}
