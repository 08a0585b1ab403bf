import type { Assistant, Call, Image, Message, Part, Result, User } from "./message.ts"
import { count } from "./numbers.ts"

const mostTold = 200
const mostSubject = 80

type Child = { tools: readonly string[]; reasoning: boolean }

/** An answer of the parent's model, with what came of its calls. */
type Turn = { role: "turn"; assistant: Assistant; calls: Map<string, Asked> }
type Asked = { call: Call; result?: Result }
type Answered = Required<Asked>

/**
 * A parent's history as a child with other tools can be shown it, on any provider. `reasoning` says whether thoughts may
 * go along: another model would refuse their proofs. What needs no change stays the same object.
 */
export function filtered(messages: readonly Message[], child: Child): Message[] {
  const tools = new Set(child.tools)
  // Call ids must be unique in the whole conversation, for some providers.
  const taken = new Set<string>()
  const background = paired(messages).flatMap((each) => {
    if (each.role === "user") return [each]
    const answered = [...each.calls.values()].filter(isAnswered)
    const { kept = [], left = [] } = Object.groupBy(answered, ({ call }) =>
      tools.has(call.name) && !taken.has(call.id) ? "kept" : "left",
    )
    for (const { call } of kept) taken.add(call.id)
    return [...said(each.assistant, kept, child), ...kept.map(({ result }) => result), ...summary(left)]
  })
  return background.length > 0 ? [...background, separator([...tools])] : []
}

/** Users' words, and turns with a result for each call that has one: it belongs to the last call of its id before it. */
function paired(messages: readonly Message[]): (User | Turn)[] {
  const past: (User | Turn)[] = []
  const last = new Map<string, Asked>()
  for (const message of messages) {
    switch (message.role) {
      case "user":
        if (isVisible(message.text) || message.images?.length) past.push(message)
        break
      case "assistant": {
        const calls = new Map<string, Asked>()
        for (const part of message.parts)
          if (part.type === "call" && !calls.has(part.id)) calls.set(part.id, { call: part })
        for (const [id, asked] of calls) last.set(id, asked)
        past.push({ role: "turn", assistant: message, calls })
        break
      }
      case "result": {
        const asked = last.get(message.call)
        if (asked) asked.result ??= message
        break
      }
      default:
        message satisfies never
    }
  }
  return past
}

const isAnswered = (asked: Asked): asked is Answered => asked.result !== undefined

/** What is left of an answer, if anything is. */
function said(assistant: Assistant, kept: readonly Answered[], { reasoning }: Child): Assistant[] {
  const ids = new Set(kept.map(({ call }) => call.id))
  const some = assistant.parts.filter((part) => {
    if (part.type === "call") return ids.delete(part.id)
    return part.type === "text" || reasoning
  })
  // A thought that leads to nothing any more is refused.
  const parts = some.slice(0, some.findLastIndex(speaks) + 1)
  if (parts.length === 0) return []
  return [parts.length === assistant.parts.length ? assistant : { role: "assistant", parts }]
}

const speaks = (part: Part): boolean => part.type === "call" || (part.type === "text" && isVisible(part.text))

const isVisible = (text: string): boolean => /\S/.test(text)

function summary(left: readonly Answered[]): User[] {
  if (left.length === 0) return []
  const lines = ["Calls that are left out here, each with the start of its result:", ...left.map(line)]
  return [{ role: "user", text: lines.join("\n") }]
}

function line({ call, result }: Answered): string {
  const subject = start(subjectOf(call), mostSubject)
  const what = start(call.name, mostSubject) + (subject && ` (${subject})`) + (result.ok ? "" : " failed")
  const told = [start(result.text, mostTold), shown(result.images)].filter(isVisible).join(" ")
  return `- ${what}: ${told || "(no output)"}`
}

/** What a call was about: most tools' first field says it. */
function subjectOf({ input, broken }: Call): string {
  if (broken !== undefined) return broken
  const fields: unknown[] = typeof input === "object" && input !== null ? Object.values(input) : [input]
  return fields.find((field) => typeof field === "string") ?? ""
}

function shown(images: readonly Image[] = []): string {
  if (images.length === 0) return ""
  return images.length === 1 ? "[image]" : `[${count(images.length, "image")}]`
}

/** At most the first `most` characters, on one line. */
function start(text: string, most: number): string {
  const whole = text.trim()
  let end = 0
  for (let n = 0; n < most && end < whole.length; n++) end += whole.codePointAt(end)! > 0xffff ? 2 : 1
  const more = end < whole.length ? "…" : ""
  return whole.slice(0, end).replaceAll(/\s+/g, " ") + more
}

function separator(tools: readonly string[]): User {
  const own = tools.length > 0 ? `with tools of your own: ${tools.join(", ")}` : "without any tools"
  const background = "What stands above is another agent's conversation, for background only."
  return { role: "user", text: `${background} You are a subagent ${own}. Your task comes next.` }
}
