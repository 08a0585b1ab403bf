import type { RunId } from "../core/event.ts"
import type { Log } from "../core/log.ts"
import type { ToolSpec } from "../core/message.ts"
import type { RunView } from "../core/view.ts"
import type { Offer } from "./scope.ts"

/** Puts on record what tools each run's model sees. Many runs see the same, so a list is written once. */
export class Offered {
  #log: Log
  #lists: { of: readonly Offer[]; run: RunId; specs: ToolSpec[] }[] = []

  constructor(log: Log) {
    this.#log = log
  }

  /** A fork sees its parent's, whatever has changed since; and within a turn nothing changes, for those who fork from it. */
  tell(view: RunView, tools: readonly Offer[]): void {
    if (view.history === "fork" || (view.calls.size > 0 && view.tools.length > 0)) return
    const stands = ({ run, specs }: { run: RunId; specs: ToolSpec[] }) => this.#log.view.get(run)?.tools === specs
    const known = this.#lists.find((list) => same(list.of, tools) && stands(list))
    if (known) {
      if (known.specs !== view.tools) this.#log.emit(view.id, { type: "tools.offered", tools: known.run })
      return
    }
    const now = tools.map(({ name, description, schema }) => ({ name, description, schema }))
    // A session that goes on was shown the same, if it reads the same.
    const shown = JSON.stringify(view.tools) === JSON.stringify(now)
    if (!shown) this.#log.emit(view.id, { type: "tools.offered", tools: now })
    this.#lists = [...this.#lists.filter(stands), { of: tools, run: view.id, specs: view.tools }]
  }
}

const same = (a: readonly Offer[], b: readonly Offer[]): boolean =>
  a.length === b.length && a.every((offer, i) => offer === b[i])
