import { type ChildProcess, execFile, spawn } from "node:child_process"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { promisify } from "node:util"
import { fileOf, timed } from "./compare.ts"
import type { Result } from "./result.ts"

const run = promisify(execFile)
/** Starts are short and their times vary, so there are more of them. */
const times = 15

/** `url`: where the scripted provider is; `wide`: settings that let a thousand children work at a time. */
export type Stage = { bin: string; node: string; work: string; env: NodeJS.ProcessEnv; url: string; wide: string }

/** From the start of `legwork -p` to its first request, and one whole turn, against `node -e 0` from start to end. */
export async function start(stage: Stage): Promise<Result[]> {
  const { bin, node, work: cwd, env } = stage
  const provider = await deaf()
  const own = { ...env, ANTHROPIC_API_KEY: "test" }
  // Whoever measures has started it before, with as much to do as anybody.
  await worked(stage, "lead 8 5")
  const { bare, first, turn } = await timed(
    {
      bare: () => run(node, ["-e", "0"], { env }),
      first: async () => {
        const asked = provider.asked()
        const options = { cwd, env: { ...own, ANTHROPIC_BASE_URL: provider.url }, stdio: "ignore" } as const
        const gone = ended(spawn(bin, ["-p", "go", "--model", "anthropic/any"], options))
        await asked
        return { rest: gone }
      },
      turn: () => worked(stage, "read 0"),
    },
    times,
  )
  provider.close()
  return [
    {
      name: "start to first request",
      value: first / bare,
      bar: 2.5,
      detail: { "node -e 0, ms": bare, "legwork -p, ms": first },
    },
    {
      name: "one turn, whole",
      value: turn / bare,
      bar: 3,
      detail: { "node -e 0, ms": bare, "legwork -p, ms": turn },
    },
  ]
}

/** All of `legwork -p` with children, from start to end, against a bare loop that does the same. */
export async function whole(stage: Stage, [n, k]: [number, number], bar: number): Promise<Result> {
  const prompt = `lead ${n} ${k}`
  const env = { ...stage.env, BENCH_PROMPT: prompt, BENCH_TIMES: "0" }
  // Nobody waits for a place, as nobody does in the bare loop; few sessions need settings for that.
  const more = n > 8 ? { XDG_CONFIG_HOME: stage.wide } : {}
  await worked(stage, prompt, more)
  const { fetch, floor, ours } = await timed({
    fetch: () => run(stage.node, [fileOf("floor")], { env }),
    floor: () => run(stage.node, [fileOf("floor")], { env: { ...env, BENCH_CLIENT: "http" } }),
    ours: () => worked(stage, prompt, more),
  })
  return {
    name: `legwork -p, ${n} children, ${k} reads each, whole`,
    value: ours / fetch,
    bar,
    detail: { "fetch floor, ms": fetch, "node:http floor, ms": floor, "legwork -p, ms": ours },
  }
}

async function worked({ bin, work: cwd, env, url }: Stage, prompt: string, more: NodeJS.ProcessEnv = {}) {
  const own = { ...env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url, ...more }
  const child = spawn(bin, ["-p", prompt, "--model", "anthropic/any"], {
    cwd,
    env: own,
    stdio: ["ignore", "pipe", "pipe"],
  })
  let [told, complained] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text) => (told += text))
  child.stderr.setEncoding("utf8").on("data", (text) => (complained += text))
  await new Promise((resolve) => child.once("close", resolve))
  if (!/^I (read|led) \d+/.test(told)) throw new Error(told + complained)
}

/** How long `legwork -p` takes to its first request, in ms. */
export async function onceStarted(bin: string, env: NodeJS.ProcessEnv, cwd: string): Promise<number> {
  const provider = await deaf()
  const asked = provider.asked()
  const began = performance.now()
  const own = { ...env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: provider.url }
  const gone = ended(spawn(bin, ["-p", "go", "--model", "anthropic/any"], { cwd, env: own, stdio: "ignore" }))
  await asked
  const ms = performance.now() - began
  await gone
  provider.close()
  return ms
}

/** A provider that refuses everything, and says when it was asked. */
async function deaf(): Promise<{ url: string; asked(): Promise<void>; close(): void }> {
  let heard = () => {}
  const server = http.createServer((_, response) => {
    heard()
    response.writeHead(400).end("{}")
  })
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const { port } = server.address() as AddressInfo
  const asked = () => new Promise<void>((resolve) => (heard = resolve))
  return { url: `http://127.0.0.1:${port}`, asked, close: () => void server.close() }
}

export const ended = (child: ChildProcess): Promise<unknown> => new Promise((resolve) => child.once("exit", resolve))
