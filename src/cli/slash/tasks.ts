import type { RunId } from "../../core/event.ts"
import { count, seconds } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import { isOver, type Progress, progressOf } from "../../core/progress.ts"
import { family, type RunView } from "../../core/view.ts"
import { head } from "../plain/child.ts"
import { agentsAtWork } from "../unfinished.ts"
import { type Command, choose, type Ground, type Item } from "./ground.ts"

type Row = { run: RunView; at: Progress }

/** So many of those that have ended are told of, where they cannot be scrolled through. */
const mostOver = 10

export const tasks: Command = {
  name: "tasks",
  about: "the agents, and how far they are",
  async run(_, ground) {
    const rows = rowsOf(ground)
    if (rows.length === 0) return ground.note("no agent was started yet")
    const id = await choose(ground, {
      title: "agents of this session",
      items: rows.map(itemOf),
      words: listed(rows).join("\n"),
    })
    const run = id === undefined ? undefined : ground.view.get(id)
    if (run) await act(run, ground)
  },
}

export const stop: Command = {
  name: "stop",
  hint: "<id>",
  about: "stops one, and those below it",
  async run(id, ground) {
    const run = await which("stop", id, agentsAtWork(ground.view), ground)
    if (run) stopRun(run.id, ground)
  },
}

export const behind: Command = {
  name: "behind",
  hint: "[id]",
  about: "does not wait for an agent, or for none: results come later",
  async run(id, ground) {
    const { view, session } = ground
    const waitedFor = agentsAtWork(view).filter((run) => !run.behind)
    const own = waitedFor.filter((run) => run.origin?.run === session.main)
    if ((id === "" ? own : waitedFor).length === 0) return ground.note("there is no agent that is waited for")
    const chosen = id === "" ? own : [await which("behind", id, waitedFor, ground)]
    for (const run of chosen) if (run) sendBehind(run.id, ground)
  },
}

/** Children stand below their parents. */
function rowsOf({ view, session, now }: Ground): Row[] {
  const runs = family(view, session.main).flatMap((id) => view.get(id) ?? [])
  return runs.filter(({ depth }) => depth > 0).map((run) => ({ run, at: progressOf(view, run, now()) }))
}

/** All that are at work, and those that ended last. */
function listed(rows: readonly Row[]): string[] {
  const over = rows.filter(({ at }) => isOver(at)).sort((a, b) => (a.run.rest?.seq ?? 0) - (b.run.rest?.seq ?? 0))
  const gone = new Set(over.slice(0, Math.max(0, over.length - mostOver)))
  const lines = rows.filter((row) => !gone.has(row)).map((row) => `${row.run.id}${titleOf(row)} · ${stateOf(row)}`)
  return [...lines, ...(gone.size > 0 ? [`and ${gone.size} that ended before these`] : [])]
}

const titleOf = ({ run, at }: Row): string => `${head(run)}${run.behind && !isOver(at) ? " (background)" : ""}`

function stateOf({ at }: Row): string {
  const doing = [at.state, ...(at.tool ? [at.tool] : at.why ? [oneLine(at.why, 80)] : [])].join(": ")
  return `${doing} · ${count(at.family.tools, "tool")}, ${seconds(at.elapsedMs)}`
}

const itemOf = (row: Row): Item => ({
  value: row.run.id,
  label: titleOf(row).slice(2), // those of the main run begin at the edge
  description: stateOf(row),
})

/** What can be done with a run, which may have ended since it was listed. */
async function act(run: RunView, ground: Ground): Promise<void> {
  const working = agentsAtWork(ground.view).includes(run)
  const items = [
    { value: "open", label: "open", description: "see what it was told, did and said" },
    ...(working ? [{ value: "stop", label: "stop", description: "it and those below it" }] : []),
    ...(working && !run.behind
      ? [{ value: "behind", label: "send behind", description: "its result comes when it is there" }]
      : []),
  ]
  const title = head(run).trim()
  const chosen = items.length === 1 ? "open" : await choose(ground, { title, items, words: title })
  if (chosen === "open") ground.open(run.id)
  if (chosen === "stop") stopRun(run.id, ground)
  if (chosen === "behind") sendBehind(run.id, ground)
}

function stopRun(id: RunId, { session, note }: Ground): void {
  void session.cancel(id)
  note(`stopping ${id}`)
}

/** Of one that goes on behind its own event tells. */
function sendBehind(id: RunId, { session, note }: Ground): void {
  if (!session.sendBehind(id)) note(`${id} has just ended`)
}

/** The run of this id, or the only one whose id begins so; without an id one that is chosen. */
async function which(
  command: "stop" | "behind",
  id: string,
  runs: RunView[],
  ground: Ground,
): Promise<RunView | undefined> {
  const begun = id === "" ? [] : runs.filter((run) => run.id.startsWith(id))
  if (begun.length === 1) return begun[0]
  const words = unclear(command, runs)
  if (id !== "" || runs.length === 0) {
    ground.note(words)
    return undefined
  }
  const at = (run: RunView): Row => ({ run, at: progressOf(ground.view, run, ground.now()) })
  const chosen = await choose(ground, { title: `${command} which agent?`, items: runs.map(at).map(itemOf), words })
  return runs.find((run) => run.id === chosen)
}

function unclear(command: string, runs: RunView[]): string {
  if (runs.length === 0) return "no agent is at work"
  const named = runs.map(({ id, agent }) => `${id} (${agent})`).join(", ")
  return `say which, as in /${command} ${runs[0]!.id}; there are ${named}`
}
