import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { findSandbox, type Profile } from "../../src/sandbox/sandbox.ts"

const found = await findSandbox({ env: process.env })()

/** Whether this machine lets us fence anything at all. Where it does, a fence of ours that is none is a failure, not a reason to skip. */
const isPossible =
  spawnSync("bwrap", ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--proc", "/proc", "true"]).status === 0
if (!found.ok && isPossible) throw new Error(found.why)

/** Where there is no fence its tests are skipped, and say why. */
export const needsFence = { skip: found.ok ? false : `${found.why}; ${found.fix}` }

export const sandbox = found.ok ? found.sandbox : undefined!

export const profileOf = (root: string, more: Partial<Profile> = {}): Profile => ({
  level: "read-only",
  network: false,
  root,
  writable: [],
  readable: [],
  env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" },
  ...more,
})

/** What a line of bash prints in the fence, both outputs together, and its exit code. */
export async function ran(command: string, profile: Profile): Promise<[output: string, code: number | null]> {
  const args = ["bash", "--noprofile", "--norc", "-c", `exec 2>&1; ${command}`]
  const child = sandbox.spawn(args, profile, { stdio: ["ignore", "pipe", "inherit"] })
  const [output] = await Promise.all([text(child.stdout!), once(child, "exit")])
  return [output, child.exitCode]
}
