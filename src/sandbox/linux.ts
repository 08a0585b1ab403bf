import { execFile } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { reasonOf } from "../core/error.ts"
import { obstacle } from "./blame.ts"
import { bubblewrap } from "./bubblewrap.ts"
import { filter } from "./filter.ts"
import { probe } from "./probe.ts"
import type { Found } from "./sandbox.ts"

type Options = { homes: readonly string[]; arch: string; folders: readonly string[] }

const installing = "install bubblewrap: apt install bubblewrap (or dnf, pacman -S, apk add, zypper in)"

export async function findBubblewrap({ homes, arch, folders }: Options): Promise<Found> {
  const words = filter(arch)
  if (!words) {
    return { ok: false, why: `the fence knows no filter for ${arch} processors`, fix: "use an x64 or arm64 machine" }
  }
  const program = bubblewrapIn(folders)
  if (!program) return { ok: false, why: "bubblewrap is not installed", fix: installing }
  const version = await versionOf(program)
  if (typeof version === "string") return { ok: false, why: version, fix: installing }
  const sandbox = bubblewrap({ program, version, filter: words, homes })
  const trouble = await probe(sandbox)
  return trouble ? { ok: false, ...obstacle(trouble) } : { ok: true, sandbox, what: `bubblewrap ${version.join(".")}` }
}

export const bubblewrapIn = (folders: readonly string[]): string | undefined =>
  folders.map((folder) => join(folder, "bwrap")).find(isExecutable)

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Its numbers, or why there are none. */
async function versionOf(program: string): Promise<number[] | string> {
  try {
    const { stdout } = await promisify(execFile)(program, ["--version"], { env: {}, timeout: 10_000 })
    const [numbers] = /\d+(\.\d+)+/.exec(stdout) ?? []
    return numbers ? numbers.split(".").map(Number) : `${program} does not say its version`
  } catch (error) {
    return `${program} does not start: ${reasonOf(error).trim()}`
  }
}
