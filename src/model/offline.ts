import { isResults } from "../core/mail.ts"
import type { Message, Part, Result } from "../core/message.ts"
import { noUsage } from "../core/usage.ts"
import type { Answer, Model, Request } from "./model.ts"
import { type Found, inPlace, isPlace, type Place, rank, scan, telling } from "./offline-rank.ts"
import { termsOf } from "./offline-terms.ts"

const most = { terms: 6, files: 4, lines: 3 }

/**
 * No intelligence: it turns a request into search terms, sends a child to the source, one to the tests and one to the
 * documents, and reports what they found. Where it cannot delegate it looks itself, with the run's own tools.
 */
export function offline(): Model {
  return {
    id: "offline/legwork",
    images: false,
    window: 1_000_000,
    cost: () => 0,
    async stream(request, { signal, delta }) {
      if (signal.aborted) return stopped
      const parts = answer(request)
      for (const part of parts) if (part.type === "text") delta({ kind: "text", text: part.text })
      const stop = parts.some(({ type }) => type === "call") ? "calls" : "end"
      return { ok: true, parts, stop, usage: noUsage() }
    },
  }
}

const stopped: Answer = { ok: false, error: { kind: "network", message: "stopped" }, retry: false, usage: noUsage() }

/** Where a run is in its work: what it was asked, what has come back since, and what it may still call. */
type Standing = { question: string; since: readonly Message[]; turn: number; can(name: string): boolean; call: Calling }
type Calling = (name: string, input: unknown, n: number) => Part

function answer({ messages, tools, toolChoice }: Request): Part[] {
  // Where no tool may be called any more, the last message is the engine's own word about a limit.
  const isQuestion = ({ role }: Message, at: number) =>
    role === "user" && (toolChoice === "auto" || messages[at + 1]?.role === "assistant")
  const from = messages.findLastIndex(isQuestion)
  const asked = messages[from]
  const since = messages.slice(from + 1)
  const standing: Standing = {
    question: asked?.role === "user" ? asked.text : "",
    since,
    turn: since.filter(({ role }) => role === "assistant").length,
    can: (name) => toolChoice === "auto" && tools.some((tool) => tool.name === name),
    call: (name, input, n) => ({ type: "call", id: `offline_${messages.length}_${n}`, name, input }),
  }
  return tools.some(({ name }) => name === "task") ? lead(standing) : look(standing)
}

const places: Record<Place, string> = { source: "In the source", tests: "In the tests", documents: "In the documents" }
const errand = /^Look in the (\w+): /

/** The main agent: it sends children and puts together what they bring back. */
function lead({ question, since, turn, can, call }: Standing): Part[] {
  if (isResults(question) || isAnnounced.test(question)) return say(confess(newsIn(question)))
  const words = termsOf(question, most.terms).map(({ word }) => word)
  if (words.length === 0) return say(confess("There is nothing in this request that I could search for."))
  const names = Object.keys(places) as Place[]
  if (turn === 0 && can("task")) {
    return names.map((place, n) => {
      const input = {
        description: `look in the ${place}`,
        prompt: `Look in the ${place}: ${question}`,
        subagent_type: "explore",
      }
      return call("task", input, n)
    })
  }
  const found = names.flatMap((place, n) => {
    const report = withoutFooter(resultOf(since, "task", n)?.text ?? "")
    return report && report !== nothing ? [`${places[place]}:\n\n${report}`] : []
  })
  const looked = `I looked for ${words.join(", ")}`
  return say(confess(found.length > 0 ? `${looked}.\n\n${found.join("\n\n")}` : `${looked}, and found nothing.`))
}

/** What came of work that nobody waited for. All that this model can do about it is to pass it on. */
const isAnnounced = /^A task that you were given earlier/

function newsIn(text: string): string {
  const name = /^[^\n"]*"([^"\n]*)"/.exec(text)?.[1]
  const result = /<result>\n(.*)\n<\/result>/s.exec(text)?.[1]
  if (result !== undefined) return `Of ${name ?? "what you asked for"} there is this:\n\n${result}`
  return text
    .split("\n\n")
    .slice(1)
    .filter((part) => !/^agent \w+ · /.test(part))
    .join("\n\n")
}

const confess = (text: string): string =>
  `${text}\n\n(This was the offline model: it searches and does not understand. Set a key, such as ANTHROPIC_API_KEY, for a real answer.)`

const withoutFooter = (text: string): string => text.replace(/\n\nagent [^\n]*$/, "").trim()

const nothing = "I found nothing."

/** A child: it searches for each term, reads the best files, and reports the lines that have most of them. */
function look({ question, since, turn, can, call }: Standing): Part[] {
  const place = errand.exec(question)?.[1] ?? ""
  const terms = termsOf(question.replace(errand, ""), most.terms)
  if (turn === 0 && terms.length > 0 && can("grep")) {
    return terms.map(({ pattern }, n) =>
      call("grep", { pattern, output_mode: "count", "-i": true, head_limit: 1_000 }, n),
    )
  }
  const counts = terms.map(({ word }, n) => ({ word, found: countsOf(resultOf(since, "grep", n)) }))
  const best = rank(counts, most.files, isPlace(place) ? inPlace(place) : () => true)
  if (turn === 1 && best.length > 0 && can("read")) {
    return best.map((path, n) => call("read", { file_path: path }, n))
  }
  const found = best.flatMap((path, n) =>
    scan({ path, numbered: resultOf(since, "read", n)?.text ?? "" }, terms, telling(counts), most.lines),
  )
  return say(found.length > 0 ? report(found) : nothing)
}

const say = (text: string): Part[] => [{ type: "text", text }]

const report = (found: Found[]): string =>
  found.map(({ path, lines }) => lines.map(({ number, text }) => `${path}:${number}: ${text}`).join("\n")).join("\n\n")

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
