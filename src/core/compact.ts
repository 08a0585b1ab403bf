import type { Message, Result, User } from "./message.ts"

/** How a conversation is made shorter. What is dropped stays in the log. */
export type Squeeze = {
  /** Messages from here on are recent and stay; results before them shrink to a line each. */
  from: number
  /** Stands for all that came before the recent messages, but for the task at hand. */
  summary?: string
  /** The most characters that stay of a recent result. */
  most?: number
}

/** `task` is where the messages of the work at hand begin. */
export type Conversation = { messages: Message[]; task: number }

export function compacted({ messages, task }: Conversation, { from, summary, most }: Squeeze): Conversation {
  const recent = messages.slice(from).map((message) => (most === undefined ? message : cut(message, most)))
  if (summary === undefined) return { messages: [...messages.slice(0, from).map(line), ...recent], task }
  const asked = task < from ? taskOf(messages, task).slice(0, from - task) : []
  const text = `What came before in this conversation was summed up, to save room:\n\n${summary}`
  const follows = asked.length > 0 ? "\n\nThe task at hand follows, word for word." : ""
  const sum: User = { role: "user", text: `${text}${follows}` }
  return { messages: [sum, ...asked, ...recent], task: task < from ? 1 : task - from + 1 }
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

function cut(message: Message, most: number): Message {
  if (message.role !== "result" || message.text.length <= most) return message
  const { text, images: _, ...rest } = message
  const note = `\n… (cut at ${most} of ${text.length} characters to save room: ask for less at a time)`
  return { ...rest, text: `${text.slice(0, most).toWellFormed()}${note}` }
}
