import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { median, type Result } from "./result.ts"

const run = promisify(execFile)
const rounds = 3

export type Figures = Record<string, number>

/** Runs one of the programs here and reads the figures that it prints. */
export const program = async (file: string, env: NodeJS.ProcessEnv, flags: string[] = []): Promise<Figures> =>
  JSON.parse((await run(process.execPath, [...flags, join(import.meta.dirname, file)], { env })).stdout)

/** The programs in turns, and the median of every figure of each. */
export async function interleaved<Name extends string>(
  ways: Record<Name, () => Promise<Figures>>,
): Promise<Record<Name, (key: string) => number>> {
  const all = new Map<string, Figures[]>()
  for (let n = 0; n < rounds; n++)
    for (const name in ways) all.set(name, [...(all.get(name) ?? []), await ways[name]()])
  const medians = Object.keys(ways).map((name) => [
    name,
    (key: string) => median(all.get(name)!.map((figures) => figures[key]!)),
  ])
  return Object.fromEntries(medians)
}

/** The same work by our engine and by two bare loops: its time, and what it holds at most. */
export async function compare(name: string, { env, bar }: { env: NodeJS.ProcessEnv; bar?: number }): Promise<Result[]> {
  const { fetch, http, ours } = await interleaved({
    fetch: () => program("floor.ts", env),
    http: () => program("floor.ts", { ...env, BENCH_CLIENT: "http" }),
    ours: () => program("library.ts", env),
  })
  const detail = (key: string, unit: string) => ({
    [`fetch floor, ${unit}`]: fetch(key),
    [`node:http floor, ${unit}`]: http(key),
    [`ours, ${unit}`]: ours(key),
  })
  return [
    { name, value: ours("ms") / fetch("ms"), ...(bar !== undefined && { bar }), detail: detail("ms", "ms") },
    { name: `${name}, memory`, value: ours("mb") / fetch("mb"), bar: 1.5, detail: detail("mb", "peak MB") },
  ]
}
