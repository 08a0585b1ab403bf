import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { build } from "esbuild"
import { median, type Result } from "./result.ts"

const run = promisify(execFile)
export const rounds = 5

export type Figures = Record<string, number>

const built = join(import.meta.dirname, "../dist/bench")

/** The programs here as plain JavaScript: what Node needs to take types out of a file is no part of any of them. */
export async function buildPrograms(): Promise<void> {
  await build({
    entryPoints: ["floor", "library", "settled", "crowd", "send", "replaying"].map((name) =>
      join(import.meta.dirname, `${name}.ts`),
    ),
    outdir: built,
    bundle: true,
    packages: "external",
    // Ours too is the package as people have it, and not its sources.
    tsconfigRaw: {},
    format: "esm",
    platform: "node",
    target: "node22",
    logLevel: "warning",
  })
}

/** Where a built program is. */
export const fileOf = (program: string): string => join(built, `${program}.js`)

/** Runs one of the programs here and reads the figures that it prints. */
export const program = async (name: string, env: NodeJS.ProcessEnv, flags: string[] = []): Promise<Figures> =>
  JSON.parse((await run(process.execPath, [...flags, fileOf(name)], { env })).stdout)

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

/** How long each takes, in turns: the medians, in ms. What a way leaves as its `rest` is waited for and not counted. */
export async function timed<Name extends string>(
  ways: Record<Name, () => Promise<unknown>>,
  times = rounds,
): Promise<Record<Name, number>> {
  const all = new Map<string, number[]>()
  for (let n = 0; n < times; n++) {
    for (const name in ways) {
      const began = performance.now()
      const left = await ways[name]()
      all.set(name, [...(all.get(name) ?? []), performance.now() - began])
      if (typeof left === "object" && left && "rest" in left) await left.rest
    }
  }
  return Object.fromEntries([...all].map(([name, each]) => [name, median(each)])) as Record<Name, number>
}

/** The same work by our engine and by two bare loops: its time, and what it holds at most. */
export async function compare(name: string, { env, bar }: { env: NodeJS.ProcessEnv; bar?: number }): Promise<Result[]> {
  const { fetch, http, ours } = await interleaved({
    fetch: () => program("floor", env),
    http: () => program("floor", { ...env, BENCH_CLIENT: "http" }),
    ours: () => program("library", env),
  })
  const detail = (key: string, unit: string) => ({
    [`fetch floor, ${unit}`]: fetch(key),
    [`node:http floor, ${unit}`]: http(key),
    [`ours, ${unit}`]: ours(key),
  })
  return [
    {
      name,
      value: ours("ms") / fetch("ms"),
      ...(bar !== undefined && { bar }),
      detail: { ...detail("ms", "ms"), "ours with open and close, ms": ours("all") },
    },
    { name: `${name}, memory`, value: ours("mb") / fetch("mb"), bar: 1.5, detail: detail("mb", "peak MB") },
  ]
}
