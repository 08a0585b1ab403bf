import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { awaited, guards } from "./guards.ts"
import { probe } from "./probe.ts"
import { real } from "./real.ts"
import type { Found, Profile, Sandbox } from "./sandbox.ts"
import { toolchains, userSettings } from "./toolchains.ts"
import { variables } from "./variables.ts"

export const program = "/usr/bin/sandbox-exec"

/** The fence of macOS. It was never tried on one: only the test before its first use vouches for it. */
export async function findSeatbelt({ homes }: { homes: readonly string[] }): Promise<Found> {
  if (!existsSync(program)) return { ok: false, why: `${program} is missing`, fix: "bring macOS up to date" }
  const sandbox = seatbelt(homes.flatMap(real))
  const trouble = await probe(sandbox)
  if (!trouble) return { ok: true, sandbox, what: "sandbox-exec" }
  const what = trouble.kind === "open" ? `it lets through ${trouble.leaks.join(", ")}` : trouble.said
  return { ok: false, why: `the fence does not hold here: ${what}`, fix: "report this with the version of macOS" }
}

const seatbelt = (homes: readonly string[]): Sandbox => ({
  spawn(command, profile, { stdio }) {
    const temporary = realpathSync(mkdtempSync(join(tmpdir(), "legwork-")))
    const tidy = () => rmSync(temporary, { recursive: true, force: true })
    try {
      const child = spawn(program, ["-p", rules(profile, homes, temporary), ...command], {
        cwd: profile.root,
        env: variables(profile, temporary),
        detached: true,
        stdio,
      })
      return child.once("exit", tidy).once("error", tidy)
    } catch (error) {
      tidy()
      throw error
    }
  },
})

/** Later rules win. Names that do not exist yet can be refused here, so no folder stands in for them. */
export function rules(profile: Profile, homes: readonly string[], temporary: string): string {
  const { root, env, level, network } = profile
  const writable = level === "workspace-write" ? [root, ...profile.writable.flatMap(real)] : []
  const shown = [...toolchains(env, homes), ...userSettings(env, homes), ...profile.readable, root, temporary]
  return [
    "(version 1)",
    "(allow default)",
    "(deny mach-lookup mach-register appleevent-send lsopen)",
    '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.trustd.agent"))',
    "(deny signal process-info*)",
    "(allow signal process-info* (target same-sandbox))",
    ...(network ? reached : ["(deny network*)"]),
    `(deny file-read-data ${homes.map(below).join(" ")})`,
    `(allow file-read-data ${shown.map(below).join(" ")})`,
    "(deny file-write*)",
    `(allow file-write* ${[...writable, temporary, "/dev"].map(below).join(" ")})`,
    ...writable
      .flatMap((folder) => guards(folder).filter(({ look }) => look === "read"))
      .map(({ path }) => `(deny file-write* ${below(path)})`),
    ...writable.flatMap((folder) => awaited.map((name) => `(deny file-write* ${below(join(folder, name))})`)),
    ...(profile.masked ?? []).map((path) => `(deny file-read* file-write* ${below(path)})`),
  ].join("\n")
}

/** Names are looked up over a socket of the file system; no other one is needed. */
const reached = [
  '(deny network-outbound (remote unix-socket (path-regex #"^/")))',
  '(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))',
]

const below = (path: string): string => `(subpath ${JSON.stringify(path)})`
