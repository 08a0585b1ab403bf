import type { Fact, RunId, Stamped } from "../../core/event.ts"
import { Log, nowhere } from "../../core/log.ts"
import type { Message } from "../../core/message.ts"
import { count, dollars, seconds, tokens } from "../../core/numbers.ts"
import { callLine, oneLine, printable } from "../../core/one-line.ts"
import type { RunView, View } from "../../core/view.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { jsonl } from "../../store/jsonl.ts"
import { codes, UsageError } from "../exit.ts"
import { compactedLine, legend, requests, table } from "./requests.ts"

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

export type ShowFlags = { json?: true; run?: string; requests?: true }

export async function show(id: string, flags: ShowFlags): Promise<number> {
  const stored = await store().read(id)
  const { header, facts, lost } = stored
  for (const loss of lost) console.error(`legwork: ${loss}`)
  const { view, whole, shortened } = foldOf(facts)
  const only = flags.run === undefined ? undefined : runIn(view, flags.run)
  const sent = flags.requests && (await requests(stored, only?.id))
  if (flags.json) {
    const own = only ? facts.filter(({ run }) => run === only.id) : facts
    const lines = sent ? [[...sent.values()].flat()] : [header, ...own]
    for (const line of lines) process.stdout.write(`${JSON.stringify(line)}\n`)
    return codes.done
  }
  print(`session ${header.id}\nfolder  ${header.cwd}\nopened  ${new Date(header.at).toISOString()}`)
  for (const run of only ? [only] : view.values()) {
    print(`\n── ${headline(run, view)}`)
    const lines = sent ? table(sent.get(run.id)!) : conversation(whole.get(run.id)!, shortened.get(run.id) ?? [])
    for (const line of lines) print(line)
    if (!sent && run.rest?.outcome.status === "failed") print(`failed: ${run.rest.outcome.error.message}`)
  }
  if (sent) print(`\n${legend([...sent.values()].flat())}`)
  return codes.done
}

/** Where in a run's messages it was made shorter, in words. */
type Shortened = { at: number; line: string }

/** The runs as they are, and with all that was ever said: what a compaction drops is still in the log. */
function foldOf(facts: Iterable<Stamped<Fact>>): { view: View; whole: View; shortened: Map<RunId, Shortened[]> } {
  const [log, all] = [logOfNobody(), logOfNobody()]
  const shortened = new Map<RunId, Shortened[]>()
  for (const fact of facts) {
    const refused = log.replay([fact]).length > 0
    if (fact.type !== "run.compacted") all.replay([fact])
    else if (!refused) {
      const at = all.view.get(fact.run)!.messages.length
      shortened.set(fact.run, [...(shortened.get(fact.run) ?? []), { at, line: compactedLine(fact) }])
    }
  }
  return { view: log.view, whole: all.view, shortened }
}

const logOfNobody = () => new Log(nowhere, Date.now, () => {})

const mostNamed = 20

/** The run of this id, or the only one whose id begins so. */
function runIn(view: View, id: string): RunView {
  const begun = [...view.values()].filter((run) => run.id.startsWith(id))
  const found = view.get(id) ?? (begun.length === 1 ? begun[0] : undefined)
  if (found) return found
  const shown = JSON.stringify(id)
  if (begun.length > 1) throw new UsageError(`several runs begin with ${shown}: ${named(begun)}; write more of it`)
  throw new UsageError(`there is no run ${shown} in this session; there are ${named([...view.values()])}`)
}

function named(runs: RunView[]): string {
  const names = runs.slice(0, mostNamed).map(({ id, agent }) => `${id} (${agent})`)
  return `${names.join(", ") || "none"}${runs.length > mostNamed ? ` and ${runs.length - mostNamed} more` : ""}`
}

function headline(run: RunView, view: View): string {
  const { usage, cost, rest, toolCalls, origin } = run
  const state = rest ? `${rest.outcome.status} · ${seconds(rest.ms)}` : "unfinished: resume goes on with it"
  const parent = origin && view.get(origin.run)
  const from = origin && (parent?.depth === 0 ? "main" : `agent ${origin.run}`)
  const name = from ? `agent ${run.id} from ${from}` : run.id
  return [name, run.agent, run.model, state, count(toolCalls, "tool"), tokens(usage), dollars(cost)].join(" · ")
}

/** What is a run's own. The placeholders at the end of what a fork inherited say nothing to people. */
function conversation({ messages, inherited, history }: RunView, shortened: Shortened[]): string[] {
  const own = history ? messages.findIndex(({ role }, i) => i >= inherited && role !== "result") : 0
  const from = own < 0 ? messages.length : own
  const linesAt = (at: number) => shortened.flatMap((each) => (each.at === at ? [each.line] : []))
  return [
    ...(history ? [`(goes on from ${count(inherited, "message")} of its parent's conversation)`] : []),
    ...messages.slice(from).flatMap((message, i) => [...linesAt(from + i), lines(message)]),
    ...linesAt(messages.length),
  ]
}

function lines(message: Message): string {
  if (message.role === "user") return `\n> ${message.text.replaceAll("\n", "\n> ")}\n`
  if (message.role === "result") return `    ${message.ok ? "" : "failed: "}${oneLine(message.text, 100)}`
  return message.parts
    .flatMap((part) => (part.type === "text" ? [part.text] : part.type === "call" ? [`  ${callLine(part)}`] : []))
    .join("\n")
}

const print = (text: string): void => void process.stdout.write(printable(`${text}\n`))
