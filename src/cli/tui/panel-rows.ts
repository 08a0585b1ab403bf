import type { RunId } from "../../core/event.ts"
import { isOver, type Progress, progressOf } from "../../core/progress.ts"
import { lineage, type RunView, type View } from "../../core/view.ts"
import type { Roster } from "./roster.ts"

export type Row = { run: RunView; progress: Progress }

type Shown = { view: View; main: RunId; roster: Roster; chosen: RunId | undefined; now: number }

/** Every child that works or waits, and the chosen one in any case, below its parent in the order of opening. */
export function rowsOf({ view, main, roster, chosen, now }: Shown): Row[] {
  const picked = new Set([...roster.live, ...(chosen === undefined ? [] : [chosen])])
  const slim = slimView(view, picked, main)
  return inTree(slim, roster).flatMap(({ id }) => {
    const progress = progressOf(slim, slim.get(id)!, now)
    return isShown(progress) || id === chosen ? [{ run: view.get(id)!, progress }] : []
  })
}

const isShown = (progress: Progress): boolean =>
  !isOver(progress) && progress.state !== "queued" && progress.state !== "ready"

/** Some runs and those above them up to the main run, without all the others that came from them and have ended. */
function slimView(view: View, picked: Iterable<RunId>, main: RunId): View {
  const slim: View = new Map()
  for (const id of picked) {
    const run = view.get(id)
    if (!run) continue
    for (const each of lineage(view, run)) {
      if (each.id === main || slim.has(each.id)) break
      slim.set(each.id, each.children.size === 0 ? each : { ...each, children: new Map() })
    }
  }
  for (const { id, origin } of slim.values()) if (origin) slim.get(origin.run)?.children.set(origin.call, id)
  return slim
}

function inTree(slim: View, roster: Roster): RunView[] {
  const below = ({ children }: RunView): RunView[] =>
    [...children.values()].flatMap((id) => slim.get(id) ?? []).sort(roster.byOpening)
  const withAll = (run: RunView): RunView[] => [run, ...below(run).flatMap(withAll)]
  const tops = [...slim.values()].filter(({ origin }) => !origin || !slim.has(origin.run))
  return tops.sort(roster.byOpening).flatMap(withAll)
}

/** Silence up to here is nothing to speak of. */
export const quiet = 10_000

/** The rows that matter most, in the order they came: the chosen one, questions, stuck ones, then whoever was last active. */
export function foremost(rows: Row[], most: number, chosen: RunId | undefined): Row[] {
  if (rows.length <= most) return rows
  const weights = new Map(rows.map((row) => [row, weightOf(row, chosen)]))
  const kept = new Set(rows.toSorted((a, b) => weights.get(a)! - weights.get(b)!).slice(0, most))
  return rows.filter((row) => kept.has(row))
}

/** Coarse, so that rows do not change places with every word that comes. */
function weightOf({ progress: { id, state, idleMs } }: Row, chosen: RunId | undefined): number {
  if (id === chosen) return 0
  if (state === "asking") return 1
  return state === "stuck" ? 2 : 3 + Math.floor(idleMs / quiet)
}
