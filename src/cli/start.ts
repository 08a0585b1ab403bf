import { printable } from "../core/one-line.ts"
import type { Session } from "../face.ts"
import { folderOf, stateFolder } from "../folders.ts"
import { type Options, open } from "../session.ts"
import { jsonl } from "../store/jsonl.ts"
import type { Summary } from "../store/store.ts"
import { UsageError } from "./exit.ts"
import type { Flags } from "./program.ts"

/** Opens the session that the flags ask for. */
export async function start(flags: Flags, more: Partial<Options>): Promise<Session> {
  if (flags.continue && flags.resume !== undefined)
    throw new UsageError("-c and -r exclude each other; give one of them")
  const cwd = await folderOf(flags.cwd)
  const resume = await resumed(flags, cwd)
  return open({
    cwd,
    warn: (text) => console.error(`legwork: ${printable(text)}`),
    ...(flags.model !== undefined && { model: flags.model }),
    ...(flags.permissionMode !== undefined && { permissionMode: flags.permissionMode }),
    ...(flags.maxTurns !== undefined && { maxTurns: flags.maxTurns }),
    ...(flags.agents !== undefined && { agentsJson: flags.agents }),
    ...(resume !== undefined && { resume }),
    ...more,
  })
}

async function resumed({ resume, continue: last }: Flags, cwd: string): Promise<string | undefined> {
  if (resume !== undefined) return meant(resume, cwd)
  if (!last) return undefined
  const [found] = await sessionsOf(cwd)
  if (!found) throw new UsageError(`there is no session of ${cwd} to go on with; start one without -c`)
  return found.header.id
}

/** The stored sessions that were ever asked anything, of one folder or of all, newest first. */
export async function sessionsOf(cwd?: string): Promise<Summary[]> {
  const all = await jsonl({ folder: stateFolder(process.env) }).list()
  return all.filter(({ header, title }) => title !== "" && (cwd === undefined || header.cwd === cwd))
}

const whole = /^\d{8}-\d{6}-[0-9a-f]{16}$/

/** The beginning of an id is enough where it fits only one session, of this folder or else of all. */
async function meant(id: string, cwd: string): Promise<string> {
  if (whole.test(id) || id === "") return id
  const begun = (await sessionsOf()).filter(({ header }) => header.id.startsWith(id))
  const here = begun.filter(({ header }) => header.cwd === cwd)
  const fit = here.length > 0 ? here : begun
  if (fit.length < 2 || fit.some(({ header }) => header.id === id)) return fit.length === 1 ? fit[0]!.header.id : id
  const named = fit.slice(0, 5).map(({ header }) => header.id)
  throw new UsageError(`several sessions begin with ${JSON.stringify(id)}: ${named.join(", ")}; write more of the id`)
}

/** Says once who answers when there is no key. */
export function introduce(session: Session, asked: string | undefined): void {
  const word = offlineWord(session, asked)
  if (word !== undefined) console.error(`legwork: ${word}`)
}

/** Who answers, where that is no model that understands anything. */
export function offlineWord({ model }: Session, asked: string | undefined): string | undefined {
  if (model !== "offline/legwork") return undefined
  const offline = "the offline model answers: it has no intelligence, it searches and reports what it finds"
  return `${asked === undefined ? "no key is set, so " : ""}${offline}`
}
