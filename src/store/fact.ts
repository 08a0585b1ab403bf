import type { Fact, Stamped } from "../core/event.ts"
import type { Header } from "./store.ts"

/** Hand-written rather than a schema: a resume checks every line of a session, and it must be quick. */
type Check = (value: unknown) => boolean
type Fields<T> = { [K in keyof T]-?: Check }

const text: Check = (value) => typeof value === "string"
const number: Check = (value) => typeof value === "number"
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const flag: Check = (value) => typeof value === "boolean"
const anything: Check = () => true
const or =
  (empty: null | undefined, check: Check): Check =>
  (value) =>
    value === empty || check(value)
const either =
  (one: Check, other: Check): Check =>
  (value) =>
    one(value) || other(value)
const list =
  (of: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(of)
const word =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string)

function shape(fields: Record<string, Check>): Check {
  const keys = Object.keys(fields)
  const checks = Object.values(fields)
  return (value) => {
    if (!isObject(value)) return false
    for (let n = 0; n < keys.length; n++) if (!checks[n]!(value[keys[n]!])) return false
    return true
  }
}

/** One of several shapes, told apart by the word under `tag`. */
function variant(tag: string, shapes: Record<string, Record<string, Check>>): Check {
  const checks = new Map(Object.entries(shapes).map(([key, fields]) => [key, shape(fields)]))
  return (value) => isObject(value) && (checks.get(value[tag] as string)?.(value) ?? false)
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const images = or(undefined, list(shape({ mediaType: text, data: text })))
const failure = shape({ kind: text, message: text, status: or(undefined, number) })
const usage = shape({ input: number, output: number, cacheRead: number, cacheWrite: number, reasoning: number })
const cost = or(null, number)
const rest = { text }
const outcome = variant("status", {
  completed: rest,
  failed: { text, error: failure },
  max_turns: rest,
  timeout: rest,
  budget: rest,
  cancelled: rest,
})
const part = variant("type", {
  text: { text },
  reasoning: { text, by: text, proof: anything },
  call: { id: text, name: text, input: anything, broken: or(undefined, text) },
})
const todo = shape({ content: text, status: word("pending", "in_progress", "completed") })
const details = variant("kind", {
  diff: { path: text, diff: text, added: number, removed: number },
  command: { command: text, exit: or(null, number), signal: or(null, text), timedOut: flag },
  found: { shown: number, total: number },
  page: { url: text, status: number, bytes: number },
  todo: { items: list(todo) },
  task: { run: text },
})
const touch = variant("did", {
  read: { path: text, hash: text },
  wrote: { path: text, hash: text, before: or(null, text) },
})
const access = variant("kind", {
  none: {},
  read: { path: text, inside: flag },
  write: { path: text, inside: flag, guarded: flag },
  run: { command: text },
  fetch: { url: text },
  agent: { name: text },
})

const rule = shape({ tool: text, pattern: text, do: word("allow", "ask", "deny") })

const limits = shape({
  turns: number,
  tokens: or(undefined, number),
  cost: or(undefined, number),
  tools: or(undefined, number),
  timeout: or(undefined, number),
  idle: or(undefined, number),
})

const place = shape({ channel: text, chatId: text })

const known: { [F in Fact as F["type"]]: Fields<Omit<F, "type">> } = {
  "run.opened": {
    agent: text,
    model: text,
    depth: number,
    root: text,
    system: text,
    role: shape({
      tools: either(word("*"), list(text)),
      denied: list(text),
      readonly: or(undefined, flag),
      mayStart: or(undefined, list(text)),
      rules: or(undefined, list(rule)),
      mode: or(undefined, word("default", "acceptEdits")),
      fence: or(undefined, shape({ level: word("read-only", "workspace-write"), network: flag })),
    }),
    limits,
    tuning: or(undefined, anything),
    label: or(undefined, text),
    session: or(undefined, text),
    origin: or(undefined, shape({ run: text, call: text })),
    history: or(undefined, variant("as", { fork: {}, filtered: { tools: list(text) } })),
    priority: or(undefined, word("high", "normal", "low")),
    behind: or(undefined, flag),
    announce: or(undefined, place),
    shares: or(undefined, flag),
  },
  "tools.offered": { tools: either(text, list(shape({ name: text, description: text, schema: anything }))) },
  "run.told": {
    reason: word("turns", "tokens", "cost", "tools", "length", "empty", "refusal", "report", "hook"),
    text,
  },
  "run.compacted": {
    from: count,
    summary: or(undefined, text),
    most: or(undefined, count),
    before: number,
    after: number,
    usage,
    cost,
    ms: number,
  },
  "model.chosen": { model: text },
  "run.moved": { behind: flag, limits: or(undefined, limits), announce: or(undefined, place) },
  "run.stopped": {
    status: word("cancelled", "timeout", "budget"),
    why: text,
    above: or(undefined, flag),
    goesOn: or(undefined, flag),
  },
  "run.retried": { error: failure, wait: number },
  "run.settled": { outcome, ms: number, cached: or(undefined, flag) },
  "mail.sent": {
    text,
    images,
    key: or(undefined, text),
    from: or(undefined, text),
    quiet: or(undefined, flag),
  },
  "mail.read": { note: or(undefined, text) },
  "note.posted": { key: text, text },
  "bus.posted": {
    id: text,
    way: word("in", "out"),
    channel: text,
    chatId: text,
    sender: text,
    text,
    plain: or(undefined, text),
    replyTo: or(undefined, text),
  },
  "bus.taken": { id: text },
  "turn.failed": { error: failure, wait: or(null, number), usage, cost },
  "turn.ended": {
    parts: list(part),
    stop: word("end", "calls", "length", "refusal", "other"),
    usage,
    cost,
    ms: number,
  },
  "call.started": { id: text, name: text },
  "call.planned": { id: text, change: shape({ path: text, before: or(null, text), after: text }) },
  "call.ended": {
    id: text,
    ok: flag,
    text,
    ms: number,
    images,
    details: or(undefined, details),
    touched: or(undefined, list(touch)),
    fault: or(undefined, word("input", "unknown")),
  },
  "gate.asked": {
    call: text,
    access,
    parts: or(undefined, list(text)),
    always: or(undefined, list(rule)),
    details: or(undefined, details),
  },
  "gate.answered": {
    call: text,
    access,
    allow: flag,
    by: word("user", "nobody", "rule", "hook"),
    word: or(undefined, text),
    always: or(undefined, list(rule)),
  },
  "hook.ran": { event: text, call: or(undefined, text), said: shape({ notes: list(text) }) },
}

const stamp = shape({ seq: Number.isSafeInteger, at: number, run: text, type: text })
const facts = new Map(Object.entries(known).map(([type, fields]) => [type, shape(fields)]))

/** What a stored line turned out to be. A `stranger` is well formed, of a kind that a later version may know. */
export type Reading = { is: "fact"; fact: Stamped<Fact> } | { is: "stranger" } | { is: "garbage" }

export function readFact(value: unknown): Reading {
  if (!isStamped(value)) return { is: "garbage" }
  const check = facts.get(value.type)
  if (!check) return { is: "stranger" }
  return check(value) ? { is: "fact", fact: value } : { is: "garbage" }
}

const isStamped = (value: unknown): value is Stamped<Fact> => stamp(value)

const header: Fields<Header> = { legwork: Number.isSafeInteger, id: text, cwd: text, at: number, version: text }
const isHeaderShaped = shape(header)

/** A header of this or a later version: those must stay readable enough to say so. */
export const isHeader = (value: unknown): value is Omit<Header, "legwork"> & { legwork: number } =>
  isHeaderShaped(value)
