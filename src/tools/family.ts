import { readdirSync, readFileSync } from "node:fs"
import { codeOf } from "../core/error.ts"

/** Every process that a command starts carries this name in its environment, wherever it moves. */
export const markName = "LEGWORK_CALL"

/** `group` is the command's process group, `mark` what its processes carry. `since` is when it began, monotonic. */
export type Family = { group: number; mark: string; since: number }

/** Signals the group, and whoever left it. Where there is no /proc, those who left are out of reach. */
export function signalFamily(family: Family, signal: NodeJS.Signals): void {
  const away = members(family, 0).filter(({ group }) => group !== family.group)
  send(-family.group, signal)
  for (const { pid } of away) send(pid, signal)
}

/** Ends what a settled command left behind. Looks again while it finds any: one may have started another meanwhile. */
export function endFamily(family: Family): void {
  send(-family.group, "SIGKILL")
  const from = performance.now() - family.since < shortly && newest() >= family.group ? family.group : 0
  const ended = new Set<number>()
  for (;;) {
    const left = members(family, from).filter(({ pid }) => !ended.has(pid))
    if (left.length === 0) return
    for (const { pid } of left) {
      send(pid, "SIGKILL")
      ended.add(pid)
    }
  }
}

/** In so short a time process ids cannot have gone round once, so all members have higher ones than the first. */
const shortly = 5_000

/** The process id given out last. */
const newest = (): number => Number(read("/proc/loadavg").trim().split(" ").at(-1))

type Process = { pid: number; parent: number; group: number }

/** The processes with the mark and all below them, also those that wiped their environment. */
function members({ group, mark }: Family, from: number): Process[] {
  const pids = all().filter((pid) => pid >= from)
  const marked = new Set(pids.filter((pid) => read(`/proc/${pid}/environ`).includes(mark)))
  if (marked.size === 0) return []
  const processes = new Map(pids.map((pid) => [pid, look(pid)]))
  const belongs = (pid: number, steps = 0): boolean => {
    if (marked.has(pid) || pid === group) return true
    const parent = processes.get(pid)?.parent
    return parent !== undefined && steps < pids.length && belongs(parent, steps + 1)
  }
  return [...processes.values()].filter(({ pid }) => belongs(pid))
}

function all(): number[] {
  try {
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
  } catch {
    return []
  }
}

/** The name of a program may hold spaces and brackets, so the fields are counted from where it ends. */
function look(pid: number): Process {
  const stat = read(`/proc/${pid}/stat`)
  const [, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { pid, parent: Number(parent), group: Number(group) }
}

/** What is gone by now, or another user's, reads as nothing. */
function read(path: string): string {
  try {
    return readFileSync(path, "latin1")
  } catch {
    return ""
  }
}

/** A process that is gone has what we wanted, and one that became another user's is out of our reach. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!["ESRCH", "EPERM"].includes(codeOf(error) ?? "")) throw error
  }
}
