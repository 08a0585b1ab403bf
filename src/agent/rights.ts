import type { Limits, RunId } from "../core/event.ts"
import { lineage, type RunView } from "../core/view.ts"
import { callsLeft, overBudget, UnderWay, type Unrecorded, withinRest } from "./budget.ts"
import type { Options } from "./options.ts"
import { narrow, type Powers, type Scope } from "./scope.ts"

/** What a run may do and use up. Computed from the log each time, so a resumed run has what it had before. */
export class Rights {
  #options: Options
  #underWay = new UnderWay()

  constructor(options: Options) {
    this.#options = options
  }

  view(run: RunId): RunView {
    const found = this.#options.log.view.get(run)
    if (!found) throw new Error(`there is no run ${run} in this session`)
    return found
  }

  powers({ origin, role, shares }: RunView): Powers {
    const above = origin ? this.powers(this.view(origin.run)).ceiling : { ...this.#options.ceiling(), depth: -1 }
    return narrow(above, role, shares)
  }

  /** The main run's limits are those of this process; a child keeps those that it was opened with. */
  limits({ depth, limits }: RunView): Limits {
    return depth === 0 ? this.#options.limits({}, {}, 0) : limits
  }

  spent = (run: RunView, more?: Unrecorded): ReturnType<Scope["spent"]> => overBudget(this.#books(), run, more)

  callsLeft(run: RunView): number {
    return callsLeft(this.#books(), run)
  }

  reserve(run: RunView, request: Unrecorded): () => void {
    return this.#underWay.add(this.#options.log.view, run, request)
  }

  /** A child has no more than what is left to those above it, of money or of time, also when it outlasts them. */
  within(parent: RunView, limits: Limits, behind: boolean, timeLeft: (run: RunId) => number | undefined): Limits {
    const within = withinRest(this.#books(), parent, limits, behind)
    if (!behind) return within
    const above = lineage(this.#options.log.view, parent)
    const times = [limits.timeout, ...above.map(({ id }) => timeLeft(id))].filter((time) => time !== undefined)
    return times.length === 0 ? within : { ...within, timeout: Math.max(1, Math.round(Math.min(...times))) }
  }

  #books() {
    const { log } = this.#options
    return { view: log.view, limitsOf: (run: RunView) => this.limits(run), underWay: this.#underWay.of }
  }
}
