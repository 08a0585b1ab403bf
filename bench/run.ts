import { type ChildProcess, execFile, fork, spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import { compare, program } from "./compare.ts"
import { agents, search } from "./files.ts"
import { fold, replay } from "./replay.ts"
import { line, median, type Result } from "./result.ts"
import { grown, streaming } from "./strain.ts"
import { tui } from "./tui.ts"

/** Everything here is a ratio of two things measured in turns in the same run; milliseconds are shown for the curious. */
const here = import.meta.dirname
const bin = resolve(here, "../bin/legwork.cjs")
const rounds = 3
const run = promisify(execFile)

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
  const own = { ...wide, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
  const children = (n: number, k: number, times: number) =>
    compare(`${n} children, ${k} reads each`, {
      env: { ...wide, BENCH_PROMPT: `lead ${n} ${k}`, BENCH_TIMES: `${times}` },
      bar: 1,
    })
  const benches: Record<string, () => Promise<Result | Result[]>> = {
    loop: () => compare("loop, 20 turns", { env, bar: 1.2 }),
    child: () => compare("one child, 20 turns", { env: { ...env, BENCH_PROMPT: "lead 1 20" }, bar: 1.2 }),
    "8x5": () => children(8, 5, 7),
    "64x5": () => children(64, 5, 5),
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
    replay: () => replay({ env: own, work, started: () => onceStarted(own, work) }),
    fold: () => fold({ env: own, work }),
    search: () => search(folder),
    agents: () => agents(folder),
    weight: () => weight(env, work),
    start: () => start(env, work),
    settled: () => settled(env),
    sandbox: () => fence(work),
    tui: () => tui({ bin, work, env: own, server }),
  }
  const results: Result[] = []
  try {
    for (const [name, bench] of Object.entries(benches)) {
      if (only && only !== name) continue
      process.stderr.write(`  ${name} …\n`)
      const made = [await bench()].flat()
      results.push(...made)
      for (const result of made) console.log(line(result))
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

/** From the start of `legwork -p` to its first request, against `node -e 0` from start to end. */
async function start(env: NodeJS.ProcessEnv, cwd: string): Promise<Result> {
  const node = join(here, "../node_modules/node/bin/node")
  const [bare, ours]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds * 2; n++) {
    const first = performance.now()
    await run(node, ["-e", "0"], { env })
    bare.push(performance.now() - first)
    ours.push(await onceStarted(env, cwd))
  }
  const detail = { "node -e 0, ms": median(bare), "legwork -p, ms": median(ours) }
  return { name: "start to first request", value: median(ours) / median(bare), bar: 2.5, detail }
}

/** How long `legwork -p` takes to its first request, in ms. */
async function onceStarted(env: NodeJS.ProcessEnv, cwd: string): Promise<number> {
  let heard = () => {}
  const request = new Promise<void>((resolve) => (heard = resolve))
  const server = http.createServer((_, response) => {
    heard()
    response.writeHead(400).end("{}")
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const { port } = server.address() as AddressInfo
  const own = { ...env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` }
  const began = performance.now()
  const child = spawn(bin, ["-p", "go", "--model", "anthropic/any"], { cwd, env: own, stdio: "ignore" })
  const gone = ended(child)
  await request
  const ms = performance.now() - began
  await gone
  server.close()
  return ms
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
  const value = detail["fenced, ms"]! / detail["bare, ms"]!
  return { name: "a command in the fence", value, bar: 3, detail: { ...detail, "test of the fence, ms": tested } }
}

const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve))

await main(process.argv[2])
