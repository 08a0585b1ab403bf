import { appendFile, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { open } from "legwork"
import type { Fact, Stamped } from "../src/core/event.ts"
import { Log, nowhere } from "../src/core/log.ts"
import { stateFolder } from "../src/folders.ts"
import { jsonl } from "../src/store/jsonl.ts"
import { interleaved, program, rounds } from "./compare.ts"
import { median, type Result } from "./result.ts"

type Stage = { env: NodeJS.ProcessEnv; work: string; started(): Promise<number> }

/** A stored session of some 5,000 events, by processes that do it for the first time, against starts of the program. */
export async function replay({ env, work, started }: Stage): Promise<Result[]> {
  const { id, folder } = await worked(env, work)
  const { ours, start } = await interleaved({
    // With the nursery that the launcher gives the command.
    ours: () => program("replaying", { ...env, BENCH_STATE: folder, BENCH_SESSION: id }, ["--min-semi-space-size=16"]),
    start: async () => ({ ms: await started() }),
  })
  const detail = { events: ours("events"), "start, ms": start("ms") }
  return [
    {
      name: "replay of a session, cold",
      value: ours("fold") / start("ms"),
      bar: 0.2,
      detail: { ...detail, "replay, ms": ours("fold") },
    },
    {
      name: "replay of a session with reading it, cold",
      value: (ours("read") + ours("fold")) / start("ms"),
      bar: 0.2,
      detail: { ...detail, "both, ms": ours("read") + ours("fold") },
    },
  ]
}

/** What an event costs in a fold of 100,000 against one in a fold of a twentieth. */
export async function fold({ env, work }: Omit<Stage, "started">): Promise<Result> {
  const { id, folder } = await worked(env, work)
  const { facts } = await jsonl({ folder }).read(id)
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

const mb = 1_000_000

/** A byte of a session of 50 MB against one of 10 MB, both read and replayed by a new process: 1 is linear. */
export async function resume({ env, work }: Omit<Stage, "started">): Promise<Result> {
  const { id, folder } = await worked(env, work)
  const path = join(folder, "sessions", `${id}.jsonl`)
  const [header = "", ...lines] = (await readFile(path, "utf8")).trimEnd().split("\n")
  const one = lines.map((line): Stamped<Fact> => JSON.parse(line))
  const sized = async (size: number) => {
    const name = `${id.slice(0, -8)}${String(size).padStart(8, "0")}`
    const file = join(folder, "sessions", `${name}.jsonl`)
    await writeFile(file, `${header}\n`)
    let written = header.length
    let seq = 0
    for (let n = 0; written < size; n++) {
      const facts = renamed(one, n).map((fact) => JSON.stringify({ ...fact, seq: ++seq }))
      const text = `${facts.join("\n")}\n`
      await appendFile(file, text)
      written += text.length
    }
    return { written, figures: () => program("replaying", { ...env, BENCH_STATE: folder, BENCH_SESSION: name }) }
  }
  const [small, large] = [await sized(10 * mb), await sized(50 * mb)]
  const { ten, fifty } = await interleaved({ ten: small.figures, fifty: large.figures })
  const [first, second] = [ten("read") + ten("fold"), fifty("read") + fifty("fold")]
  return {
    name: "resume of a session of 50 MB, a byte against one of 10 MB",
    value: second / large.written / (first / small.written),
    bar: 1.2,
    detail: {
      events: fifty("events"),
      MB: large.written / mb,
      "reading, ms": fifty("read"),
      "replay, ms": fifty("fold"),
      "10 MB, ms": first,
    },
  }
}

/** A session with 300 children, on disk. */
async function worked(env: NodeJS.ProcessEnv, cwd: string): Promise<{ id: string; folder: string }> {
  const session = await open({ cwd, model: "anthropic/any", env })
  const { status, text } = await session.prompt("lead 300 3")
  if (status !== "completed") throw new Error(`${status}: ${text}`)
  await session.close()
  return { id: session.id, folder: stateFolder(env) }
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
