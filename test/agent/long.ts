import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { type Offer, tool } from "../../src/agent/scope.ts"
import { callsOf, type Message } from "../../src/core/message.ts"
import { weighAll, weighText, weighTools } from "../../src/core/weight.ts"
import type { Request } from "../../src/model/model.ts"

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

export const isSummary = ({ tools, messages }: Request): boolean => tools.length === 0 && messages.length === 1

/** Where a model that counts is: the number in the last call that it sees. */
export function countOf(messages: readonly Message[]): number {
  const said = messages.flatMap((message) => (message.role === "assistant" ? callsOf(message.parts) : []))
  return Math.max(0, ...said.flatMap(({ input }) => (input as { n?: number }).n ?? []))
}

export const weightOf = ({ system, tools, messages }: Omit<Request, "memo">): number =>
  weighText(system) + weighTools(tools) + weighAll(messages)
