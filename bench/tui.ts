import { type ChildProcess, execFile, spawn } from "node:child_process"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import { cpuOf, memoryOf } from "./process.ts"
import { median, type Result, share } from "./result.ts"
import { type Terminal, terminal } from "./terminal.ts"

export type Stage = { bin: string; work: string; env: NodeJS.ProcessEnv; server: ChildProcess }

const run = promisify(execFile)
const rounds = 3
const children = 50
/** Words of each child: 14 seconds at 50 a second, of which twice five are measured. */
const words = 700
const window = 5_000
const between = 200
const frame = "\x1b[?2026h"
/** Ends whatever is drawn, also where nothing had changed. */
const placed = "\x1b[?25l"
const clears = ["\x1b[2J", "\x1b[3J"]
const model = ["--model", "anthropic/any"]

/** What was seen of a screen for a while. `echo`: how long each key took to be shown, in ms. */
type Seen = { cpu: number; echo: number[]; output: string }
type Drawn = {
  first: number
  idle: Seen
  /** With the agents panel, and with the transcript of one of them on show. */
  panel: Seen
  transcript: Seen
  rate: number
  mb: { idle: number; streaming: number; after: number }
}
type Worked = { cpu: number; mb: number }

/** The terminal UI while many children stream, against the same work without it. */
export async function tui(stage: Stage): Promise<Result[]> {
  const [bare, drawn, headless]: [number[], Drawn[], Worked[]] = [[], [], []]
  for (let n = 0; n < rounds; n++) {
    bare.push(await bareStart(stage))
    drawn.push(await draw(stage))
    headless.push(await work(stage))
  }
  const of = <T>(all: T[], figure: (each: T) => number) => median(all.map(figure))
  const idle = drawn.map((each) => each.idle)
  const first = of(drawn, (each) => each.first)
  const streaming = of(drawn, ({ mb }) => mb.streaming)
  const without = { cpu: of(headless, ({ cpu }) => cpu), mb: of(headless, ({ mb }) => mb) }
  return [
    ...seen("panel", { all: drawn.map(({ panel }) => panel), idle, without: without.cpu }),
    ...seen("transcript", { all: drawn.map(({ transcript }) => transcript), idle, without: without.cpu }),
    {
      name: "terminal UI, start to first frame",
      value: first / median(bare),
      detail: { "node -e 0, ms": median(bare), "first frame, ms": first },
    },
    {
      name: `terminal UI, memory while ${children} children stream`,
      value: streaming / without.mb,
      detail: {
        "UI, MB": streaming,
        "headless, MB": without.mb,
        "UI before, MB": of(drawn, ({ mb }) => mb.idle),
        "UI after, MB": of(drawn, ({ mb }) => mb.after),
        "words a second, each": of(drawn, ({ rate }) => rate),
      },
    },
  ]
}

function seen(name: string, { all, idle, without }: { all: Seen[]; idle: Seen[]; without: number }): Result[] {
  const [cpu, resting] = [all, idle].map((each) => median(each.map((one) => one.cpu))) as [number, number]
  const [echo, calm] = [all, idle].map((each) => each.flatMap((one) => one.echo)) as [number[], number[]]
  const perSecond = (figure: (output: string) => number) =>
    median(all.map(({ output }) => figure(output) / (window / 1_000)))
  return [
    {
      name: `${children} children stream, ${name}, CPU`,
      value: cpu,
      unit: "% of a core",
      bar: 50,
      detail: { "headless, %": without, ratio: cpu / without, "idle UI, %": resting },
    },
    {
      name: `${name}, redraws`,
      value: perSecond((output) => count(output, frame)),
      unit: "a second",
      bar: 30,
      detail: {
        "with those that changed nothing": perSecond((output) => count(output, placed)),
        "bytes a second": perSecond((output) => Buffer.byteLength(output)),
      },
    },
    {
      name: `${name}, screens cleared`,
      value: Math.max(...all.map(({ output }) => count(output, ...clears))),
      unit: "times",
      bar: 0,
      detail: {},
    },
    {
      name: `${name}, echo of a key, p99`,
      value: share(echo, 0.99),
      unit: "ms",
      bar: 100,
      detail: {
        "p50, ms": median(echo),
        "idle p50, ms": median(calm),
        "idle p99, ms": share(calm, 0.99),
        "p50 ratio": median(echo) / median(calm),
        keys: echo.length,
      },
    },
  ]
}

