import type { History } from "./event.ts"
import { filtered } from "./filtered.ts"
import type { Result, User } from "./message.ts"
import type { RunView } from "./view.ts"

/** What a new run knows of the one that started it, as of now. Messages are shared, never copied. */
export type Inherited = Pick<
  RunView,
  "system" | "messages" | "inherited" | "words" | "notes" | "tools" | "ids" | "files" | "touchedWith" | "weight"
>

/** Of a fork, `system` is no system prompt: it has its parent's, and is told this after its parent's conversation. */
export function inherit(
  parent: RunView,
  { history, system, model }: { history: History; system: string; model: string },
): Inherited {
  const files = filesOf(parent)
  const ids = new Set(parent.ids)
  // A summary stays the first message, whatever else goes.
  const notes = parent.notes === undefined ? {} : { notes: parent.notes }
  if (history.as === "filtered") {
    const messages = filtered(parent.messages, { tools: history.tools, reasoning: model === parent.model })
    for (const path of files.keys()) if (!history.tools.includes(parent.touchedWith.get(path) ?? "")) files.delete(path)
    return {
      system,
      messages,
      ...notes,
      inherited: messages.length,
      tools: [],
      ids,
      files,
      touchedWith: new Map(parent.touchedWith),
      weight: { tokens: 0, guess: 0, messages: 0 },
    }
  }
  const open = [...parent.calls.values()].map(({ call }): Result => placeholder(call.id, call.name))
  const words: User = { role: "user", text: system }
  return {
    system: parent.system,
    messages: [...parent.messages, ...open, words],
    words,
    ...notes,
    inherited: parent.messages.length,
    tools: parent.tools,
    ids,
    files,
    touchedWith: new Map(parent.touchedWith),
    weight: parent.weight,
  }
}

/** Which files it knew when the turn at hand began: what its calls have done since is not in what is inherited. */
function filesOf({ files, filesBefore }: RunView): Map<string, string> {
  const known = new Map(files)
  for (const [path, hash] of filesBefore) {
    if (hash === null) known.delete(path)
    else known.set(path, hash)
  }
  return known
}

/** The same for every call and every sibling, whatever became of the call by then. */
const placeholder = (call: string, name: string): Result => ({
  role: "result",
  call,
  name,
  ok: true,
  text: "(forked here)",
})
