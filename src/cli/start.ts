import { folderOf, stateFolder } from "../folders.ts"
import { type Options, open, type Session } from "../session.ts"
import { jsonl } from "../store/jsonl.ts"
import { UsageError } from "./exit.ts"
import { printable } from "./plain/format.ts"
import type { Flags } from "./program.ts"

/** Opens the session that the flags ask for. */
export async function start(flags: Flags, more: Partial<Options>): Promise<Session> {
  if (flags.continue && flags.resume !== undefined)
    throw new UsageError("-c and -r exclude each other; give one of them")
  const cwd = await folderOf(flags.cwd)
  const resume = flags.resume ?? (flags.continue ? await latest(cwd) : undefined)
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

async function latest(cwd: string): Promise<string> {
  const found = (await jsonl({ folder: stateFolder(process.env) }).list()).find(
    ({ header, title }) => header.cwd === cwd && title !== "",
  )
  if (!found) throw new UsageError(`there is no session of ${cwd} to go on with; start one without -c`)
  return found.header.id
}

/** Says once who answers when there is no key. */
export function introduce({ model }: Session, asked: string | undefined): void {
  if (model !== "offline/legwork") return
  const offline = "the offline model answers: it has no intelligence, it searches and reports what it finds"
  console.error(`legwork: ${asked === undefined ? "no key is set, so " : ""}${offline}`)
}
