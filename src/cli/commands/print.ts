import type { Event } from "../../core/event.ts"
import { numbers } from "../../core/numbers.ts"
import type { View } from "../../core/view.ts"
import type { Report } from "../../report.ts"
import type { Session } from "../../session.ts"
import { codes, exitCode, UsageError } from "../exit.ts"
import { standardInput } from "../input.ts"
import { printable } from "../plain/format.ts"
import { type Progress, progress } from "../plain/progress.ts"
import type { Flags } from "../program.ts"
import { introduce, start } from "../start.ts"

/** Answers once and ends. */
export async function print(given: string, flags: Flags): Promise<number> {
  const out = flags.outputFormat === "stream-json" ? eventLines() : undefined
  let watch: Progress | undefined
  const listen = (event: Event, view: View) => {
    out?.event(event, view)
    watch?.event(event, view)
  }
  const goesOn = flags.continue !== undefined || flags.resume !== undefined
  let opening: Promise<Session> | undefined
  const opened = () => {
    opening ??= start(flags, { listen })
    return opening
  }
  const prompt = join(given, await standardInput(process.stdin, given, opened))
  if (prompt === "" && !goesOn)
    throw new UsageError('there is nothing to do; say what, as in: legwork -p "explain this project"')
  const session = await opened()
  introduce(session, flags.model)
  if (prompt === "" && neverAsked(session)) {
    await session.close()
    throw new UsageError(
      `session ${session.id} was never asked anything; say what to do, as in: legwork -r ${session.id} -p "…"`,
    )
  }
  // Events on a terminal are what people want to see there; a block that is rewritten would run over them.
  const screen = out && process.stdout.isTTY ? { write: (text: string) => process.stderr.write(text) } : process.stderr
  watch = progress(screen, { verbose: flags.verbose === true, now: () => performance.now() })
  const release = onSignals(session)
  const report = await (prompt === "" ? session.proceed() : session.prompt(prompt))
  watch.end()
  await out?.end(session)
  tell(report, flags)
  release()
  await session.close()
  return exitCode(report)
}

/** A crash can come before even the prompt is stored. */
function neverAsked({ view, main }: Session): boolean {
  const run = view.get(main)
  return run !== undefined && run.messages.length + run.mail.length === 0
}

const join = (prompt: string, input: string): string =>
  input.trim() === "" ? prompt : prompt === "" ? input : `${prompt}\n\n<stdin>\n${input}\n</stdin>`

/** Once: what is under way stops and is kept. Twice: we leave at once. */
function onSignals(session: Session): () => void {
  let before = false
  const stop = () => {
    if (before) process.exit(codes.interrupted)
    before = true
    void session.cancel()
  }
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, stop)
  return () => {
    for (const signal of signals) process.off(signal, stop)
  }
}

/** Each event as it happens, a line each; that the main run has settled is said only when it is safe on disk. */
function eventLines(): { event(event: Event, view: View): void; end(session: Session): Promise<void> } {
  let held: string[] | undefined
  const write = (line: string) => void (held ? held.push(line) : process.stdout.write(line))
  return {
    event(event, view) {
      if (event.type === "run.settled" && view.get(event.run)?.depth === 0) held ??= []
      write(`${JSON.stringify(event)}\n`)
    },
    async end(session) {
      await session.synced().catch(() => {}) // the report says so
      for (const line of held ?? []) process.stdout.write(line)
    },
  }
}

function tell(report: Report, flags: Flags): void {
  if (flags.outputFormat === "json") process.stdout.write(`${JSON.stringify(report)}\n`)
  if (flags.outputFormat === "text" && report.text) process.stdout.write(`${printable(report.text).trimEnd()}\n`)
  for (const { what, why } of report.refused) console.error(printable(`  refused: ${what} (${why})`))
  const said = report.error ? `: ${report.error.message}` : ""
  console.error(printable(`  ${report.status}${said} · ${numbers(report)} · session ${report.sessionId}`))
}
