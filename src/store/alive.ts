import { readFileSync } from "node:fs"
import { codeOf } from "../core/error.ts"

/** A process, told apart from a later one with the same pid by when it started; `start` is empty when unknown. */
export type Process = { pid: number; start: string }

/** A process that was killed and that its parent has not asked after yet: its pid is still taken. */
const ended = "ended"

/** Whether it still runs. When the system does not say, it does. */
export async function isAlive({ pid, start }: Process): Promise<boolean> {
  if (pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false
  }
  const now = await startOf(pid)
  return now !== ended && (now === undefined || start === "" || now === start)
}

/** When a process started, in whatever form the system says it; undefined when it does not. */
export function startOf(pid: number, platform: string = process.platform): Promise<string | undefined> {
  return platform === "linux" ? Promise.resolve(fromProc(pid)) : fromPs(pid)
}

function fromProc(pid: number): string | undefined {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8")
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The name in parentheses may hold anything, so count the fields from its end: state is the 1st, start the 20th.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    if (fields[0] === "Z" || fields[0] === "X") return ended
    return `${boot.trim()} ${fields[19]}`
  } catch {
    return undefined
  }
}

async function fromPs(pid: number): Promise<string | undefined> {
  const { execFile } = await import("node:child_process")
  const env = { PATH: process.env.PATH ?? "", LC_ALL: "C", TZ: "UTC" }
  return new Promise((resolve) => {
    execFile("ps", ["-o", "lstart=", "-p", String(pid)], { env, timeout: 5_000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim() || undefined),
    )
  })
}
