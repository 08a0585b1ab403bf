import { type ChildProcess, spawn as nodeSpawn, type SpawnOptions } from "node:child_process"
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { codeOf, reasonOf } from "../core/error.ts"

export type Spawn = (file: string, args: string[], options: SpawnOptions) => ChildProcess

/** How a hook's command came to its end. What it printed counts only if that was by itself. */
export type Ended =
  | { by: "itself"; exit: number; stdout: string; stderr: string }
  | { by: "signal"; signal: NodeJS.Signals }
  | { by: Stop }
  | { by: "nothing"; why: string }

/** Why we end a command before it does so itself. The first reason is the one told. */
type Stop = "timeout" | "output" | "abort"

export type Options = {
  /** For its standard input. */
  input: string
  cwd: string
  env: Record<string, string>
  /** Milliseconds. */
  timeout: number
  signal: AbortSignal
  spawn?: Spawn
}

/** What a process gets to obey TERM, and what we wait for the rest of its output. */
const grace = 200
/** How long between two looks whether all of them have gone. */
const glance = 10
const patience = 1_000

/** The most that it may print to either output, in bytes. */
const most = 1_000_000

/** Runs one command in a shell and a process group of its own. When this is done, so is the whole group. */
export async function run(command: string, options: Options): Promise<Ended> {
  const { input, timeout, signal } = options
  let child: ChildProcess
  try {
    child = await started(command, options)
  } catch (error) {
    return { by: "nothing", why: whyNot(error, options.cwd) }
  }
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Stop>()
  const timer = setTimeout(stop, timeout, "timeout")
  const abort = () => stop("abort")
  signal.addEventListener("abort", abort, { once: true })
  if (signal.aborted) abort()
  const outputs = [child.stdout!, child.stderr!].map((output) => collect(output, () => stop("output")))
  const drained = Promise.all(outputs.map(({ closed }) => closed))
  feed(child.stdin!, input)
  const exit = exited(child)
  const end = await Promise.race([stopped, exit])
  clearTimeout(timer)
  const by = typeof end === "string" ? end : await Promise.race([stopped, within(patience, drained)])
  signal.removeEventListener("abort", abort)
  if (by) await warn(child.pid!, exit)
  signalGroup(child.pid!, "SIGKILL")
  await within(patience, exit)
  release(child)
  if (typeof end === "string") return { by: end }
  if (by) return { by }
  if (end.signal) return { by: "signal", signal: end.signal }
  const [stdout, stderr] = outputs.map(({ text }) => text())
  return { by: "itself", exit: end.exit ?? 1, stdout: stdout!, stderr: stderr! }
}

/** The system has one word for a program and for a folder that is not there. */
const whyNot = (error: unknown, cwd: string): string =>
  codeOf(error) === "ENOENT" ? `there is neither bash nor sh, or no folder ${cwd}` : reasonOf(error)

const passing = new Set(["EMFILE", "ENFILE", "EAGAIN"])

const stdio: SpawnOptions["stdio"] = ["pipe", "pipe", "pipe", "pipe"]

/**
 * Leaves a guard that waits for the end of 3, so that a `kill -9` on us ends the group as well, then runs the command. It
 * is in no group of the command's and no child of its shell: a command that waits for all of its own would hang.
 */
const guarded = `( set -m; { read -r _ || kill -KILL -- -$$; } <&3 3<&- >/dev/null 2>&1 & ) 2>/dev/null; exec 3<&-; eval "$1"`

/** A shell that runs: bash, or sh where there is none. Waits a little when the system has no process to give. */
async function started(command: string, options: Options, tries = 3): Promise<ChildProcess> {
  const { cwd, env, spawn = nodeSpawn } = options
  const up = async (file: string, args: string[]) => {
    const child = spawn(file, [...args, "-c", guarded, file, command], { cwd, env, detached: true, stdio })
    await once(child, "spawn")
    return child
  }
  try {
    // Bash takes our pipe for a network connection, and would read the user's start-up file.
    return await up("bash", ["--noprofile", "--norc"])
  } catch (error) {
    if (codeOf(error) === "ENOENT") return await up("sh", [])
    if (tries === 0 || !passing.has(codeOf(error) ?? "")) throw error
  }
  await sleep(50)
  return await started(command, options, tries - 1)
}

function collect(output: Readable, enough: () => void): { text: () => string; closed: Promise<void> } {
  const chunks: Buffer[] = []
  let size = 0
  output.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > most) enough()
    else chunks.push(chunk)
  })
  // An error here only says that nothing more will come.
  output.on("error", () => {})
  return {
    text: () => Buffer.concat(chunks).toString(),
    closed: new Promise((resolve) => output.once("close", resolve)),
  }
}

/** A hook need not read what it is told. */
function feed(stdin: Writable, input: string): void {
  stdin.on("error", () => {})
  stdin.end(input)
}

type Exit = { exit: number | null; signal: NodeJS.Signals | null }

const exited = (child: ChildProcess): Promise<Exit> =>
  new Promise((resolve) => child.once("exit", (exit, signal) => resolve({ exit, signal })))

/** TERM, and the time to obey it; those who obey slowly keep theirs when the shell is gone already. */
async function warn(group: number, exit: Promise<Exit>): Promise<void> {
  const deadline = performance.now() + grace
  signalGroup(group, "SIGTERM")
  await within(grace, exit)
  while (isRunning(group) && performance.now() < deadline) await sleep(glance)
}

/** Our process waits neither for those who left the group and hold the pipes, nor for one that is deaf to KILL. */
function release(child: ChildProcess): void {
  child.stdin?.destroy()
  child.stdout?.destroy()
  child.stderr?.destroy()
  dismiss(child.stdio[3] as Writable | null)
  child.unref()
}

/** A word instead of a mere end: the guard goes and kills nobody. */
function dismiss(guard: Writable | null): void {
  guard?.on("error", () => {})
  guard?.end("\n")
}

/** Whether anybody in the group still runs. One that has ended, and that nobody has taken note of yet, does not. */
function isRunning(group: number): boolean {
  if (!signalGroup(group, 0)) return false
  try {
    return readdirSync("/proc").some((pid) => /^\d+$/.test(pid) && runsIn(group, pid))
  } catch {
    return true // there is no /proc to tell
  }
}

/** The name of a program may hold anything, so the fields are counted from where it ends. */
function runsIn(group: number, pid: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    const [state, , its] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    return Number(its) === group && state !== "Z"
  } catch {
    return false // it is gone
  }
}

/** Whether there is anybody in the group who can be reached. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch (error) {
    if (["ESRCH", "EPERM"].includes(codeOf(error) ?? "")) return false
    throw error
  }
}

async function within(ms: number, work: Promise<unknown>): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise])
  clearTimeout(timer)
}
