import { createInterface, type Interface } from "node:readline"
import { describe } from "../../agent/permit.ts"
import type { Question, Reply } from "../../agent/runtime.ts"
import type { Event } from "../../core/event.ts"
import type { View } from "../../core/view.ts"
import { codes } from "../exit.ts"
import { callLine } from "../plain/call.ts"
import { numbers, printable, seconds } from "../plain/format.ts"
import type { Flags } from "../program.ts"
import { introduce, start } from "../start.ts"

/** A conversation line by line. What is typed while the agent works is heard between two turns. */
export async function chat(first: string, flags: Flags): Promise<number> {
  const rl = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " })
  const questions = asking(rl)
  const session = await start(flags, { listen: show, answer: questions.ask })
  introduce(session)
  const ended = Promise.withResolvers<number>()
  let working = 0
  let warned = false
  const say = async (text: string) => {
    working++
    const report = await session.prompt(text)
    working--
    if (working > 0) return // it was heard in the middle of other work, whose end tells
    const said = report.error ? `: ${report.error.message}` : ""
    process.stdout.write(printable(`\n  ${report.status}${said} · ${numbers(report)}\n`))
    rl.prompt()
  }
  rl.on("line", (line) => {
    warned = false
    if (questions.take(line)) return
    if (line.trim() === "") return rl.prompt()
    if (["/exit", "/quit"].includes(line.trim())) return ended.resolve(codes.done)
    void say(line)
  })
  rl.on("SIGINT", () => {
    if (warned) return ended.resolve(codes.interrupted)
    warned = true
    if (working > 0) void session.cancel()
    else process.stdout.write("\n(ctrl-c again to leave)\n> ")
  })
  rl.on("close", () => ended.resolve(codes.done))
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => ended.resolve(codes.interrupted))
  if (first) void say(first)
  else rl.prompt()
  const code = await ended.promise
  rl.close()
  await session.close()
  process.stdout.write(`\n  to go on: legwork -r ${session.id}\n`)
  return code
}

/** Shows what happens as it happens: the text of the answer, a line a call, and what the provider makes us wait for. */
function show(event: Event, view: View): void {
  if (event.type === "turn.delta" && event.kind === "text") process.stdout.write(printable(event.text))
  if (event.type === "turn.failed" && event.wait !== null) {
    process.stdout.write(printable(`\n  ${event.error.message}; trying again in ${seconds(event.wait)}\n`))
  }
  if (event.type !== "call.started" && event.type !== "call.ended") return
  const call = view.get(event.run)?.calls.get(event.id)?.call
  if (event.type === "call.started" && call) process.stdout.write(`\n  ${callLine(call)}\n`)
  if (event.type === "call.ended" && !event.ok)
    process.stdout.write(printable(`  failed: ${event.text.slice(0, 200)}\n`))
}

type Asking = { ask(question: Question, signal: AbortSignal): Promise<Reply>; take(line: string): boolean }

/** Questions wait in a row; the next line that is typed answers the first. Anything but yes is no. */
function asking(rl: Interface): Asking {
  const waiting: { question: Question; reply(reply: Reply): void }[] = []
  const put = () => {
    const next = waiting[0]
    if (!next) return
    const more = waiting.length > 1 ? ` (1 of ${waiting.length})` : ""
    process.stdout.write(
      printable(`\n  ${next.question.path.join(" > ")} wants to ${describe(next.question.access)}${more}\n`),
    )
    rl.setPrompt("  allow? y, or n and a word to the model: ")
    rl.prompt()
  }
  const drop = (question: Question) => {
    const at = waiting.findIndex((each) => each.question === question)
    if (at >= 0) waiting.splice(at, 1)
    rl.setPrompt("> ")
    put()
  }
  return {
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          drop(question)
          reject(signal.reason)
        }
        const reply = (answer: Reply) => {
          signal.removeEventListener("abort", stop)
          drop(question)
          resolve(answer)
        }
        signal.addEventListener("abort", stop, { once: true })
        waiting.push({ question, reply })
        if (waiting.length === 1) put()
      }),
    take(line) {
      const next = waiting[0]
      if (!next) return false
      const [word = "", ...rest] = line.trim().split(/\s+/)
      if (/^y(es)?$/i.test(word)) next.reply({ allow: true })
      else {
        const said = (/^no?$/i.test(word) ? rest.join(" ") : line).trim()
        next.reply(said ? { allow: false, word: said } : { allow: false })
      }
      return true
    },
  }
}
