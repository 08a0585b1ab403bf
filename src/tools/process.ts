import { type ChildProcess, spawn as nodeSpawn, type SpawnOptions } from "node:child_process"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { endFamily, type Family, markName, signalFamily } from "./family.ts"
import { patiently } from "./patience.ts"
import { shell as guardedShell } from "./shell.ts"

export type Spawn = (file: string, args: string[], options: SpawnOptions) => ChildProcess

/** How a command came to its end, and whether by itself or because we stopped it. */
export type Ended = {
  exit: number | null
  signal: NodeJS.Signals | null
  by: "itself" | "timeout" | "abort" | "output"
}

type Options = {
  root: string
  env: Record<string, string>
  signal: AbortSignal
  /** Milliseconds. */
  timeout: number
  /** Takes output as it comes; no more comes before what it returns is done. `enough` stops the command. */
  take(chunk: Buffer, enough: () => void): Promise<void> | undefined
  spawn?: Spawn
  /** The arguments for a bash that runs a command. */
  shell?(command: string): string[]
}

/** What a process gets to obey TERM, and what we wait for the rest of its output. */
const grace = 200
const patience = 1_000

/** Runs one command in a shell of its own. When this is done, so is everything that the command started. */
export async function run(command: string, options: Options): Promise<Ended> {
  const { root, env, signal, timeout, take, spawn = nodeSpawn, shell = guardedShell } = options
  const mark = randomUUID()
  const since = performance.now()
  signal.throwIfAborted()
  const child = await patiently(() => started(spawn, shell(command), { cwd: root, env: { ...env, [markName]: mark } }))
  const family = { group: child.pid!, mark, since }
  const stop = new Stop(family)
  const timer = setTimeout(() => stop.because("timeout"), timeout)
  const abort = () => stop.because("abort")
  signal.addEventListener("abort", abort, { once: true })
  if (signal.aborted) abort()
  const drained = drain(child.stdout!, (chunk) => take(chunk, () => stop.because("output")))
  const [exit, killed] = await Promise.race([exited(child), stop.hopeless])
  clearTimeout(timer)
  await within(patience, drained)
  signal.removeEventListener("abort", abort)
  await stop.settled()
  endFamily(family)
  child.stdout?.destroy()
  child.stdio[3]?.destroy()
  return { exit, signal: killed, by: stop.by }
}

/** Ends a command before its time: TERM, and KILL for those who are deaf to it. The first reason is the one told. */
class Stop {
  by: Ended["by"] = "itself"
  /** Resolves when even KILL ended nothing: a process stuck in the kernel must not hold the call. */
  readonly hopeless: Promise<[null, "SIGKILL"]>
  #giveUp: (end: [null, "SIGKILL"]) => void
  #killed: Promise<void> = Promise.resolve()
  #family: Family

  constructor(family: Family) {
    this.#family = family
    const { promise, resolve } = Promise.withResolvers<[null, "SIGKILL"]>()
    this.hopeless = promise
    this.#giveUp = resolve
  }

  because(by: Exclude<Ended["by"], "itself">): void {
    if (this.by !== "itself") return
    this.by = by
    signalFamily(this.#family, "SIGTERM")
    this.#killed = sleep(grace).then(() => {
      signalFamily(this.#family, "SIGKILL")
      setTimeout(() => this.#giveUp([null, "SIGKILL"]), patience).unref()
    })
  }

  /** Those who obey slowly keep their time, also when the shell itself is gone already. */
  settled(): Promise<void> {
    return this.#killed
  }
}

/** A shell that runs; what kept it from starting is thrown. */
async function started(spawn: Spawn, args: string[], options: SpawnOptions): Promise<ChildProcess> {
  const child = spawn("bash", args, {
    ...options,
    detached: true,
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  })
  await once(child, "spawn")
  return child
}

const exited = (child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> =>
  new Promise((resolve) => child.once("exit", (exit, signal) => resolve([exit, signal])))

function drain(output: Readable, take: (chunk: Buffer) => Promise<void> | undefined): Promise<void> {
  return new Promise((resolve) => {
    output.on("data", (chunk: Buffer) => {
      const taken = take(chunk)
      if (!taken) return
      output.pause()
      taken.then(() => output.resume())
    })
    // An error here only says that nothing more will come.
    output.on("error", () => resolve())
    output.on("close", () => resolve())
  })
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}
