import { constants, homedir } from "node:os"
import { load } from "../../config.ts"
import type { Fence } from "../../core/access.ts"
import { folderOf } from "../../folders.ts"
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
  const fence = { level: flags.profile, network: flags.network === true }
  const profile = { ...fence, root, readable, writable, env: environment(env, config.environment) }
  const child = found.sandbox.spawn(command, profile, { stdio: ["inherit", "pipe", "pipe"] })
  child.stdout?.pipe(process.stdout)
  child.stderr?.pipe(process.stderr)
  const end = (signal: NodeJS.Signals) => void child.kill(signal)
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, end)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}
