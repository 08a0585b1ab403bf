import { createInterface, type Interface } from "node:readline"
import { resultOf } from "../../agent/receipt.ts"
import { reasonOf } from "../../core/error.ts"
import type { Event } from "../../core/event.ts"
import { count, numbers } from "../../core/numbers.ts"
import { printable } from "../../core/one-line.ts"
import type { View } from "../../core/view.ts"
import type { Session } from "../../face.ts"
import type { Report } from "../../report.ts"
import { version } from "../../version.ts"
import { codes } from "../exit.ts"
import { merged } from "../merged.ts"
import { asking } from "../plain/asking.ts"
import { goesOnLine } from "../plain/child.ts"
import { type Paper, paper } from "../plain/paper.ts"
import { told } from "../plain/told.ts"
import type { Flags } from "../program.ts"
import { builtInCommands, carryOut, commandIn } from "../slash/commands.ts"
import type { Ground } from "../slash/ground.ts"
import { introduce, sessionsOf, start } from "../start.ts"
import { themeOf } from "../tui/theme.ts"
import { agentsAtWork, isUnfinished } from "../unfinished.ts"

/** A conversation line by line. What is typed while the agent works is heard between two turns. */
export async function chat(first: string, flags: Flags): Promise<number> {
  // Questions can come only once the terminal is being read, and it is read only once there is a session to talk to.
  await (await import("./trust.ts")).askForTrust(flags.cwd)
  const questions = asking()
  const session = await start(flags, { answer: merged(questions.ask) })
  introduce(session, flags.model)
  process.stdout.write(`  legwork ${version} · ${printable(session.model)} · ctrl-c stops it, /help says what else\n`)
  const rl = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " })
  const page = paper(rl, process.stdout)
  questions.use(page)
  const { code, next } = await converse({ rl, page, session, first, take: questions.take })
  const left = isUnfinished(session.view)
  await session.close()
  rl.close()
  process.stdout.write(`\n  ${left ? "what was under way is put aside; " : ""}to go on: legwork -r ${session.id}\n`)
  const { continue: _, ...others } = flags
  return next ? chat("", { ...others, ...next }) : code
}

type Talk = { rl: Interface; page: Paper; session: Session; first: string; take(line: string): boolean }

/** How a conversation ended, and which session is to be gone on with, if one is. */
type Left = { code: number; next?: { resume: string } }

function converse({ rl, page, session, first, take }: Talk): Promise<Left> {
  const { promise, resolve } = Promise.withResolvers<Left>()
  const commands = builtInCommands()
  /** Prompts that have not ended, and how often the main run has come to rest. */
  let [asked, rests, warned, over] = [0, 0, false, false]
  /** Whether a line was dealt with while something was at work, and nobody was asked for the next since. */
  let owed = false
  const end = (code: number, next?: { resume: string }) => {
    over = true
    resolve({ code, ...(next && { next }) })
  }
  const listen = (event: Event, view: View) => {
    if (over) return
    const isMain = event.run === session.main
    if (isMain && event.type === "turn.delta" && event.kind === "text") page.write(event.text)
    const line = told(event, view)
    if (line !== undefined) page.line(line)
    if (isMain && event.type === "mail.read") warned = false
    if (!isMain || event.type !== "run.settled") return
    rests++
    owed = false
    tellEnd(page, view, resultOf(view, session.main, event.outcome))
  }
  const prompt = async (text: string) => {
    const before = rests
    asked++
    const report = await session.prompt(text)
    asked--
    if (rests === before && !over)
      tellEnd(page, session.view, report) // it was refused before anything was at work
    else if (owed) rested()
  }
  const isWorking = () => asked > 0 || isAtWork(session)
  const rested = () => {
    owed = isWorking()
    if (!over && !owed) page.prompt()
  }
  const ground = groundOf(session, page, {
    prompt: (text) => void prompt(text),
    leave: (next) => end(codes.done, next),
  })
  rl.on("line", (line) => {
    warned = false
    page.entered()
    const command = commandIn(line, commands)
    if (command) return void carryOut(command, ground).then(rested)
    if (!take(line) && line.trim() !== "") return void prompt(line)
    rested()
  })
  rl.on("SIGINT", () => {
    if (warned) return end(codes.interrupted)
    warned = true
    page.drop()
    if (isWorking()) return void session.cancel(session.main, { reach: "run" })
    page.line("(ctrl-c again to leave)")
    page.prompt()
  })
  rl.on("close", () => end(codes.done))
  rl.on("error", () => end(codes.interrupted)) // the terminal is gone
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.once(signal, () => end(codes.interrupted))
  session.listen(listen)
  if (first) void prompt(first)
  else {
    if (isUnfinished(session.view)) void proceed(page, session)
    rested()
  }
  return promise
}

/** Commands say on this page what they have to say; nothing can be chosen from lists, so they say what to type. */
function groundOf(session: Session, page: Paper, ways: Pick<Ground, "prompt" | "leave">): Ground {
  return {
    session,
    sessions: async () => sessionsOf(session.view.get(session.main)?.root),
    view: session.view,
    theme: themeOf({ colors: false, dark: true }),
    keys: [{ key: "ctrl-c", about: "stops what is under way; again: leaves" }],
    note: (text) => text.split("\n").forEach((line) => void page.line(`  ${line}`.trimEnd())),
    open: (run) => page.line(`  legwork sessions show ${session.id} --run ${run} shows it`),
    now: Date.now,
    ...ways,
  }
}

/** The agents may go on for long: the main run's own end tells when it is to be talked to again. */
async function proceed(page: Paper, session: Session): Promise<void> {
  for (const run of agentsAtWork(session.view)) page.line(goesOnLine(run))
  await session.proceed().catch((error) => page.line(`  it cannot be gone on with: ${reasonOf(error)}`))
}

type End = Pick<Report, "status" | "error" | "toolCalls" | "usage" | "cost" | "durationMs">

function tellEnd(page: Paper, view: View, end: End): void {
  const said = end.error ? `: ${end.error.message}` : ""
  page.line(`  ${end.status}${said} · ${numbers(end)}`)
  const working = agentsAtWork(view).length
  if (working > 0) page.line(`  ${count(working, "agent")} at work in the background · /tasks lists them`)
  page.prompt()
}

/** Whether the main run does anything, or is about to. */
function isAtWork({ view, main }: Session): boolean {
  const { rest, mail, messages } = view.get(main)!
  return mail.some(({ quiet }) => !quiet) || (!rest && messages.length > 0)
}
