import type { ChildProcess, StdioOptions } from "node:child_process"
import { existsSync } from "node:fs"
import { userInfo } from "node:os"
import type { Fence } from "../core/access.ts"
import { filter } from "./filter.ts"
import { bubblewrapIn, findBubblewrap } from "./linux.ts"
import { findSeatbelt, program as seatbeltProgram } from "./seatbelt.ts"

/** All that a fenced command gets; `profileFor` makes one of a fence. Paths are absolute. */
export type Profile = Omit<Fence, "hidden"> & {
  /** The workspace, resolved; the command starts here. */
  root: string
  /** Folders beside it that may be written, where the level lets anything be written. */
  writable: readonly string[]
  /** Files and folders that stay visible though they lie in what is hidden. */
  readable: readonly string[]
  /** Files and folders that can neither be read nor moved, resolved. */
  masked?: readonly string[]
  /** The environment inside; the caller has taken the secrets out. */
  env: Record<string, string>
}

export interface Sandbox {
  /** Starts a program in the fence, in a process group of its own. Throws when the fence cannot hold as asked. */
  spawn(command: readonly string[], profile: Profile, options: { stdio: StdioOptions }): ChildProcess
}

/** The fence of this system, or what is in its way and what to do about it. */
export type Found = { ok: true; sandbox: Sandbox; what: string } | { ok: false; why: string; fix: string }

type Options = {
  env: NodeJS.ProcessEnv
  platform?: NodeJS.Platform
  arch?: string
  /** Where programs of the system are. Not PATH: a project may have put a folder of its own there. */
  folders?: readonly string[]
}

/** The fence of this system. It is tested before its first use, once. */
export function findSandbox(options: Options): () => Promise<Found> {
  let found: Promise<Found> | undefined
  return () => (found ??= find(options))
}

async function find({
  env,
  platform = process.platform,
  arch = process.arch,
  folders = system,
}: Options): Promise<Found> {
  const homes = [env.HOME ?? "", ...accountHome()]
  switch (platform) {
    case "linux":
      return findBubblewrap({ homes, arch, folders })
    case "darwin":
      return findSeatbelt({ homes })
    default:
      return {
        ok: false,
        why: `there is no fence for commands on ${platform}`,
        fix: "use Linux or macOS; on Windows, the Linux subsystem",
      }
  }
}

/** Whether the fence is installed at all, which says nothing of whether it holds. */
export function isInstalled({
  platform = process.platform,
  arch = process.arch,
  folders = system,
}: Omit<Options, "env"> = {}): boolean {
  if (platform === "darwin") return existsSync(seatbeltProgram)
  return platform === "linux" && filter(arch) !== undefined && bubblewrapIn(folders) !== undefined
}

const system = ["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin", "/nix/var/nix/profiles/default/bin"]

/** Users of containers often have no account. */
function accountHome(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}
