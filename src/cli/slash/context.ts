import { roomOf } from "../../agent/squeeze.ts"
import type { Message, Part } from "../../core/message.ts"
import { count } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import type { RunView } from "../../core/view.ts"
import { weigh, weighText, weighTools, weightOf } from "../../core/weight.ts"
import type { Model } from "../../model/model.ts"
import { aligned } from "../columns.ts"
import { amount } from "./amount.ts"
import type { Command } from "./ground.ts"

/** One part of what fills the window. The letter stands for it in the bar. */
type Share = { letter: string; name: string; tokens: number; more?: string }

type Filling = { tokens: number; window: number; shares: Share[] }

/** Narrow enough for a small terminal. */
const cells = 36

export const context: Command = {
  name: "context",
  about: "what fills the model's window",
  async run(_, { session, view, theme, note }) {
    const run = view.get(session.main)!
    const { tokens, window, shares } = fillingOf(run, session.capacity())
    const rows = shares.map(({ letter, name, tokens, more }): [string, string] => [
      `${letter} ${name}`,
      `${amount(tokens).padStart(6)} ${percent(tokens, window).padStart(4)}${more ? `  ${more}` : ""}`,
    ])
    const used = `${amount(tokens)} of ${amount(window)} tokens (${percent(tokens, window)})`
    note(
      [`${theme.bold(used)} · ${oneLine(run.model, 80)}`, theme.accent(bar(shares, window)), ...aligned(rows)].join(
        "\n",
      ),
    )
  },
}

/** What a run's next request would hold. Its parts are guessed, and made to sum up to what the provider counted. */
export function fillingOf(run: RunView, capacity: Pick<Model, "window" | "maxTokens">): Filling {
  const { window } = capacity
  const { tokens } = weightOf(run)
  const guesses = [...ownParts(run), ...messageParts(run)].filter((part) => part.tokens > 0)
  const guess = guesses.reduce((sum, part) => sum + part.tokens, 0)
  const parts = guesses.map((part) => ({ ...part, tokens: (part.tokens * tokens) / guess }))
  const room = roomOf(capacity)
  const free = Math.max(0, room - tokens)
  const kept = Math.max(0, window - tokens - free)
  const soon = free === 0 ? "the conversation is made shorter before the next request" : ""
  return {
    tokens,
    window,
    shares: [
      ...parts,
      { letter: ".", name: "free", tokens: free, ...(soon && { more: soon }) },
      { letter: "-", name: "kept for the answer", tokens: kept },
    ],
  }
}

function ownParts({ system, tools }: RunView): Share[] {
  const { prompt, files } = splitSystem(system)
  const rules = files.reduce((sum, { text }) => sum + weighText(text), 0)
  const names = oneLine(files.map(({ name }) => name).join(", "), 120)
  return [
    { letter: "S", name: "system prompt", tokens: weighText(prompt) },
    { letter: "I", name: "instructions", tokens: rules, more: names },
    {
      letter: "T",
      name: "tools",
      tokens: tools.length === 0 ? 0 : weighTools(tools),
      more: count(tools.length, "tool"),
    },
  ]
}

/** The project's instructions stand last, each file under a heading of its own. */
function splitSystem(system: string): { prompt: string; files: { name: string; text: string }[] } {
  const [prompt = "", ...sections] = system.split(/^(?=# Instructions: )/m)
  const files = sections.map((text) => ({ name: text.slice("# Instructions: ".length, text.indexOf("\n")), text }))
  return { prompt, files }
}

const kinds = {
  notes: { letter: "N", name: "notes on what is gone" },
  user: { letter: "U", name: "said to it" },
  text: { letter: "A", name: "answers" },
  reasoning: { letter: "H", name: "thoughts" },
  call: { letter: "C", name: "calls" },
  result: { letter: "R", name: "results" },
}

function messageParts({ messages, notes }: RunView): Share[] {
  const sums = { notes: 0, user: 0, text: 0, reasoning: 0, call: 0, result: 0 }
  const tools = new Map<string, number>()
  for (const [at, message] of messages.entries()) {
    if (message.role === "assistant") for (const part of message.parts) sums[part.type] += weighPart(part)
    else if (message.role === "user") sums[at === 0 && notes !== undefined ? "notes" : "user"] += weigh(message)
    else {
      sums.result += weigh(message)
      tools.set(message.name, (tools.get(message.name) ?? 0) + weigh(message))
    }
  }
  const all = Object.entries(kinds) as [keyof typeof kinds, (typeof kinds)["user"]][]
  return all.map(([kind, about]) => ({
    ...about,
    tokens: sums[kind],
    ...(kind === "result" && { more: heaviest(tools) }),
  }))
}

const weighPart = (part: Part): number => weigh({ role: "assistant", parts: [part] } satisfies Message)

const mostTools = 3

/** The tools whose results take most of the room. */
function heaviest(tools: ReadonlyMap<string, number>): string {
  const sorted = [...tools].sort(([, a], [, b]) => b - a)
  const all = sorted.reduce((sum, [, weight]) => sum + weight, 0)
  return sorted
    .slice(0, mostTools)
    .map(([name, weight]) => `${oneLine(name, 30)} ${percent(weight, all)}`)
    .join(", ")
}

/** Each cell has the letter of the part that its middle falls into. */
function bar(shares: readonly Share[], window: number): string {
  const all = Math.max(
    window,
    shares.reduce((sum, { tokens }) => sum + tokens, 0),
  )
  let end = 0
  const ends = shares.map(({ letter, tokens }) => ({ letter, end: (end += tokens) }))
  return Array.from({ length: cells }, (_, cell) => {
    const middle = ((cell + 0.5) * all) / cells
    return ends.find((each) => middle < each.end)?.letter ?? ends.at(-1)!.letter
  }).join("")
}

const percent = (part: number, whole: number): string => {
  const share = whole === 0 ? 0 : (part * 100) / whole
  return share > 0 && share < 1 ? "<1%" : `${Math.round(share)}%`
}