const count = (output: string, ...texts: string[]): number =>
  texts.reduce((sum, text) => sum + output.split(text).length - 1, 0)

async function bareStart({ env }: Stage): Promise<number> {
  const began = performance.now()
  await run(join(import.meta.dirname, "../node_modules/node/bin/node"), ["-e", "0"], { env })
  return performance.now() - began
}

async function draw({ bin, work: cwd, env, server }: Stage): Promise<Drawn> {
  const began = performance.now()
  const screen = terminal(bin, model, { cwd, env: { ...env, TERM: "xterm-256color", COLORTERM: "truecolor" } })
  const { pid } = screen
  const memory = async () => (await memoryOf(pid)).now
  const first = (await screen.shown(frame)) - began
  const idle = await watched(screen)
  const idleMb = await memory()
  const flowing = heard(server, "flowing")
  await enter(screen, `flow ${children} ${words}`)
  await flowing
  const start = performance.now()
  const panel = await watched(screen)
  const streaming = await memory()
  screen.type(keys.transcript)
  const transcript = await watched(screen)
  screen.type(keys.back)
  const rate = words / (((await screen.shown("all done.")) - start) / 1_000)
  const mb = { idle: idleMb, streaming, after: await memory() }
  await screen.kill()
  return { first, idle, panel, transcript, rate, mb }
}

const keys = { clear: "\x03", transcript: "\x0f", back: "\x1b", enter: "\r" }

async function enter(screen: Terminal, text: string): Promise<void> {
  const shown = screen.shown(text)
  screen.type(text)
  await shown
  screen.type(keys.enter)
}

/** What a second of quiet leaves is measured: what a start or a change of screens still does is no part of it. */
async function watched(screen: Terminal): Promise<Seen> {
  await setTimeout(1_000)
  screen.taken()
  const { made: echo, cpu } = await spent(screen.pid, () => typed(screen, window / between))
  const output = screen.taken()
  screen.type(keys.clear)
  return { cpu, echo, output }
}

/** A key now and then, and how long each took to stand on the screen, in ms. */
async function typed(screen: Terminal, keys: number): Promise<number[]> {
  const times: number[] = []
  let text = ""
  for (let n = 0; n < keys; n++) {
    text += "qzxjkvw"[n % 7]
    // The whole line is awaited: one letter alone might stand anywhere.
    const shown = screen.shown(text)
    const began = performance.now()
    const pause = setTimeout(between)
    screen.type(text.at(-1)!)
    times.push((await shown) - began)
    await pause
  }
  return times
}

/** The same work by `legwork -p`. */
async function work({ bin, work: cwd, env, server }: Stage): Promise<Worked> {
  const flowing = heard(server, "flowing")
  const child = spawn(bin, ["-p", `flow ${children} ${words}`, ...model], { cwd, env, stdio: "ignore" })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  await flowing
  await setTimeout(1_000)
  const { cpu } = await spent(child.pid!, () => setTimeout(window))
  const { now: mb } = await memoryOf(child.pid!)
  child.kill("SIGKILL")
  await ended
  return { cpu, mb }
}

/** What something made, and which share of a core a process took meanwhile, in percent. */
async function spent<T>(pid: number, doing: () => Promise<T>): Promise<{ made: T; cpu: number }> {
  const [before, began] = [await cpuOf(pid), performance.now()]
  const made = await doing()
  const seconds = (performance.now() - began) / 1_000
  return { made, cpu: (((await cpuOf(pid)) - before) / seconds) * 100 }
}

const heard = (server: ChildProcess, word: string): Promise<void> =>
  new Promise((resolve) => {
    const listen = (message: unknown) => {
      if (message !== word) return
      server.off("message", listen)
      resolve()
    }
    server.on("message", listen)
  })
