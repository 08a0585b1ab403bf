import type { Event } from "./event.ts"
import { inherit } from "./history.ts"
import { noUsage } from "./usage.ts"
import type { RunView, View } from "./view.ts"

type Opened = Extract<Event, { type: "run.opened" }>

function inherited(view: View, { seq, origin, history, system, model }: Opened): Partial<RunView> {
  if (!history) return {}
  const parent = origin && view.get(origin.run)
  if (!parent) throw new Error(`event ${seq} opens a run with the conversation of an unknown one`)
  return { history: history.as, ...inherit(parent, { history, system, model }) }
}

/** A run as it is before anything was said to it. What every run has is written out, so that all are made alike and fast. */
export function opened(view: View, event: Opened): RunView {
  const { tuning, label, origin, announce, shares } = event
  const run: RunView = {
    id: event.run,
    agent: event.agent,
    model: event.model,
    depth: event.depth,
    root: event.root,
    system: event.system,
    role: event.role,
    limits: event.limits,
    behind: event.behind ?? false,
    priority: event.priority ?? "normal",
    queued: false,
    children: new Map(),
    messages: [],
    inherited: 0,
    tools: [],
    weight: { tokens: 0, guess: 0, messages: 0 },
    task: 0,
    squeezed: false,
    overflows: 0,
    mail: [],
    heard: new Set(),
    calls: new Map(),
    openCalls: 0,
    ids: new Set(),
    turns: 0,
    stop: "end",
    told: new Set(),
    keptOn: 0,
    partial: "",
    mistake: { text: "", times: 0 },
    retries: 0,
    usage: noUsage(),
    cost: 0,
    toolCalls: 0,
    byModel: new Map(),
    family: { usage: noUsage(), cost: 0, toolCalls: 0 },
    before: { usage: noUsage(), cost: 0, toolCalls: 0 },
    files: new Map(),
    filesBefore: new Map(),
    touchedWith: new Map(),
    deeds: { read: new Set(), changed: new Map(), commands: [], refused: 0 },
    todo: [],
    allowed: [],
    board: new Map(),
    posts: new Map(),
    draft: { text: "", reasoning: "" },
    openedAt: event.at,
    roseAt: event.at,
    seenAt: event.at,
  }
  if (origin) run.origin = origin
  if (label !== undefined) run.label = label
  if (tuning) run.tuning = tuning
  if (announce) run.announce = announce
  if (shares) run.shares = shares
  if (event.history) Object.assign(run, inherited(view, event))
  run.task = run.messages.length
  return run
}
