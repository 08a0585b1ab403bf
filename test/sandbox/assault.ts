import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { findSandbox, type Profile, type Sandbox } from "../../src/sandbox/sandbox.ts"
import { attacks, forbidden, hopeless } from "./attacks.ts"
import { reads } from "./reads.ts"
import { type Stage, stage } from "./stage.ts"

/** A program of its own, so that it can be another user's: `assault.ts fenced | bare | writable | reads`. Prints what was found as JSON. */
type Ran = { code: number | null; stdout: string; stderr: string }

async function ran(
  command: string,
  { work, env }: Stage,
  fence?: { sandbox: Sandbox; profile: Profile },
): Promise<Ran> {
  const args = ["bash", "--noprofile", "--norc", "-c", command] as const
  const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"]
  const child = fence
    ? fence.sandbox.spawn(args, fence.profile, { stdio })
    : spawn(args[0], args.slice(1), { cwd: work, env, stdio, detached: true })
  const [stdout, stderr] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")])
  return { code: child.exitCode, stdout, stderr }
}

async function main(mode: string | undefined): Promise<unknown> {
  const found = await findSandbox({ env: process.env })()
  if (!found.ok) throw new Error(`${found.why}; ${found.fix}`)
  const here = await stage()
  const profile: Profile = {
    level: "read-only",
    network: false,
    root: here.work,
    writable: [],
    readable: [here.sockets],
    env: here.env,
  }
  const fence = { sandbox: found.sandbox, profile }
  const results: Record<string, unknown> = {}
  try {
    switch (mode) {
      case "fenced":
        for (const [name, command] of Object.entries({ ...attacks, ...hopeless })) {
          const { stdout } = await ran(command, here, fence)
          results[name] = here.traces(stdout)
        }
        return results
      case "writable":
        for (const [name, command] of Object.entries(forbidden)) {
          const { stdout } = await ran(command, here, { ...fence, profile: { ...profile, level: "workspace-write" } })
          results[name] = here.traces(stdout)
        }
        return results
      case "bare":
        for (const [name, command] of Object.entries(attacks)) {
          const { stdout } = await ran(command, here)
          results[name] = here.traces(stdout).length > 0
          here.restore()
        }
        return results
      case "reads":
        for (const command of reads) {
          const [outside, inside] = await Promise.all([ran(command, here), ran(command, here, fence)])
          results[command] = { outside, inside }
        }
        return results
      default:
        throw new Error(`there is no mode ${mode}`)
    }
  } finally {
    await here.close()
  }
}

console.log(JSON.stringify(await main(process.argv[2])))
