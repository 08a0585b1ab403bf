import * as z from "zod"
import { tool } from "../agent/scope.ts"
import { textOf } from "../core/message.ts"
import { count, dollars, seconds, tokenCount } from "../core/numbers.ts"
import { oneLine } from "../core/one-line.ts"
import { isOver, type Progress, progressOf } from "../core/progress.ts"
import type { RunView, View } from "../core/view.ts"
import { asData } from "./as-data.ts"
import { foundIn, idNames, nameOf, viewBelow } from "./below.ts"
import { tailOf } from "./cap.ts"
import { tolerant } from "./input.ts"
import { plain } from "./plain.ts"

/** Other systems wait in this call; here there is nothing to wait for. */
const waits = { block: null, timeout: null, wait_up_to: null }

const input = tolerant({ ...idNames, ...waits }, z.strictObject({ id: z.string().optional() }))

/** How the agents below are getting on. `now` is the clock that events are stamped with. */
export const taskStatus = ({ now }: { now(): number }) =>
  tool({
    name: "task_status",
    description:
      "Shows what one agent that you started does now, or all. Not to wait with: results come to you by themselves.",
    input,
    repeatable: true,
    spawns: true,
    aliases: ["TaskOutput"],
    access: () => ({ kind: "none" }),
    async run({ id }, use) {
      const view = viewBelow(use)
      const at = now()
      if (id !== undefined) return { ok: true, text: one(view, foundIn(view, id), at) }
      return { ok: true, text: view.size === 0 ? "You have started no agents." : all(view, at) }
    },
  })

const most = 4_000

function one(view: View, run: RunView, now: number): string {
  const progress = progressOf(view, run, now)
  const about = `${line(run, progress)}\n${isOver(progress) ? "" : `${noNeed}\n`}`
  const last = latest(run, most - about.length - 100, 40)
  return last ? `${about}The end of what ${last.from}:\n${last.text}` : about.trimEnd()
}

const noNeed = "Its result will come to you by itself: go on, or end your answer here."

/** Those at work as a tree, then those that have ended, the last first; as many as there is room for. */
function all(view: View, now: number): string {
  const runs = [...view.values()].map((run) => ({ run, progress: progressOf(view, run, now) }))
  const top = Math.min(...runs.map(({ run }) => run.depth))
  const working = runs.filter(({ progress }) => !isOver(progress))
  const ended = runs.filter(({ progress }) => isOver(progress))
  ended.sort((a, b) => (b.run.rest?.seq ?? 0) - (a.run.rest?.seq ?? 0))
  const entries = [
    ...working.map(({ run, progress }) => indented(entry(run, progress), run.depth - top)),
    ...ended.map(({ run, progress }) => line(run, progress)),
  ]
  const head = `${working.length} at work, ${ended.length} ended.${working.length > 0 ? ` ${theirs}` : ""}`
  return fitting(head, entries)
}

const theirs = "Their results will come to you by themselves: go on, or end your answer here."

function fitting(head: string, entries: string[]): string {
  let text = head
  for (const [at, entry] of entries.entries()) {
    if (text.length + entry.length > most - 100) return `${text}\n(${entries.length - at} more: ask for one by its id)`
    text += `\n${entry}`
  }
  return text
}

const indented = (text: string, depth: number): string => text.replace(/^/gm, "  ".repeat(depth))

function entry(run: RunView, progress: Progress): string {
  const last = latest(run, 200, 2)
  return last ? `${line(run, progress)}\n${indented(last.text, 1)}` : line(run, progress)
}

/** `r1 (explore: find auth files) · tool: grep permit · 5 tools · 3.2k tokens · $0.01 · 12.3s` */
function line(run: RunView, { state, why, tool, waitingFor, family, elapsedMs, idleMs }: Progress): string {
  const about = [tool, why].filter((each) => each !== undefined).join("; ")
  const waiting = waitingFor === undefined ? "" : ` for ${count(waitingFor, "agent")}`
  const idle = idleMs > long ? ` (nothing for ${seconds(idleMs)})` : ""
  const doing = `${state}${waiting}${about && `: ${asData(oneLine(about, 300))}`}${idle}`
  const numbers = [count(family.tools, "tool"), tokenCount(family.tokens), dollars(family.cost), seconds(elapsedMs)]
  return [nameOf(run), doing, ...numbers].join(" · ")
}

const long = 30_000

/** The end of what a run last said, or of what its tool shows: at most so many characters and lines. */
function latest(run: RunView, length: number, lines: number): { from: string; text: string } | undefined {
  const shows = [...run.calls.values()].findLast(({ state, output }) => state === "started" && output.trim() !== "")
  const text = asData(plain(shows?.output ?? words(run))).trim()
  if (text === "") return undefined
  const end = tailOf(text, length).split("\n").slice(-lines).join("\n")
  return { from: shows ? `${shows.call.name} shows` : "it said", text: end }
}

function words({ draft, rest, messages, task }: RunView): string {
  if (draft.text.trim() !== "") return draft.text
  if (rest) return rest.outcome.text
  const last = messages.slice(task).findLast((each) => each.role === "assistant" && textOf(each.parts).trim() !== "")
  return last?.role === "assistant" ? textOf(last.parts) : ""
}
