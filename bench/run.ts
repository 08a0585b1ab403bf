import { execFile, fork, spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { promisify } from "node:util"

/** Everything here is a ratio of two things measured in turns in the same run; milliseconds are shown for the curious. */
const here = import.meta.dirname
const bin = resolve(here, "../bin/legwork.cjs")
const rounds = 5
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
  const env = { PATH: process.env.PATH, HOME: folder, BENCH_URL: url, BENCH_FOLDER: work, BENCH_TURNS: "20" }
  const benches: Record<string, () => Promise<Result>> = {
    loop: () => loop(env),
    start: () => start(env, work),
    settled: () => settled(env),
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

/** 20 turns with one read each: our engine against a bare fetch loop. */
async function loop(env: NodeJS.ProcessEnv): Promise<Result> {
  const [floor, ours]: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds; n++) {
    floor.push((await program("floor.ts", env)).ms!)
    ours.push((await program("library.ts", env)).ms!)
  }
  const detail = { "fetch floor, ms": median(floor), "ours, ms": median(ours) }
  return { name: "loop, 20 turns", ratio: median(ours) / median(floor), bar: 1.3, detail }
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

await main(process.argv[2])
