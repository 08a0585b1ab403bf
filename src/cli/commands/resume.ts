import { createInterface } from "node:readline/promises"
import { Log, nowhere } from "../../core/log.ts"
import { printable } from "../../core/one-line.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { jsonl } from "../../store/jsonl.ts"
import type { Summary } from "../../store/store.ts"
import { codes, UsageError } from "../exit.ts"
import { cut } from "../plain/format.ts"
import type { Flags } from "../program.ts"
import { sessionsOf } from "../start.ts"
import { isUnfinished } from "../unfinished.ts"

export type ResumeFlags = { all?: true }

/** So many sessions are offered; the others can be named. */
const most = 10
const mostNamed = 5

/** The flags that go on with the session that is named or chosen, or the exit code if none was chosen. */
export async function resume(id: string | undefined, flags: Flags, { all }: ResumeFlags): Promise<Flags | number> {
  if (flags.continue || flags.resume !== undefined)
    throw new UsageError("resume names the session itself; leave out -c and -r")
  if (id !== undefined) return { ...flags, resume: id }
  const cwd = await folderOf(flags.cwd)
  const sessions = await sessionsOf(all ? undefined : cwd)
  if (sessions.length === 0)
    throw new UsageError(
      `there is no session${all ? "" : ` of ${cwd}`} to go on with; start one with: legwork${all ? "" : ", or look in every folder with --all"}`,
    )
  if (!process.stdin.isTTY || !process.stdout.isTTY) throw new UsageError(unnamed(sessions))
  const chosen = await pick(sessions, all ? "every folder" : "this folder")
  return typeof chosen === "number" ? chosen : { ...flags, resume: chosen.header.id, cwd: chosen.header.cwd }
}

/** What to type where nobody can be asked. */
function unnamed(sessions: Summary[]): string {
  const newest = sessions.slice(0, mostNamed)
  const lines = newest.map(({ header, updatedAt, title }) => `  ${header.id}  ${when(updatedAt)}  ${title}`)
  return [`say which session, as in: legwork resume ${newest[0]!.header.id}`, "the newest are:", ...lines].join("\n")
}

async function pick(sessions: Summary[], where: "this folder" | "every folder"): Promise<Summary | number> {
  const offered = sessions.slice(0, most)
  const width = (process.stdout.columns || 80) - 1
  for (const [at, each] of offered.entries()) {
    const folder = where === "every folder" ? [each.header.cwd] : []
    const columns = [String(at + 1).padStart(4), when(each.updatedAt), (await stateOf(each)).padEnd(10), ...folder]
    process.stdout.write(`${cut(printable([...columns, each.title].join("  ")), width)}\n`)
  }
  const more = sessions.length - offered.length
  if (more > 0) process.stdout.write(`      and ${more} more: legwork sessions list, then legwork resume <id>\n`)
  return choice(offered)
}

/** What somebody at the terminal chooses, or with what exit code they leave. */
async function choice(offered: Summary[]): Promise<Summary | number> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  const left = new AbortController()
  let code: number = codes.done
  terminal.once("close", () => left.abort())
  terminal.once("SIGINT", () => {
    code = codes.interrupted
    terminal.close()
  })
  try {
    for (;;) {
      const words = "  which? a number, enter for 1, q to leave: "
      const said = await terminal.question(words, { signal: left.signal }).catch(() => "q")
      if (/^q(uit)?$/i.test(said.trim())) return code
      const chosen = said.trim() === "" ? offered[0] : offered[Number(said) - 1]
      if (chosen) return chosen
      process.stdout.write(`  there is no ${JSON.stringify(printable(said))}; there are 1 to ${offered.length}\n`)
    }
  } finally {
    terminal.close()
  }
}

async function stateOf({ header, running }: Summary): Promise<string> {
  if (running) return "at work"
  try {
    const log = new Log(nowhere, Date.now, () => {})
    log.replay((await jsonl({ folder: stateFolder(process.env) }).read(header.id)).facts)
    return isUnfinished(log.view) ? "unfinished" : ""
  } catch {
    return "damaged" // what is wrong with it is said to whoever chooses it
  }
}

const when = (at: number): string => new Date(at).toISOString().slice(0, 16).replace("T", " ")
