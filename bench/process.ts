import { readFile } from "node:fs/promises"

/** Ticks a second in which Linux counts the time of processes. */
const ticks = 100

/** Seconds of processor time that a process and all its threads have taken so far. */
export async function cpuOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8")
  // Its name is in parentheses and may hold anything; the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return (Number(fields[11]) + Number(fields[12])) / ticks
}

/** What a process holds now and held at most, in MB. */
export async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8")
  const mb = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1_000
  return { now: mb("VmRSS"), peak: mb("VmHWM") }
}
