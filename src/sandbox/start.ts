import { type ChildProcess, type IOType, type StdioOptions, spawn } from "node:child_process"
import { closeSync, openSync, readFileSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { inherited } from "./descriptors.ts"

type Start = {
  /** Bubblewrap, by its absolute path. */
  program: string
  options: readonly string[]
  filter: Buffer
  command: readonly string[]
  root: string
  stdio: StdioOptions
  /** Called when every process in the fence is dead, or none was born; mostly before anybody hears of the exit. */
  gone?: () => void
}

/**
 * The program itself starts with an empty environment, for what it has can be read inside; it would also obey LD_LIBRARY_PATH.
 * Its options come through a pipe: everybody on the machine can read arguments.
 */
export function start({ program, options, filter, command, root, stdio, gone }: Start): ChildProcess {
  const nothing = openSync("/dev/null", "r")
  try {
    const streams = closed(stdio, nothing)
    const [rules, orders, news] = [0, 1, 2].map((n) => streams.length + n) as [number, number, number]
    const child = spawn(program, ["--args", `${orders}`, "--", ...command], {
      cwd: root,
      env: {},
      detached: true,
      stdio: [...streams, "pipe", "pipe", ...(gone ? ["pipe" as const] : [])],
    })
    const report = gone ? ["--json-status-fd", `${news}`] : []
    send(child, rules, filter)
    send(child, orders, [...options, "--seccomp", `${rules}`, ...report, ""].join("\0"))
    if (gone) watch(child, child.stdio[news] as Readable | null, gone)
    return child
  } finally {
    closeSync(nothing)
  }
}

type Stream = Extract<StdioOptions, readonly unknown[]>[number] | IOType

/** The wanted streams, and nothing in the place of each descriptor that would be passed on by itself. */
function closed(stdio: StdioOptions, nothing: number): Stream[] {
  const wanted: readonly Stream[] = typeof stdio === "string" ? [stdio, stdio, stdio] : stdio
  const given = Math.max(3, wanted.length)
  const open = inherited().filter((fd) => fd >= given)
  const at = (fd: number): Stream => (open.includes(fd) ? nothing : "ignore")
  return Array.from({ length: Math.max(given, ...open.map((fd) => fd + 1)) }, (_, fd) => wanted[fd] ?? at(fd))
}

/** A fence that did not start takes nothing; its end tells of that. */
function send(child: ChildProcess, fd: number, data: string | Buffer): void {
  const pipe = child.stdio[fd] as Writable | null
  pipe?.on("error", () => {}).end(data)
}

/** What the command left behind is killed when its fence ends, a moment later. The fence's own first process goes last. */
function watch(child: ChildProcess, news: Readable | null, gone: () => void): void {
  let first = ""
  news?.on("error", () => {}).on("data", (chunk) => (first ||= /"child-pid": (\d+)/.exec(`${chunk}`)?.[1] ?? ""))
  const look = (patience: number): unknown =>
    patience > 0 && lives(first) ? setTimeout(look, 1, patience - 1) : gone()
  child.once("error", gone).once("exit", () => {
    // Both ended in one moment: its news are still on the way.
    if (first === "") return setTimeout(look, 1, 1_000)
    for (let n = 0; n < 40 && lives(first); n++) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.5)
    return look(1_000)
  })
}

function lives(pid: string): boolean {
  try {
    return pid !== "" && !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"))
  } catch {
    return false
  }
}
