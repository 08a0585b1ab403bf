import type { Message, Result, User } from "./message.ts"
import { headWithin, weigh } from "./weight.ts"

/** How a conversation is made shorter. What is dropped stays in the log. */
export type Squeeze = {
  /** Messages from here on are recent and stay; results before them shrink to a line each. */
  from: number
  /** Stands for all that came before the recent messages, but for the task at hand. */
  summary?: string
  /** The most tokens that stay of a recent result. */
  most?: number
}

/** `task` is where the messages of the work at hand begin; `words` is what a fork was told of what it is. */
export type Conversation = { messages: Message[]; task: number; words?: User }

export function compacted(
  { messages, task, words }: Conversation,
  { from, summary, most }: Squeeze,
): Pick<Conversation, "messages" | "task"> {
  const recent = messages.slice(from).map((message) => (most === undefined ? message : cut(message, most)))
  if (summary === undefined) return { messages: [...messages.slice(0, from).map(line), ...recent], task }
  const told = words && messages.indexOf(words) < from && messages.includes(words) ? [words] : []
  const asked = task < from ? taskOf(messages, task).slice(0, from - task) : []
  const text = `What came before in this conversation was summed up, to save room:\n\n${summary}`
  const follows = asked.length > 0 ? "\n\nThe task at hand follows, word for word." : ""
  const sum: User = { role: "user", text: `${text}${follows}` }
  const before = [sum, ...told]
  return { messages: [...before, ...asked, ...recent], task: before.length + (task < from ? 0 : task - from) }
}

/** What was said at once when the work at hand began. */
export function taskOf(messages: readonly Message[], task: number): Message[] {
  const end = messages.findIndex(({ role }, i) => i >= task && role !== "user")
  return messages.slice(task, end < 0 ? messages.length : end)
}

const lineKept = 120

/** A result that nobody looks at any more, as one line. A second time changes nothing. */
export function line(message: Message): Message {
  if (message.role !== "result") return message
  const { text, images = [], ...rest } = message
  if (text.length <= lineKept * 2 && images.length === 0) return message
  const first = text.slice(0, lineKept).split("\n", 1)[0]!.toWellFormed()
  const pictures = images.length > 0 ? ` and ${images.length === 1 ? "an image" : `${images.length} images`}` : ""
  return { ...rest, text: `${first} … (${text.length} characters${pictures}, dropped to save room)` } satisfies Result
}

/** What the note about a cut weighs. */
const noteWeight = 40

function cut(message: Message, most: number): Message {
  if (message.role !== "result" || weigh(message) <= most) return message
  const { text, images = [], ...rest } = message
  const kept = headWithin(text, Math.max(0, most - noteWeight))
  const pictures = images.length > 0 ? ", without its images," : ""
  const note = `… (cut at ${kept.length} of ${text.length} characters${pictures} to save room: ask for less at a time)`
  return { ...rest, text: `${kept}\n${note}` }
}
