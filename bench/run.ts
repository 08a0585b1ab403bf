import { type ChildProcess, execFile, fork, spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

/** Everything here is a ratio of two things measured in turns in the same run; milliseconds are shown for the curious. */
const here = import.meta.dirname
const bin = resolve(here, "../bin/legwork.cjs")
const rounds = 3
const run = promisify(execFile)

type Result = { name: string; ratio?: number; bar?: number; detail: Record<string, number> }

const median = (all: number[]): number => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)]!
const rounded = (n: number): number => Math.round(n * 100) / 100

async function main(only: string | undefined): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "legwork-bench-"))
  const work = join(folder, "work")
  await mkdir(work)
  for (let n = 0; n < 20; n++) await writeFile(join(work, `file-${n}.txt`), `line of file ${n}\n`.repeat(40))
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
  const children = (n: number, k: number, times: number) =>
    compare(`${n} children, ${k} reads each`, { ...wide, BENCH_PROMPT: `lead ${n} ${k}`, BENCH_TIMES: `${times}` })
  const benches: Record<string, () => Promise<Result>> = {
    loop: () => compare("loop, 20 turns", env),
    "8x5": () => children(8, 5, 7),
    "1000x3": () => children(1_000, 3, 1),
    weight: () => weight(env, work),
    start: () => start(env, work),
    settled: () => settled(env),
    sandbox: () => fence(work),
  }
  const results: Result[] = []
  try {
    for (const [name, bench] of Object.entries(benches)) {
      if (only && only !== name) continue
      process.stderr.write(`  ${name} …\n`)
      const result = await bench()
      results.push(result)
      const { ratio, bar, detail } = result
      const judged = ratio === undefined ? "" : `${rounded(ratio)} (bar ${bar}) ${ratio <= bar! ? "met" : "NOT MET"}`
      const numbers = Object.entries(detail).map(([key, value]) => `${key} ${rounded(value)}`)
      console.log(`${result.name}: ${[judged, ...numbers].filter(Boolean).join(", ")}`)
    }
  } finally {
    server.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
  console.log(JSON.stringify(results))
}

const program = async (file: string, env: NodeJS.ProcessEnv, flags: string[] = []): Promise<Record<string, number>> =>
  JSON.parse((await run(process.execPath, [...flags, join(here, file)], { env })).stdout)

/** The same work by our engine and by a bare fetch loop. */
async function compare(name: string, env: NodeJS.ProcessEnv): Promise<Result> {
  const [floor, ours]: [Record<string, number>[], Record<string, number>[]] = [[], []]
  for (let n = 0; n < rounds; n++) {
    floor.push(await program("floor.ts", env))
    ours.push(await program("library.ts", env))
  }
  const of = (all: Record<string, number>[], key: string) => median(all.map((each) => each[key]!))
  const detail = {
    "fetch floor, ms": of(floor, "ms"),
    "ours, ms": of(ours, "ms"),
    "fetch floor, peak MB": of(floor, "mb"),
    "ours, peak MB": of(ours, "mb"),
  }
  return { name, ratio: detail["ours, ms"] / detail["fetch floor, ms"], bar: 1.3, detail }
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
    ratio: Math.max(main! / 12_000, explore! / 5_000),
    bar: 1,
    detail: { "main, bytes": main!, "explore, bytes": explore! },
  }
}

/** From the start of `legwork -p` to its first request, against `node -e 0` from start to end. */
async function start(env: NodeJS.ProcessEnv, cwd: string): Promise<Result> {
  const node = join(here, "../node_modules/node/bin/node")
  let heard = () => {}
  const server = http.createServer((_, response) => {
    heard()
    response.writeHead(400).end("{}")
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const { port } = server.address() as AddressInfo
  const own = { ...env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` }
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds * 2; n++) {
    const first = performance.now()
    await run(node, ["-e", "0"], { env })
    bare.push(performance.now() - first)
    const second = performance.now()
    const request = new Promise<void>((resolve) => (heard = resolve))
    const child = spawn(bin, ["-p", "go", "--model", "anthropic/any"], { cwd, env: own, stdio: "ignore" })
    const ended = new Promise((resolve) => child.on("close", resolve))
    await request
    ours.push(performance.now() - second)
    await ended
  }
  server.close()
  const detail = { "node -e 0, ms": median(bare), "legwork -p, ms": median(ours) }
  return { name: "start to first request", ratio: median(ours) / median(bare), bar: 3, detail }
}

/** What a finished session of 20 turns holds while it waits for its next prompt. */
async function settled(env: NodeJS.ProcessEnv): Promise<Result> {
  const { kb } = await program("settled.ts", env, ["--expose-gc"])
  return { name: "memory of a settled session", detail: { KB: kb! } }
}

/** One command as the bash tool runs it, bare and in the fence. What a shell alone costs is shown beside. */
async function fence(root: string): Promise<Result> {
  const [{ findSandbox }, { run: command }] = await Promise.all([
    import("../src/sandbox/sandbox.ts"),
    import("../src/tools/process.ts"),
  ])
  const began = performance.now()
  const found = await findSandbox({ env: process.env })()
  const tested = performance.now() - began
  if (!found.ok) return { name: `a command in the fence: ${found.why}`, detail: {} }
  const env = { PATH: process.env.PATH ?? "", HOME: root }
  const profile = { level: "read-only", network: false, root, writable: [], readable: [] } as const
  const bash = ["--noprofile", "--norc", "-c", ":"]
  const options = {
    root: resolve(root),
    env,
    signal: new AbortController().signal,
    timeout: 10_000,
    take: () => undefined,
  }
  const ways = {
    "bare, ms": () => command(":", options),
    "fenced, ms": () =>
      command(":", {
        ...options,
        spawn: (file, args, { env, stdio }) =>
          found.sandbox.spawn([file, ...args], { ...profile, env: env as Record<string, string> }, { stdio: stdio! }),
      }),
    "bash alone, ms": () => ended(spawn("bash", bash, { env, stdio: "ignore" })),
    "bash alone fenced, ms": () =>
      ended(found.sandbox.spawn(["bash", ...bash], { ...profile, env }, { stdio: "ignore" })),
  }
  const times: Record<string, number[]> = {}
  for (let n = 0; n < rounds * 10; n++) {
    for (const [name, way] of Object.entries(ways)) {
      const start = performance.now()
      await way()
      ;(times[name] ??= []).push(performance.now() - start)
    }
  }
  const detail = Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]))
  const ratio = detail["fenced, ms"]! / detail["bare, ms"]!
  return { name: "a command in the fence", ratio, bar: 3, detail: { ...detail, "test of the fence, ms": tested } }
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve))

await main(process.argv[2])
