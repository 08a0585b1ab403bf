import type { Place, Post } from "./core/event.ts"

/**
 * Something to be posted. An id is posted once in a session: whoever cannot tell whether it was may publish it again.
 * Without one it gets a new one.
 */
export type Posting = Omit<Post, "id" | "way" | "sender"> & Partial<Pick<Post, "id" | "sender">>

/** In characters. The id of an answer is a little longer than that of what it answers. */
const most = { text: 1_000_000, name: 1_000, id: { in: 900, out: 1_000 } }

/** The session's own names for what is said and posted, which nobody else may use up. */
const reserved = { in: /^(?:answer|bus|result)\//, out: /^(?:bus|result)\// }

/** The engine's own channel: what comes in on it is about the place that its chatId names. */
const system = "system"

/** Throws what is wrong with it, and what to do about that. */
export function check(way: Post["way"], { id, channel, chatId, sender, text, plain, replyTo }: Posting): void {
  checkName("channel", channel)
  checkName("chatId", chatId)
  if (channel === system) checkAbout(way, chatId)
  else checkPlace({ channel, chatId })
  for (const [key, value] of Object.entries({ sender, replyTo })) if (value !== undefined) checkName(key, value)
  if (id !== undefined) checkName("id", id, most.id[way])
  if (id !== undefined && reserved[way].test(id))
    throw new Error(`the id ${id} is like the session's own: choose another`)
  checkText("text", text)
  if (plain !== undefined) checkText("plain", plain)
}

/** Throws what is wrong with a place that answers are to go to. */
export function checkPlace({ channel, chatId }: Place): void {
  checkName("channel", channel)
  checkName("chatId", chatId)
  if (channel === system) throw new Error(`${system} is no channel that anybody reads: name that of the chat`)
  if (channel.includes(":")) throw new Error(`the channel ${JSON.stringify(channel)} has a colon: choose another name`)
}

function checkAbout(way: Post["way"], chatId: string): void {
  if (way === "out") throw new Error(`${system} is no channel that anybody reads: name that of the chat`)
  if (!/^[^:]+:./s.test(chatId))
    throw new Error(`on the channel ${system} the chatId must be "channel:chatId" of the chat that it is about`)
  checkPlace(originOf({ channel: system, chatId }))
}

function checkName(key: string, value: unknown, cap = most.name): void {
  if (typeof value !== "string" || value.trim() === "") throw new Error(`${key} is empty: give it a text`)
  if (value.length > cap) throw new Error(`${key} has ${value.length} characters: keep it to ${cap}`)
}

function checkText(key: string, value: unknown): void {
  if (typeof value !== "string" || value.trim() === "")
    throw new Error(`${key} is empty: there must be something to say`)
  if (value.length > most.text)
    throw new Error(`${key} has ${value.length} characters: keep it to ${most.text}, or send a path or a link`)
}

/** The place that a post is about, where the answer to it goes. */
export function originOf({ channel, chatId }: Place): Place {
  if (channel !== system) return { channel, chatId }
  const at = chatId.indexOf(":")
  return { channel: chatId.slice(0, at), chatId: chatId.slice(at + 1) }
}
