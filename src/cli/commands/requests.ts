import { homedir } from "node:os"
import { load } from "../../config.ts"
import type { RunId } from "../../core/event.ts"
import { seconds, tokenCount } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import { totalTokens, type Usage } from "../../core/usage.ts"
import { folderOf } from "../../folders.ts"
import { encodingOf } from "../../model/encoding.ts"
import { tuningIn } from "../../models.ts"
import { requestsOf, type Sent, type Shared } from "../../requests.ts"
import type { Stored } from "../../store/store.ts"

/** What a session's runs sent to their models, as far as the settings are still those of then. */
export async function requests({ header, facts }: Stored, run?: RunId): Promise<Map<RunId, Sent[]>> {
  const cwd = await folderOf(header.cwd).catch(() => folderOf())
  const { env } = process
  const config = await load({ cwd, env, home: homedir() })
  return requestsOf(facts, {
    encoding: (model) => encodingOf(model, { config, env }),
    tuning: tuningIn(config),
    ...(run !== undefined && { run }),
  })
}

const head = ["#", "bytes", "system", "tools", "messages", "settings", "as before", "as parent"]
const reported = ["cache read", "cache write", "input", "output"]

/** Requests in columns, with a line for whatever came between two of them. */
export function table(sent: readonly Sent[]): string[] {
  if (sent.length === 0) return ["(nothing was sent)"]
  const rows = [[...head, ...reported], ...sent.map((each) => (each.type === "request" ? cells(each) : note(each)))]
  const widths = [...head, ...reported].map((_, i) =>
    Math.max(...rows.map((row) => (typeof row === "string" ? 0 : row[i]!.length))),
  )
  const line = (row: string[]) => row.map((cell, i) => cell.padStart(widths[i]!)).join("  ")
  return rows.map((row) => (typeof row === "string" ? row : line(row)))
}

export function legend(sent: readonly Sent[]): string {
  const own = sent.some((each) => each.type === "request" && each.form === "own")
  return [
    "bytes: the whole body; settings: what is neither system, tools nor messages",
    "as before: what it begins with of the request before it; cache marks do not count, as they move and are no content",
    "as parent: what a first request begins with, to the byte, of the last one of the run that started it",
    "cache read, cache write, input, output: tokens as the provider reported them",
    "Bodies are not stored: they are written anew from the log, with the settings as they are now.",
    ...(own ? ["The sizes are of Legwork's own form where a model is not asked in a format of ours."] : []),
  ].join("\n")
}

/** A conversation that was made shorter, in a line. */
export function compactedLine({ before, after, usage }: { before: number; after: number; usage?: Usage }): string {
  const [from, to] = [tokenCount(before).replace(/ tokens?$/, ""), tokenCount(after)]
  const summary = usage && totalTokens(usage) > 0 ? ` (its summary took ${spent(usage)})` : ""
  return `compacted: ${from} → ${to}${summary}`
}

type Request = Extract<Sent, { type: "request" }>

function cells({ number, before, parent, usage, ...sizes }: Request): string[] {
  const { bytes, system, tools, messages, settings } = sizes
  const { cacheRead, cacheWrite, input, output } = usage
  const size = [number, bytes, system, tools, messages, settings].map(grouped)
  return [...size, share(before), share(parent), ...[cacheRead, cacheWrite, input, output].map(grouped)]
}

function note(sent: Exclude<Sent, Request>): string {
  if (sent.type === "compacted") return compactedLine(sent)
  const { error, wait, usage } = sent
  const then = wait === null ? "" : `; tried again${wait > 0 ? ` after ${seconds(wait)}` : ""}`
  return `failed: ${oneLine(error.message, 200)}${then}${usage ? ` (it took ${spent(usage)})` : ""}`
}

const share = (shared: Shared | null): string =>
  shared ? `${grouped(shared.bytes)} ${shared.percent.toFixed(1).padStart(5)} %` : "–"

const spent = ({ cacheRead, cacheWrite, input, output }: Usage): string =>
  `${grouped(input + cacheRead + cacheWrite)} tokens in, ${grouped(output)} out`

const grouped = (n: number): string => n.toLocaleString("en-US")
