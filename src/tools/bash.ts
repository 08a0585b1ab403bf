import { existsSync } from "node:fs"
import { constants } from "node:os"
import * as z from "zod"
import { type Output, tool, type Use } from "../agent/scope.ts"
import { codeOf, reasonOf } from "../core/error.ts"
import { fencedSpawn } from "./bash-fence.ts"
import { Capture } from "./capture.ts"
import { environment } from "./environment.ts"
import { Live } from "./live.ts"
import { type Ended, run, type Spawn } from "./process.ts"
import { fencedShell } from "./shell.ts"
import type { World } from "./world.ts"

const input = z.strictObject({
  command: z.string().min(1),
  timeout: z.int().min(1).max(600_000).default(120_000).describe("Milliseconds"),
  description: z.string().optional().describe("What it does, in a few words"),
})

type Options = {
  /** Names of variables that commands get beside the usual ones. */
  allow?: readonly string[]
  /** Bytes of output after which a command is stopped. */
  limit?: number
  spawn?: Spawn
}

/** The kernel takes no argument beyond 128 KiB. */
const longest = 130_000

export const bash = (world: World, { allow = [], limit = 64 * 1024 * 1024, spawn }: Options = {}) =>
  tool({
    name: "bash",
    description:
      "Runs a command in a fresh bash in the working folder; nothing carries over to the next call. No input, no terminal. " +
      "Everything it started, also in the background, ends with the call.",
    input,
    repeatable: false,
    alone: true,
    access: ({ command }) => ({ kind: "run", command }),
    run: async ({ command, timeout }, use) => {
      if (command.includes("\0")) return refused("the command holds a NUL character; leave it out")
      if (Buffer.byteLength(command) > longest) {
        return refused(`the command is longer than ${longest} bytes; write it to a file and run that`)
      }
      const env = environment(world.env, allow)
      const fenced = await fencedSpawn(world, use, env)
      if (typeof fenced === "string") return refused(fenced)
      const live = new Live(use.show)
      const file = () => world.keep(`${use.call}.txt`, "")
      const capture = new Capture({ file, live: (text) => live.push(text), mask: world.mask })
      const take = (chunk: Buffer, enough: () => void) => {
        bytes += chunk.length
        if (bytes <= limit) return capture.push(chunk)
        enough()
        return undefined
      }
      let bytes = 0
      let ended: Ended
      try {
        const { root, signal } = use
        const start = fenced ? { spawn: fenced.spawn, shell: fencedShell } : spawn && { spawn }
        ended = await run(command, { root, env, signal, timeout, take, ...start })
      } catch (error) {
        return refused(unstarted(error, use))
      }
      const trouble = ended.by === "itself" && ended.exit === 1 && (await fenced?.trouble())
      if (trouble) return refused(`nothing was run: the sandbox did not start (${trouble})`)
      live.flush()
      return report(await capture.end(), { command, timeout, limit, ended })
    },
  })

const refused = (text: string): Output => ({ ok: false, text })

function report(
  text: string,
  { command, timeout, limit, ended }: { command: string; timeout: number; limit: number; ended: Ended },
): Output {
  const { exit, signal, by } = ended
  const ok = by === "itself" && exit === 0
  const shown = text.replace(/\n+$/, "") || "(no output)"
  return {
    ok,
    text: ok ? shown : `${shown}\n\n${fate(ended, timeout, limit)}`,
    details: { kind: "command", command, exit, signal, timedOut: by === "timeout" },
  }
}

function fate({ exit, signal, by }: Ended, timeout: number, limit: number): string {
  switch (by) {
    case "timeout":
      return `timed out after ${timeout} ms and was killed; what it had printed is above. A longer timeout (up to 600000) or a smaller task may help.`
    case "abort":
      return "stopped before it ended; what it had printed is above"
    case "output":
      return `killed: its output went over ${limit} bytes. Filter it, or send it to a file.`
    case "itself":
      return signal ? `killed by ${signal}` : `exit code ${exit}${named(exit)}`
    default:
      return by satisfies never
  }
}

/** A shell reports the signal that killed its last command as 128 and its number. */
function named(exit: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => number + 128 === exit)
  return signal ? ` (killed by ${signal[0]})` : ""
}

function unstarted(error: unknown, { root, signal }: Use): string {
  if (signal.aborted) return "stopped before it began"
  if (!existsSync(root)) return `the working folder ${root} is gone; nothing was run`
  switch (codeOf(error)) {
    case "ENOENT":
      return "bash was not found in PATH; install it, or mend PATH"
    case "EAGAIN":
    case "EMFILE":
    case "ENFILE":
    case "ENOMEM":
      return `the system is out of processes, descriptors or memory (${codeOf(error)}); nothing was run. Try again later.`
    default:
      return `the command could not be started: ${reasonOf(error)}`
  }
}
