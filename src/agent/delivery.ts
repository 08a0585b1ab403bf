import { reasonOf } from "../core/error.ts"
import type { Post, RunId } from "../core/event.ts"
import { lineage, type RunView, type View } from "../core/view.ts"
import type { Options } from "./options.ts"
import { resultOf } from "./receipt.ts"

/** Names one result of a run, so that it is heard once. */
const keyOf = ({ id, rest }: RunView): string => `result/${id}/${rest?.seq}`

/** A result that nobody waited for: who is to hear it, and under which key. */
type Owed = { to: RunId; key: string }

/** Undefined if the run owes nothing: it is at work, or somebody waits for it, or its result was sent. */
export function owedBy(view: View, run: RunView): Owed | undefined {
  if (!run.behind || !run.rest || run.rest.returned || !run.origin) return undefined
  const key = keyOf(run)
  // What is announced to the world goes through the main run, whoever started it.
  const to = run.announce ? lineage(view, run).at(-1) : view.get(run.origin.run)
  return to && !to.heard.has(key) ? { to: to.id, key } : undefined
}

/** How many of a run's own children will send it their results; also those that are about to rise for more. */
export function awaitedBy(view: View, { children }: RunView, isWorking: (run: RunId) => boolean): number {
  let count = 0
  for (const id of children.values()) {
    const child = view.get(id)
    if (!child?.behind || child.announce || isUnasked(child)) continue
    const rises = child.mail.length > 0 && isWorking(id)
    if (!child.rest || rises || owedBy(view, child)) count++
  }
  return count
}

/** A crash came between opening a run and telling it its task. */
export const isUnasked = ({ messages, task, mail }: RunView): boolean => messages.length === task && mail.length === 0

/** Sends what a run owes, once. Returns who is to be woken by it, if anybody is. */
export async function deliver({ log, report, announcement }: Options, run: RunView): Promise<RunId | undefined> {
  const first = owedBy(log.view, run)
  if (!run.rest || !first) return undefined
  const { outcome } = run.rest
  const { announce, label = "subtask" } = run
  const result = resultOf(log.view, run.id, outcome)
  const unkept = (error: unknown) => `${outcome.text}\n\n(not all of it could be kept: ${reasonOf(error)})`
  const text = announce || !report ? outcome.text : await report(result, label).catch(unkept)
  const owed = owedBy(log.view, run)
  if (owed?.key !== first.key) return undefined
  if (announce) {
    const said = announced(() => announcement?.(result, label, taskOf(run)), text)
    const system = { channel: "system", chatId: `${announce.channel}:${announce.chatId}`, sender: "subagent" }
    log.emit(owed.to, { type: "bus.posted", id: owed.key, way: "in", ...system, ...said })
    return undefined
  }
  const to = log.view.get(owed.to)!
  const quiet = isQuiet(run, to)
  // What it says to this is of use only if somebody hears it in turn.
  if (!quiet && to.origin && to.rest && !to.behind) log.emit(to.id, { type: "run.moved", behind: true })
  log.emit(owed.to, { type: "mail.sent", text, key: owed.key, from: run.id, ...(quiet && { quiet }) })
  return quiet ? undefined : owed.to
}

/** Words for the world that cannot be made must not keep the result from it. */
function announced(make: () => Pick<Post, "text" | "plain"> | undefined, text: string): Pick<Post, "text" | "plain"> {
  try {
    return make() ?? { text }
  } catch {
    return { text }
  }
}

/** Whoever was stopped, with those below it, is not woken by what became of them, nor by what they had done just before. */
function isQuiet({ rest }: RunView, to: RunView): boolean {
  if (rest?.above || to.stopping) return true
  return to.rest?.outcome.status === "cancelled" && to.rest.seq > (rest?.seq ?? 0)
}

/** What a run was last asked to do. */
function taskOf({ messages, task }: RunView): string {
  const asked = messages[task]
  return asked?.role === "user" ? asked.text : ""
}
