import type { Event } from "../../core/event.ts"
import { count, numbers } from "../../core/numbers.ts"
import { printable } from "../../core/one-line.ts"
import type { View } from "../../core/view.ts"
import type { Session } from "../../face.ts"
import type { Report } from "../../report.ts"
import { codes, exitCode, UsageError } from "../exit.ts"
import { standardInput } from "../input.ts"
import { type Progress, progress } from "../plain/progress.ts"
import type { Flags } from "../program.ts"
import { introduce, start } from "../start.ts"

/** Answers once and ends, when nothing is at work any more; with `--no-drain` as soon as there is an answer. */
export async function print(given: string, flags: Flags): Promise<number> {
  let opening: Promise<Session> | undefined
  const out = flags.outputFormat === "stream-json" ? eventLines(async () => (await opening)?.synced()) : undefined
  let watch: Progress | undefined
  const listen = (event: Event, view: View) => {
    out?.event(event, view)
    watch?.event(event)
  }
  const goesOn = flags.continue !== undefined || flags.resume !== undefined
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
  watch = progress(screen, { verbose: flags.verbose === true, now: () => performance.now(), view: session.view })
  const signals = onSignals(session)
  const report = await (prompt === "" ? session.proceed() : session.prompt(prompt, { drain: flags.drain }))
  watch.end()
  await out?.end()
  tell(report, flags)
  tellAside(session)
  signals.release()
  await session.close()
  return signals.came() ? codes.interrupted : exitCode(report)
}

/** A crash can come before even the prompt is stored. */
function neverAsked({ view, main }: Session): boolean {
  const run = view.get(main)
  return run !== undefined && run.messages.length + run.mail.length === 0
}

const join = (prompt: string, input: string): string =>
  input.trim() === "" ? prompt : prompt === "" ? input : `${prompt}\n\n<stdin>\n${input}\n</stdin>`

type Signals = { came(): boolean; release(): void }

/** Once: what is under way stops and is kept. Twice: we leave at once. */
function onSignals(session: Session): Signals {
  let came = false
  const stop = () => {
    if (came) process.exit(codes.interrupted)
    came = true
    void session.cancel()
  }
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, stop)
  return {
    came: () => came,
    release() {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}

type Lines = { event(event: Event, view: View): void; end(): Promise<void> }

/** Each event as it happens, a line each; that the main run has settled is said only when it is safe on disk. */
function eventLines(synced: () => Promise<unknown>): Lines {
  let held: string[] | undefined
  let unsafe = false
  let free = Promise.resolve()
  const release = async () => {
    // It may settle once more while the disk is busy with the time before.
    while (unsafe) {
      unsafe = false
      await synced().catch(() => {}) // the report says so
    }
    for (const line of held ?? []) process.stdout.write(line)
    held = undefined
  }
  return {
    event(event, view) {
      const settled = event.type === "run.settled" && view.get(event.run)?.depth === 0
      unsafe ||= settled
      if (settled && !held) {
        held = []
        free = release()
      }
      const line = `${JSON.stringify(event)}\n`
      if (held) held.push(line)
      else process.stdout.write(line)
    },
    end: () => free,
  }
}

function tell(report: Report, flags: Flags): void {
  if (flags.outputFormat === "json") process.stdout.write(`${JSON.stringify(report)}\n`)
  if (flags.outputFormat === "text" && report.text) process.stdout.write(`${printable(report.text).trimEnd()}\n`)
  for (const { what, why } of report.refused) console.error(printable(`  refused: ${what} (${why})`))
  const said = report.error ? `: ${report.error.message}` : ""
  console.error(printable(`  ${report.status}${said} · ${numbers(report)} · session ${report.sessionId}`))
}

/** Whoever does not wait for agents is told that they are not lost. */
function tellAside(session: Session): void {
  const left = session.runningCount()
  if (left === 0) return
  const [state, them] = left === 1 ? ["is still at work and was", "it"] : ["are still at work and were", "them"]
  console.error(`  ${count(left, "agent")} ${state} put aside · legwork resume ${session.id} goes on with ${them}`)
}
