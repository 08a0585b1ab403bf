import { open } from "legwork"
import type { Fact, Stamped } from "../src/core/event.ts"
import { Log, nowhere } from "../src/core/log.ts"
import { stateFolder } from "../src/folders.ts"
import { jsonl } from "../src/store/jsonl.ts"
import { median, type Result } from "./result.ts"

const rounds = 5

type Stage = { env: NodeJS.ProcessEnv; work: string; started(): Promise<number> }

/** A stored session of some 5,000 events, read and folded, against one start of the program. */
export async function replay({ env, work, started }: Stage): Promise<Result> {
  const { id, store } = await worked(env, work)
  const [times, starts]: [number[], number[]] = [[], []]
  let events = 0
  for (let n = 0; n < rounds; n++) {
    const began = performance.now()
    const { facts } = await store.read(id)
    folded(facts)
    times.push(performance.now() - began)
    starts.push(await started())
    events = facts.length
  }
  const detail = { events, "replay, ms": median(times), "first replay, ms": times[0]!, "start, ms": median(starts) }
  return { name: "replay of a session", value: median(times) / median(starts), bar: 0.2, detail }
}

/** What an event costs in a fold of 100,000 against one in a fold of a twentieth. */
export async function fold({ env, work }: Omit<Stage, "started">): Promise<Result> {
  const { id, store } = await worked(env, work)
  const { facts } = await store.read(id)
  const many = Array.from({ length: Math.ceil(100_000 / facts.length) }, (_, n) => renamed(facts, n)).flat()
  const [few, all]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds; n++) {
    few.push(folded(facts))
    all.push(folded(many))
  }
  const [each, eachOfMany] = [(1_000 * median(few)) / facts.length, (1_000 * median(all)) / many.length]
  const detail = { events: many.length, ms: median(all), "µs each": eachOfMany, [`µs each of ${facts.length}`]: each }
  return { name: "fold of 100,000 events, an event against one of 5,000", value: eachOfMany / each, detail }
}

/** A session with 300 children, on disk. */
async function worked(env: NodeJS.ProcessEnv, cwd: string) {
  const session = await open({ cwd, model: "anthropic/any", env })
  const { status, text } = await session.prompt("lead 300 3")
  if (status !== "completed") throw new Error(`${status}: ${text}`)
  await session.close()
  return { id: session.id, store: jsonl({ folder: stateFolder(env) }) }
}

function folded(facts: Stamped<Fact>[]): number {
  const log = new Log(nowhere, Date.now, (error) => {
    throw error
  })
  const began = performance.now()
  const refused = log.replay(facts)
  const ms = performance.now() - began
  if (refused.length > 0) throw new Error(`${refused.length} of ${facts.length} events were refused`)
  return ms
}

/** The same with other runs, so that several fit into one session. */
function renamed(facts: Stamped<Fact>[], n: number): Stamped<Fact>[] {
  const ids = new Set(facts.map(({ run }) => run))
  const text = JSON.stringify(facts).replace(/"([0-9a-f]{8})"/g, (all, id) => (ids.has(id) ? `"${id}-${n}"` : all))
  return JSON.parse(text)
}
