import { constants, homedir } from "node:os"
import { load } from "../../config.ts"
import { deniedReads, type Fence } from "../../core/access.ts"
import { folderOf } from "../../folders.ts"
import { rulesIn } from "../../gate.ts"
import { profileFor } from "../../sandbox/profile.ts"
import { findSandbox } from "../../sandbox/sandbox.ts"
import { environment } from "../../tools/environment.ts"
import { codes, UsageError } from "../exit.ts"

export type SandboxFlags = { profile: Fence["level"]; network?: true }

/** Runs any command in the very fence that agents' commands run in, with its output and its exit code. */
export async function sandbox(command: string[], flags: SandboxFlags, folder?: string): Promise<number> {
  if (command.length === 0) throw new UsageError("there is no command; write one, as in: legwork sandbox -- ls")
  const root = await folderOf(folder)
  const { env } = process
  const found = await findSandbox({ env })()
  if (!found.ok) {
    console.error(`legwork: ${found.why}; ${found.fix}`)
    return codes.failed
  }
  const config = await load({ cwd: root, env, home: homedir() })
  const { readable, writable } = config.directories
  const hidden = deniedReads(await rulesIn(config))
  const fence = { level: flags.profile, network: flags.network === true, hidden }
  const place = { root, readable, writable, env: environment(env, config.environment), home: homedir() }
  const profile = await profileFor(fence, place)
  const child = found.sandbox.spawn([...asShells, ...command], profile, { stdio: "pipe" })
  // Only pipes lead in: a file that is given as input could be written through /proc.
  process.stdin.pipe(child.stdin!.on("error", () => {}))
  child.stdout?.pipe(process.stdout)
  child.stderr?.pipe(process.stderr)
  const end = (signal: NodeJS.Signals) => void child.kill(signal)
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => {
      process.stdin.destroy()
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 0))
    })
  })
}

/** A shell tells a command that is not there (127) from one that cannot be run (126), and both from a fence that fails. */
const starter = `case $1 in */*) [ -e "$1" ] ;; *) type -P -- "$1" ;; esac >/dev/null ||
  { printf '%s: there is no command %s in the sandbox\\n' "$0" "$1" >&2; exit 127; }
exec -- "$@"`
const asShells = ["bash", "--noprofile", "--norc", "-c", starter, "legwork"]
