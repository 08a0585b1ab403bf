import { contextOf } from "./agent/context.ts"
import { limitsTold } from "./agent/loop.ts"
import type { Fact, Failure, RunId, Stamped, Tuning } from "./core/event.ts"
import { Log, nowhere } from "./core/log.ts"
import { totalTokens, type Usage } from "./core/usage.ts"
import type { RunView } from "./core/view.ts"
import type { Request } from "./model/model.ts"
import { type Sizes, sharedBytes, sizesOf, unmarked } from "./sizes.ts"

/** What passed between a run and its model, in order. */
export type Sent =
  | Asked
  /** Tokens of the conversation before and after. `usage` is that of the requests for its summary, if it had one. */
  | { type: "compacted"; run: RunId; before: number; after: number; usage?: Usage }
  /** `wait`: milliseconds until the next try; null if there was none. `usage` if it cost anything all the same. */
  | { type: "failed"; run: RunId; error: Failure; wait: number | null; usage?: Usage }

type Asked = Sizes & {
  type: "request"
  run: RunId
  number: number
  model: string
  /** `wire`: as it was sent. `own`: the model has no format of ours, so it is the request as we write it ourselves. */
  form: "wire" | "own"
  /** What it begins with of the request before it, cache marks left out of both; `marked` bytes if they count. */
  before: (Shared & { marked: number }) | null
  /** What a run's first request begins with of its parent's last one before. */
  parent: Shared | null
  /** As the provider told. */
  usage: Usage
}

/** An unbroken beginning, in bytes and in percent of the whole request. */
export type Shared = { bytes: number; percent: number }

type Options = {
  /** How requests to a model are written; undefined if not in one of our formats. */
  encoding(model: string): Promise<((request: Request) => string) | undefined>
  /** That of runs whose agent says nothing of it. */
  tuning: Tuning
  /** Only this run; absent: all. */
  run?: RunId
}

/** Everything that was sent, by run, in the order of their opening. No body is stored: the facts say what was in it. */
export async function requestsOf(
  facts: readonly Stamped<Fact>[],
  { encoding, tuning, run }: Options,
): Promise<Map<RunId, Sent[]>> {
  const log = new Log(
    nowhere,
    () => 0,
    () => {},
  )
  const write = writing(encoding, tuning)
  const uses = usesIn(facts, run)
  const trails = new Map<RunId, Trail>()
  const sent = new Map<RunId, Sent[]>()
  for (const fact of facts) {
    const [view, trail] = [log.view.get(fact.run), trails.get(fact.run)]
    // What it answers was asked before the answer joined the conversation.
    if (fact.type === "turn.ended" && view && trail) {
      const body = await write(view, trail.memo)
      sent.get(fact.run)?.push(compared(view, trail, { body, usage: fact.usage }))
      trails.set(fact.run, { memo: trail.memo, requests: trail.requests + 1, before: body })
    }
    if (log.replay([fact]).length > 0) continue
    if (fact.type === "run.opened") {
      const parent = fact.origin && trails.get(fact.origin.run)?.before
      if (uses.has(fact.run)) trails.set(fact.run, { memo: {}, requests: 0, ...(parent && { parent }) })
      if (run === undefined || run === fact.run) sent.set(fact.run, [])
    }
    const between = betweenRequests(fact)
    if (between) sent.get(fact.run)?.push(between)
    const used = fact.type === "run.opened" ? fact.origin?.run : fact.run
    if (used !== undefined && uses.get(used) === fact.seq) trails.delete(used)
  }
  return sent
}

/** What is kept of a run while it is needed: its last request, and until its first one the last of its parent. */
type Trail = { memo: object; requests: number; before?: Body; parent?: Body }

/** `plain` is without cache marks. */
type Body = { form: Asked["form"]; sizes: Sizes; exact: Buffer; plain: Buffer }

/** The last fact that each run's bodies are needed for: by its own next request, or by a child that opens. */
function usesIn(facts: readonly Stamped<Fact>[], run: RunId | undefined): Map<RunId, number> {
  const last = new Map<RunId, number>()
  for (const fact of facts) {
    if (run !== undefined && run !== fact.run) continue
    if (fact.type === "turn.ended") last.set(fact.run, fact.seq)
    if (fact.type === "run.opened" && fact.origin) last.set(fact.origin.run, fact.seq)
  }
  return last
}

function writing(encoding: Options["encoding"], tuning: Tuning): (view: RunView, memo: object) => Promise<Body> {
  const encoders = new Map<string, ReturnType<Options["encoding"]>>()
  return async (view, memo) => {
    const encoder = encoders.get(view.model) ?? encoding(view.model)
    encoders.set(view.model, encoder)
    const encode = await encoder
    const known = contextOf(view)
    const toolChoice = limitsTold(view) ? "none" : "auto"
    const text = encode?.({ ...known, toolChoice, memo, ...tuning, ...view.tuning }) ?? ownForm(known)
    const exact = Buffer.from(text)
    const plain = unmarked(text)
    return {
      form: encode ? "wire" : "own",
      sizes: sizesOf(text),
      exact,
      plain: plain.length === text.length ? exact : Buffer.from(plain),
    }
  }
}

const ownForm = ({ system, tools, messages }: ReturnType<typeof contextOf>): string =>
  JSON.stringify({ system, tools, messages })

function compared({ id, model }: RunView, trail: Trail, { body, usage }: { body: Body; usage: Usage }): Asked {
  const { before, parent, requests } = trail
  const { form, sizes, exact, plain } = body
  return {
    type: "request",
    run: id,
    number: requests + 1,
    model,
    form,
    ...sizes,
    before: before ? { ...shared(plain, before.plain), marked: sharedBytes(exact, before.exact) } : null,
    parent: parent ? shared(exact, parent.exact) : null,
    usage,
  }
}

/** Rounded down: only what is whole is 100. */
function shared(one: Buffer, other: Buffer): Shared {
  const bytes = sharedBytes(one, other)
  return { bytes, percent: Math.floor((1000 * bytes) / one.length) / 10 }
}

function betweenRequests(fact: Stamped<Fact>): Sent | undefined {
  if (fact.type !== "turn.failed" && fact.type !== "run.compacted") return undefined
  const { run } = fact
  const spent = totalTokens(fact.usage) > 0 && { usage: fact.usage }
  if (fact.type === "turn.failed") return { type: "failed", run, error: fact.error, wait: fact.wait, ...spent }
  return { type: "compacted", run, before: fact.before, after: fact.after, ...spent }
}
