import type { Event, Reason } from "./event.ts"
import type { RunView, View } from "./view.ts"

type OfRest = Extract<Event, { type: "run.settled" | "run.moved" | "run.stopped" }>

/** What an event changes in how a run comes to rest, who hears of it, and what it would rise for. */
export function stepRest(run: RunView, event: OfRest): void {
  switch (event.type) {
    case "run.settled":
      settle(run, event)
      return
    case "run.moved":
      run.behind = event.behind
      if (event.limits) run.limits = event.limits
      if (event.announce) run.announce = event.announce
      else delete run.announce
      if (run.rest) run.rest.returned = true // the result that it rests with is not what will be sent
      return
    case "run.stopped":
      if (!event.goesOn) run.mail = run.mail.map((mail) => ({ ...mail, quiet: true }))
      if (!run.rest) run.stopping = { status: event.status, why: event.why, ...(event.above && { above: true }) }
      else if (event.above) run.rest.above = true
      return
    default:
      event satisfies never
  }
}

function settle(run: RunView, { outcome, seq, ms, cached }: Extract<OfRest, { type: "run.settled" }>): void {
  const { stopping } = run
  run.draft = { text: "", reasoning: "" }
  delete run.failing
  delete run.compacting
  delete run.stopping
  run.rest = { outcome, seq, ms, ...(cached && { cached }), ...(stopping?.above && { above: true }) }
  // Whoever was stopped does not rise for results that it had not heard by then.
  if (stopping)
    run.mail = run.mail.map((mail) => (mail.from === undefined && !stopping.above ? mail : { ...mail, quiet: true }))
}

/** A child that was waited for, and whose parent rests, ended with it: only its own last fact came too late. */
export const endedAbove = (view: View, { origin, behind, stopping, rest }: RunView): boolean =>
  origin !== undefined && !behind && !stopping && !rest && view.get(origin.run)?.rest !== undefined

const limiting: ReadonlySet<Reason> = new Set(["turns", "tokens", "cost", "tools"])

/** A run that rested starts anew. Its limits count from here, unless it rises only to hear what it set going itself. */
export function rise(run: RunView, at: number, anew: boolean): void {
  delete run.rest
  delete run.compacting
  run.roseAt = at
  if (anew) run.before = { ...run.family, usage: { ...run.family.usage } }
  run.deeds = { read: new Set(), changed: new Map(), commands: [], refused: 0 }
  if (anew) run.turns = 0
  run.task = run.messages.length
  run.squeezed = false
  run.overflows = 0
  run.told = new Set(anew ? [] : [...run.told].filter((reason) => limiting.has(reason)))
  run.keptOn = 0
  run.partial = ""
  run.mistake = { text: "", times: 0 }
  run.retries = 0
}
