import { oneLine } from "../../core/one-line.ts"
import type { RunView } from "../../core/view.ts"
import { tally } from "../plain/child.ts"

/** A child in a line: `[explore] find auth files (a1b2) - done (5 tools, 3.2s)`. */
export function childLine(run: RunView): string {
  const { agent, label, id, rest, behind } = run
  const who = `[${oneLine(agent, 30)}] ${oneLine(label ?? "subtask", 60)} (${oneLine(id, 30)})`
  if (!rest) return `${who} - ${run.queued ? "queued" : "at work"}${behind ? " in the background" : ""}`
  const { status } = rest.outcome
  const numbers = [...(rest.cached ? ["cached"] : []), tally(run, rest.ms)].join(", ")
  const why = rest.outcome.status === "failed" ? `: ${oneLine(rest.outcome.error.message, 200)}` : ""
  return `${who} - ${status === "completed" ? "done" : status.replace("_", " ")}${why} (${numbers})`
}
