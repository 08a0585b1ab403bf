import type { Message, Result } from "../core/message.ts"
import { noUsage } from "../core/usage.ts"
import type { Answer, Model, Request } from "./model.ts"
import { type Found, rank, scan, telling } from "./offline-rank.ts"
import { termsOf } from "./offline-terms.ts"

const most = { terms: 6, files: 6, lines: 4 }

/** No intelligence: it turns a request into search terms, looks with the run's own tools and reports what it found. */
export function offline(): Model {
  return {
    id: "offline/legwork",
    images: false,
    window: 1_000_000,
    cost: () => 0,
    async stream(request, { signal, delta }) {
      if (signal.aborted) return stopped
      const parts = next(request)
      for (const part of parts) if (part.type === "text") delta({ kind: "text", text: part.text })
      const stop = parts.some(({ type }) => type === "call") ? "calls" : "end"
      return { ok: true, parts, stop, usage: noUsage() }
    },
  }
}

const stopped: Answer = {
  ok: false,
  error: { kind: "network", message: "stopped" },
  retry: false,
  usage: noUsage(),
}

type Parts = Extract<Answer, { ok: true }>["parts"]

/** First it searches for each term, then it reads the best files, then it answers. The history says where it is. */
function next({ messages, tools, toolChoice }: Request): Parts {
  const from = messages.findLastIndex(({ role }) => role === "user")
  const since = messages.slice(from + 1)
  const question = textOfUser(messages[from])
  const terms = termsOf(question, most.terms)
  const can = (name: string) => toolChoice === "auto" && tools.some((tool) => tool.name === name)
  const turn = since.filter(({ role }) => role === "assistant").length
  const call = (name: string, input: unknown, n: number): Parts[number] => ({
    type: "call",
    id: `offline_${messages.length}_${n}`,
    name,
    input,
  })
  if (terms.length === 0) return say("There is nothing in this request that I could search for.")
  if (turn === 0 && can("grep")) {
    return terms.map(({ pattern }, n) => call("grep", { pattern, output_mode: "count", "-i": true }, n))
  }
  const counts = terms.map(({ word }, n) => ({ word, found: countsOf(resultOf(since, "grep", n)) }))
  const best = rank(counts, most.files)
  if (turn === 1 && best.length > 0 && can("read")) {
    return best.map((path, n) => call("read", { file_path: path }, n))
  }
  const found = best.flatMap((path, n) =>
    scan({ path, numbered: resultOf(since, "read", n)?.text ?? "" }, terms, telling(counts), most.lines),
  )
  return say(
    report(
      terms.map(({ word }) => word),
      found,
    ),
  )
}

const say = (text: string): Parts => [
  {
    type: "text",
    text: `${text}\n\n(This was the offline model: it searches and does not understand. Set a key, such as ANTHROPIC_API_KEY, for a real answer.)`,
  },
]

function report(words: string[], found: Found[]): string {
  const looked = `I looked for ${words.join(", ")}`
  if (found.length === 0) return `${looked}, and found nothing.`
  const files = found.map(({ path, lines }) => lines.map(({ number, text }) => `${path}:${number}: ${text}`).join("\n"))
  return `${looked}. These files have most of it:\n\n${files.join("\n\n")}`
}

const textOfUser = (message: Message | undefined) => (message?.role === "user" ? message.text : "")

/** The nth result of a tool since the question. */
function resultOf(since: readonly Message[], name: string, n: number): Result | undefined {
  return since.filter((message): message is Result => message.role === "result" && message.name === name)[n]
}

/** Lines `path:count`, as grep prints them in count mode. */
function countsOf(result: Result | undefined): Map<string, number> {
  const lines = result?.ok ? result.text.split("\n") : []
  return new Map(
    lines.flatMap((line) => {
      const match = /^(.+):(\d+)$/.exec(line)
      return match ? [[match[1]!, Number(match[2])] as const] : []
    }),
  )
}
