import { execFile, fork } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { buildPrograms, compare, program } from "./compare.ts"
import { fence } from "./fence.ts"
import { agents, search } from "./files.ts"
import { fold, replay, resume } from "./replay.ts"
import { line, type Result } from "./result.ts"
import { onceStarted, start, whole } from "./start.ts"
import { grown, streaming } from "./strain.ts"
import { tui } from "./tui.ts"

/** Everything here is a ratio of two things measured in turns in the same run; milliseconds are shown for the curious. */
const here = import.meta.dirname
const bin = resolve(here, "../bin/legwork.cjs")
const node = resolve(here, "../node_modules/node/bin/node")
const run = promisify(execFile)
/** Takes longer than all others together, so it runs only by its name. */
const apart = "tui"

async function main(only: string | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "legwork-bench-"))
  const work = join(folder, "work")
  await mkdir(work)
  for (let n = 0; n < 20; n++) await writeFile(join(work, `file-${n}.txt`), `line of file ${n}\n`.repeat(40))
  await buildPrograms()
  const server = fork(join(here, "server.ts"), { stdio: "inherit" })
  const url = await new Promise<string>((ready) => server.once("message", (message) => ready(String(message))))
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    BENCH_URL: url,
    BENCH_FOLDER: work,
    BENCH_PROMPT: "read 20 files",
  }
  await mkdir(join(folder, "wide/legwork"), { recursive: true })
  await writeFile(join(folder, "wide/legwork/settings.json"), JSON.stringify({ limits: { parallel: 1_000 } }))
  const wide = { ...env, XDG_CONFIG_HOME: join(folder, "wide") }
  const own = { ...wide, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
  const stage = { bin, node, work, env, url, wide: join(folder, "wide") }
  const children = (n: number, k: number, times: number) =>
    compare(`${n} children, ${k} reads each`, {
      env: { ...wide, BENCH_PROMPT: `lead ${n} ${k}`, BENCH_TIMES: `${times}` },
      bar: 1,
    })
  const benches: Record<string, () => Promise<Result | Result[]>> = {
    start: () => start(stage),
    whole: async () => [await whole(stage, [8, 5], 1.5), await whole(stage, [64, 5], 1.3)],
    loop: () => compare("loop, 20 turns", { env: { ...env, BENCH_TIMES: "25" }, bar: 1.2 }),
    child: () =>
      compare("one child, 20 turns", { env: { ...env, BENCH_PROMPT: "lead 1 20", BENCH_TIMES: "25" }, bar: 1.2 }),
    "8x5": () => children(8, 5, 40),
    "64x5": () => children(64, 5, 10),
    "1000x3": () => children(1_000, 3, 1),
    streaming: () => streaming(wide),
    turns: () => grown(env),
    fork: () =>
      compare("16 forks of 2 MB", {
        env: {
          ...wide,
          BENCH_PROMPT: "hold 16",
          BENCH_PAD: "500000",
          BENCH_TIMES: "2",
          BENCH_MODEL: "anthropic/claude-sonnet-4-6",
        },
      }),
    replay: () => replay({ env: own, work, started: () => onceStarted(bin, own, work) }),
    resume: () => resume({ env: own, work }),
    fold: () => fold({ env: own, work }),
    settled: () => settled(wide),
    search: () => search(folder),
    agents: () => agents(folder),
    weight: () => weight(env, work),
    sandbox: () => fence(work),
    [apart]: () => tui({ bin, work, env: own, server }),
  }
  if (only !== undefined && !(only in benches))
    throw new Error(`there is no scenario ${only}; there are ${Object.keys(benches).join(", ")}`)
  const results: Result[] = []
  try {
    for (const [name, bench] of Object.entries(benches)) {
      if (only === undefined ? name === apart : only !== name) continue
      process.stderr.write(`  ${name} …\n`)
      const began = performance.now()
      const made = [await bench()].flat()
      results.push(...made)
      for (const result of made) console.log(line(result))
      process.stderr.write(`  ${Math.round((performance.now() - began) / 1_000)} s\n`)
    }
  } finally {
    server.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
  console.log(JSON.stringify(results))
}

/** What the first requests of a main agent and of an explore child weigh, before any work is done. */
async function weight(env: NodeJS.ProcessEnv, cwd: string): Promise<Result> {
  const { call, serve } = await import("../src/testing.ts")
  await using server = await serve(({ messages }, n) =>
    n === 0 ? [call("task", { prompt: "x", subagent_type: "explore" })] : `${messages.length}`,
  )
  await run("sh", ["-c", `exec "$0" -p go --model anthropic/any </dev/null`, bin], {
    cwd,
    env: { ...env, ...server.env, BRAVE_API_KEY: "test" },
  })
  const [main, explore] = server.requests.map(({ raw }) => raw.length)
  return {
    name: "first request",
    value: Math.max(main! / 12_000, explore! / 5_000),
    bar: 1,
    detail: { "main, bytes": main!, "explore, bytes": explore! },
  }
}

/** What is held while nothing is at work: by a session of 20 turns, and by each of 10,000 children of one. */
async function settled(env: NodeJS.ProcessEnv): Promise<Result[]> {
  const flags = ["--expose-gc"]
  const [session, crowd] = [await program("settled", env, flags), await program("crowd", env, flags)]
  return [
    { name: "memory of a settled session", detail: { KB: session.kb! } },
    {
      name: `${crowd.children} settled children, the last thousand against the second, time`,
      value: crowd.late! / crowd.early!,
      detail: {
        "KB each": crowd.kb!,
        "peak MB": crowd.mb!,
        "second thousand, ms": crowd.early!,
        "last, ms": crowd.late!,
      },
    },
  ]
}

await main(process.argv[2])
