import { once } from "node:events"
import { homedir } from "node:os"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import type { Use } from "../agent/scope.ts"
import { reasonOf } from "../core/error.ts"
import { profileFor } from "../sandbox/profile.ts"
import type { Spawn } from "./process.ts"
import type { World } from "./world.ts"

/** `trouble` is what kept the fence itself from starting, to be asked once it ended. */
type Fenced = { spawn: Spawn; trouble(): Promise<string | undefined> }

/** How a command is started that must be kept to something; why it cannot be, if it cannot. */
export async function fencedSpawn(
  world: World,
  { fence, root }: Pick<Use, "fence" | "root">,
  usual: Record<string, string>,
): Promise<Fenced | string | undefined> {
  if (!fence) return undefined
  const found = await world.sandbox()
  if (!found.ok) return `nothing was run: it may only run in a sandbox, and there is none (${found.why}; ${found.fix})`
  const { readable, writable } = world
  const place = { root, readable, writable, env: usual, home: world.env.HOME || homedir() }
  const profile = await profileFor(fence, place).catch(reasonOf)
  if (typeof profile === "string") return `nothing was run: rules keep some files from being read, and ${profile}`
  let said: () => Promise<string> = async () => ""
  return {
    spawn(file, args, { env, stdio }) {
      const streams = Array.isArray(stdio) ? stdio.with(2, "pipe") : "pipe"
      const given = { ...profile, env: env as Record<string, string> }
      const child = found.sandbox.spawn([file, ...args], given, { stdio: streams })
      said = heard(child.stderr)
      return child
    },
    trouble: async () => /^bwrap: .*/ms.exec(await said())?.[0].trim(),
  }
}

const most = 2_000
const patience = 1_000

/** The beginning of what comes until a stream ends. The shell in a fence says nothing here: its errors go with its output. */
function heard(stream: Readable | null): () => Promise<string> {
  let text = ""
  const ended = stream && once(stream, "close").catch(() => {})
  stream?.on("data", (chunk: Buffer) => {
    text = `${text}${chunk}`.slice(0, most)
  })
  return async () => {
    await Promise.race([ended, sleep(patience, undefined, { ref: false })])
    return text
  }
}
