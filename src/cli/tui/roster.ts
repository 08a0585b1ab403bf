import type { Event, RunId, Status } from "../../core/event.ts"
import { endedAbove } from "../../core/rest.ts"
import type { RunView, View } from "../../core/view.ts"

/** How a run came to its end, in the words of `progressOf`. */
type End = "done" | "failed" | "stopped" | "limited"

const ends: Record<Status, End> = {
  completed: "done",
  failed: "failed",
  cancelled: "stopped",
  max_turns: "limited",
  timeout: "limited",
  budget: "limited",
}

type Standing = "live" | "queued" | End

/** Who is at work, and how many are not, so that a frame need not look at every run that there ever was. */
export class Roster {
  /** Children that have not come to rest, or that wait for a place to go on. */
  readonly live = new Set<RunId>()
  readonly counts: Record<Exclude<Standing, "live">, number> = { queued: 0, done: 0, failed: 0, stopped: 0, limited: 0 }
  #view: View
  #main: RunId
  #places = new Map<RunId, { order: number; standing?: Standing }>()

  constructor(view: View, main: RunId) {
    this.#view = view
    this.#main = main
    for (const run of view.values()) this.#put(run, endedAbove(view, run) ? undefined : standingOf(run))
  }

  /** To be told of everything that happens, after it has happened to the view. */
  event({ run: id }: Event): void {
    const run = this.#view.get(id)
    if (run) this.#put(run, standingOf(run))
  }

  standing(id: RunId): Standing | undefined {
    return this.#places.get(id)?.standing
  }

  /** Which of two was opened first. */
  byOpening = (a: RunView, b: RunView): number => this.#order(a) - this.#order(b)

  #order({ id }: RunView): number {
    return this.#places.get(id)?.order ?? this.#places.size
  }

  #put({ id }: RunView, standing: Standing | undefined): void {
    if (id === this.#main) return
    const place = this.#places.get(id) ?? { order: this.#places.size }
    this.#places.set(id, place)
    if (place.standing === standing) return
    if (place.standing && place.standing !== "live") this.counts[place.standing]--
    if (standing && standing !== "live") this.counts[standing]++
    if (standing === "live" || standing === "queued") this.live.add(id)
    else this.live.delete(id)
    if (standing) place.standing = standing
  }
}

function standingOf({ queued, rest }: RunView): Standing {
  if (queued) return "queued"
  return rest ? ends[rest.outcome.status] : "live"
}
