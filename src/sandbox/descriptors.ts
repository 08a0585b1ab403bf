import { readdirSync, readFileSync } from "node:fs"
import { codeOf } from "../core/error.ts"

const closeOnExec = 0o2000000

/** Descriptors beyond the standard streams that a program started by us would get. Node's own are never among them. */
export const inherited = (): number[] =>
  readdirSync("/proc/self/fd")
    .map(Number)
    .filter((fd) => fd > 2 && (flagsOf(fd) & closeOnExec) === 0)

function flagsOf(fd: number): number {
  try {
    return Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "latin1"))![1]!, 8)
  } catch (error) {
    // The one that listed the folder is gone by now.
    if (codeOf(error) === "ENOENT") return closeOnExec
    throw error
  }
}
