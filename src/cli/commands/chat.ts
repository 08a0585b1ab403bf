import { createInterface, type Interface } from "node:readline"
import type { Question, Reply } from "../../agent/permission.ts"
import type { Event } from "../../core/event.ts"
import { numbers } from "../../core/numbers.ts"
import type { View } from "../../core/view.ts"
import type { Report } from "../../report.ts"
import type { Session } from "../../session.ts"
import { version } from "../../version.ts"
import { codes } from "../exit.ts"
import { callLine } from "../plain/call.ts"
import { printable } from "../plain/format.ts"
import { noteOn } from "../plain/note.ts"
import { questionLines, replyIn } from "../plain/question.ts"
import type { Flags } from "../program.ts"
import { introduce, start } from "../start.ts"

/** A conversation line by line. What is typed while the agent works is heard between two turns. */
export async function chat(first: string, flags: Flags): Promise<number> {
  // Questions can come only once the terminal is being read, and it is read only once there is a session to talk to.
  await (await import("./trust.ts")).askForTrust(flags.cwd)
  const questions = asking()
  const session = await start(flags, { listen: show, answer: questions.ask })
  introduce(session, flags.model)
  process.stdout.write(`  legwork ${version} · ${printable(session.model)} · ctrl-c stops it, /exit leaves\n`)
  const rl = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " })
  questions.use(rl)
  const code = await converse(rl, session, { first, take: questions.take })
  await session.close()
  rl.close()
  process.stdout.write(`\n  to go on: legwork -r ${session.id}\n`)
  return code
}

type Talk = { first: string; take(line: string): boolean }

function converse(rl: Interface, session: Session, { first, take }: Talk): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  let [working, warned, over] = [0, false, false]
  const end = (code: number) => {
    over = true
    resolve(code)
  }
  const work = async (doing: Promise<Report>) => {
    working++
    const report = await doing
    working--
    if (working > 0 || over) return // it was heard in the middle of other work, whose end tells
    const said = report.error ? `: ${report.error.message}` : ""
    process.stdout.write(printable(`\n  ${report.status}${said} · ${numbers(report)}\n`))
    rl.prompt()
  }
  rl.on("line", (line) => {
    warned = false
    if (take(line)) return
    if (line.trim() === "") return rl.prompt()
    if (["/exit", "/quit"].includes(line.trim())) return end(codes.done)
    void work(session.prompt(line))
  })
  rl.on("SIGINT", () => {
    if (warned) return end(codes.interrupted)
    warned = true
    rl.write(null, { ctrl: true, name: "u" }) // what was typed so far is dropped, not joined to the next line
    if (working > 0) void session.cancel()
    else process.stdout.write("\n(ctrl-c again to leave)\n> ")
  })
  rl.on("close", () => end(codes.done))
  rl.on("error", () => end(codes.interrupted)) // the terminal is gone
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => end(codes.interrupted))
  if (first) void work(session.prompt(first))
  else if (isUnfinished(session)) void work(session.proceed())
  else rl.prompt()
  return promise
}

/** A crash left something to do. */
const isUnfinished = ({ view }: Session): boolean =>
  [...view.values()].some(({ rest, mail, messages }) => mail.length > 0 || (!rest && messages.length > 0))

/** Shows what happens as it happens: the text of the answer, a line a call, and what the provider makes us wait for. */
function show(event: Event, view: View): void {
  const run = view.get(event.run)
  const indent = "  ".repeat((run?.depth ?? 0) + 1)
  if (event.type === "turn.delta" && event.kind === "text" && run?.depth === 0) {
    process.stdout.write(printable(event.text))
  }
  const note = noteOn(event)
  if (note !== undefined) process.stdout.write(printable(`\n${indent}${note}\n`))
  if (event.type !== "call.started" && event.type !== "call.ended") return
  const call = run?.calls.get(event.id)?.call
  if (event.type === "call.started" && call) process.stdout.write(`\n${indent}${callLine(call)}\n`)
  if (event.type === "call.ended" && !event.ok)
    process.stdout.write(printable(`${indent}failed: ${event.text.slice(0, 200)}\n`))
}

type Asking = {
  use(rl: Interface): void
  ask(question: Question, signal: AbortSignal): Promise<Reply>
  take(line: string): boolean
}

/** Questions wait in a row; the next line that is typed answers the first. Anything but yes is no. */
function asking(): Asking {
  const waiting: { question: Question; reply(reply: Reply): void }[] = []
  let rl: Interface | undefined
  const put = () => {
    const next = waiting[0]
    if (!next || !rl) return
    const more = waiting.length > 1 ? `  (1 of ${waiting.length} questions)\n` : ""
    const lines = questionLines(next.question).map((line) => `  ${line}\n`)
    process.stdout.write(`\n${more}${lines.join("")}`)
    const always = next.question.always?.length ? ", a for always" : ""
    rl.setPrompt(`  allow? y${always}, or n and a word to the model: `)
    rl.prompt()
  }
  const drop = (question: Question) => {
    const at = waiting.findIndex((each) => each.question === question)
    if (at >= 0) waiting.splice(at, 1)
    rl?.setPrompt("> ")
    put()
  }
  return {
    use(terminal) {
      rl = terminal
      put()
    },
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
      next.reply(replyIn(line))
      return true
    },
  }
}
