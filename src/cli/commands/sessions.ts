import { Log, nowhere } from "../../core/log.ts"
import type { Message } from "../../core/message.ts"
import { count, dollars, seconds, tokens } from "../../core/numbers.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { jsonl } from "../../store/jsonl.ts"
import { codes } from "../exit.ts"
import { callLine } from "../plain/call.ts"
import { oneLine, printable } from "../plain/format.ts"

const store = () => jsonl({ folder: stateFolder(process.env) })

export async function list(flags: { all?: true; json?: true }, folder?: string): Promise<number> {
  const cwd = await folderOf(folder)
  const all = await store().list()
  const found = flags.all ? all : all.filter(({ header }) => header.cwd === cwd)
  const rows = found.map(({ header, updatedAt, bytes, title, running }) => ({
    id: header.id,
    cwd: header.cwd,
    createdAt: new Date(header.at).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    bytes,
    title,
    running,
  }))
  if (flags.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
  else if (rows.length === 0)
    process.stdout.write(`no sessions${flags.all ? "" : ` of ${cwd}; --all shows those of other folders`}\n`)
  else {
    for (const { id, updatedAt, title, running, cwd } of rows) {
      const where = flags.all ? `  ${cwd}` : ""
      const when = updatedAt.slice(0, 16).replace("T", " ")
      process.stdout.write(printable(`${id}  ${when}${where}  ${running ? "(at work) " : ""}${title}\n`))
    }
  }
  return codes.done
}

export async function show(id: string, flags: { json?: true }): Promise<number> {
  const { header, facts, lost } = await store().read(id)
  for (const loss of lost) console.error(`legwork: ${loss}`)
  if (flags.json) {
    for (const line of [header, ...facts]) process.stdout.write(`${JSON.stringify(line)}\n`)
    return codes.done
  }
  const log = new Log(nowhere, Date.now, () => {})
  log.replay(facts)
  process.stdout.write(
    printable(`session ${header.id}\nfolder  ${header.cwd}\nopened  ${new Date(header.at).toISOString()}\n`),
  )
  for (const run of log.view.values()) {
    const { usage, cost, rest, toolCalls } = run
    const state = rest ? `${rest.outcome.status} · ${seconds(rest.ms)}` : "unfinished: resume goes on with it"
    const about = [run.id, run.agent, run.model, state, count(toolCalls, "tool"), tokens(usage), dollars(cost)]
    process.stdout.write(printable(`\n── ${about.join(" · ")}\n`))
    for (const message of run.messages) process.stdout.write(printable(`${lines(message)}\n`))
    if (rest?.outcome.status === "failed") process.stdout.write(printable(`failed: ${rest.outcome.error.message}\n`))
  }
  return codes.done
}

function lines(message: Message): string {
  if (message.role === "user") return `\n> ${message.text.replaceAll("\n", "\n> ")}\n`
  if (message.role === "result") return `    ${message.ok ? "" : "failed: "}${oneLine(message.text, 100)}`
  return message.parts
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "call" ? [`  ${callLine(part)}`] : []))
    .join("\n")
}
