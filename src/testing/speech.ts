import type { Stop } from "../core/message.ts"
import { noUsage, type Usage } from "../core/usage.ts"
import type { CallReply, Fail, PartReply, Reply, Said } from "./reply.ts"

export type SpokenCall = { type: "call"; id: string; name: string; input: unknown; arguments: string }
export type SpokenPart = Exclude<PartReply, CallReply> | SpokenCall

/** A reply made definite: every call has its id, and the stop follows from the parts if it was not given. */
export type Speech = { parts: SpokenPart[]; stop: Stop; usage: Usage }

/** `turn` and `taken` keep ids of calls apart within a conversation. Usage is what was given, else what `counted` says. */
export function speech(
  reply: Exclude<Reply, Fail>,
  { turn, taken, counted }: { turn: number; taken: ReadonlySet<string>; counted?: (parts: SpokenPart[]) => Usage },
): Speech {
  const said = saidOf(reply)
  const name = ids(turn, taken)
  const parts = partsOf(said).map((part) => (part.type === "call" ? spoken(part, name) : part))
  const called = parts.some(({ type }) => type === "call")
  return {
    parts,
    stop: said.stop ?? (called ? "calls" : "end"),
    usage: { ...(counted?.(parts) ?? noUsage()), ...said.usage },
  }
}

export const isFail = (reply: Reply): reply is Fail => typeof reply === "object" && "type" in reply

function saidOf(reply: Exclude<Reply, Fail>): Said {
  if (typeof reply === "string") return { text: reply }
  return "length" in reply ? { calls: reply } : reply
}

const partsOf = ({ parts = [], reasoning, text, calls = [] }: Said): PartReply[] => [
  ...parts,
  ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
  ...(text === undefined ? [] : [{ type: "text" as const, text }]),
  ...calls,
]

const spoken = ({ type, name, input, id, raw }: CallReply, next: () => string): SpokenCall => ({
  type,
  id: id ?? next(),
  name,
  input,
  arguments: raw ?? JSON.stringify(input ?? {}),
})

function ids(turn: number, taken: ReadonlySet<string>): () => string {
  let count = 0
  return () => {
    let id: string
    do id = `call_${turn}_${++count}`
    while (taken.has(id))
    return id
  }
}
