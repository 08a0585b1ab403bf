import { readdirSync, readFileSync } from "node:fs"
import { codeOf } from "../core/error.ts"

/** Every process that a command starts carries this name in its environment, wherever it moves. */
export const markName = "LEGWORK_CALL"

/** `group` is the command's process group, `mark` what its processes carry. `since` is when it began, monotonic. */
export type Family = { group: number; mark: string; since: number }

/** Signals the group, and whoever left it. Where there is no /proc, those who left are out of reach. */
export function signalFamily(family: Family, signal: NodeJS.Signals): void {
  const { processes, marked } = tableNow()
  const away = familyIn(processes, family, marked.get(family.mark)).filter(({ group }) => group !== family.group)
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

/** The processes of a family among those with ids from here on. */
function members(family: Family, from: number): Process[] {
  const pids = all().filter((pid) => pid >= from)
  const marked = new Set(pids.filter((pid) => read(`/proc/${pid}/environ`).includes(family.mark)))
  return marked.size === 0 ? [] : familyIn(new Map(pids.map((pid) => [pid, look(pid)])), family, marked)
}

/** Those with the mark and all below them, also those that wiped their environment. */
function familyIn(processes: ReadonlyMap<number, Process>, { group }: Family, marked = new Set<number>()): Process[] {
  if (marked.size === 0) return []
  const belongs = (pid: number, steps = 0): boolean => {
    if (marked.has(pid) || pid === group) return true
    const parent = processes.get(pid)?.parent
    return parent !== undefined && steps < processes.size && belongs(parent, steps + 1)
  }
  return [...processes.values()].filter(({ pid }) => belongs(pid))
}

/** All processes of the machine, and those with each mark. */
type Table = { processes: Map<number, Process>; marked: Map<string, Set<number>> }

/** The machine has one such table, so one look at it serves all that are stopped in the same tick. */
let table: Table | undefined

function tableNow(): Table {
  if (table) return table
  const pids = all()
  table = { processes: new Map(pids.map((pid) => [pid, look(pid)])), marked: new Map() }
  for (const pid of pids) {
    const mark = markIn.exec(read(`/proc/${pid}/environ`))?.[1]
    if (mark !== undefined) table.marked.set(mark, (table.marked.get(mark) ?? new Set()).add(pid))
  }
  setImmediate(() => {
    table = undefined
  })
  return table
}

const markIn = new RegExp(`(?:^|\\0)${markName}=([^\\0]*)`)

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
