import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { type Offer, tool } from "../../src/agent/scope.ts"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { callsOf, type Message } from "../../src/core/message.ts"
import { weighAll, weighText, weighTools } from "../../src/core/weight.ts"
import type { Request } from "../../src/model/model.ts"
import { call, type Reply } from "../../src/testing/reply.ts"

/** A tool whose results are as long as one likes. */
export const long: Offer = offer(
  tool({
    name: "long",
    description: "",
    input: z.strictObject({ n: z.number(), size: z.number() }),
    repeatable: true,
    access: () => ({ kind: "none" }),
    run: async ({ n, size }) => ({ ok: true, text: `result ${n}\n${"some words ".repeat(size / 11)}` }),
  }),
)

type Asked = Omit<Request, "memo">

export const isSummary = ({ tools, messages }: Asked): boolean => tools.length === 0 && messages.length === 1

/** Where a model that counts is: the number in the last call that it sees. */
export function countOf(messages: readonly Message[]): number {
  const said = messages.flatMap((message) => (message.role === "assistant" ? callsOf(message.parts) : []))
  return Math.max(0, ...said.flatMap(({ input }) => (input as { n?: number }).n ?? []))
}

export const weightOf = ({ system, tools, messages }: Asked): number =>
  weighText(system) + weighTools(tools) + weighAll(messages)

/** `text` is what it says with each call. */
export type Counting = { turns: number; size: number; text?: string; summary?: Reply }

/** Calls the long tool so many times, then answers. */
export const counting =
  ({ turns, size, text, summary = "the notes" }: Counting) =>
  (request: Request): Reply => {
    if (isSummary(request)) return summary
    const n = countOf(request.messages)
    if (n >= turns) return "the end"
    return { ...(text !== undefined && { text }), calls: [call("long", { n: n + 1, size })] }
  }

/** What users said, or what was said to stand for them. */
export const textsOf = ({ messages }: Pick<Asked, "messages">): string[] =>
  messages.flatMap((message) => (message.role === "user" ? [message.text] : []))

export const factsOf = <T extends Fact["type"]>(facts: readonly Stamped<Fact>[], type: T) =>
  facts.filter((fact): fact is Extract<Stamped<Fact>, { type: T }> => fact.type === type)

/** The facts from the first of a kind on, by their kinds. */
export function kindsFrom(facts: readonly Stamped<Fact>[], type: Fact["type"]): string[] {
  const kinds = facts.map((fact) => fact.type)
  return kinds.slice(kinds.indexOf(type))
}

/** The parts of a question for a summary: notes so far, a piece of the conversation, and what is asked for. */
export function questionOf(request: Pick<Asked, "messages">): { notes?: string; piece: string; ask: string } {
  const [text = ""] = textsOf(request)
  const [, notes, piece = "", ask = ""] =
    /^(?:Notes on what came earlier:\n\n(.*?)\n\n)?<conversation>\n(.*)\n<\/conversation>\n\n(.*)$/s.exec(text) ?? []
  return { ...(notes !== undefined && { notes }), piece, ask }
}
