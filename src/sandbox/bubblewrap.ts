import { existsSync, realpathSync, statSync } from "node:fs"
import { totalmem } from "node:os"
import { join } from "node:path"
import { awaited, guards } from "./guards.ts"
import { type Layout, layout } from "./layout.ts"
import { masked } from "./masks.ts"
import type { Place } from "./places.ts"
import type { Profile, Sandbox } from "./sandbox.ts"
import { StandIns } from "./stand-in.ts"
import { start } from "./start.ts"
import { variables } from "./variables.ts"

type Options = {
  /** The program, by its absolute path. */
  program: string
  version: readonly number[]
  filter: Buffer
  /** Whose files are hidden. */
  homes: readonly string[]
}

/** The fence of Linux. */
export function bubblewrap({ program, version, filter, homes }: Options): Sandbox {
  const standIns = new StandIns()
  // Older ones can neither forbid new user namespaces themselves, so the filter does it alone, nor bound what is private.
  const isNew = compare(version, [0, 8]) >= 0
  const words = isNew
    ? { room: ["--size", `${Math.floor(totalmem() / 8)}`], shut: ["--perms", "0000"] }
    : { room: [], shut: [] }
  return {
    spawn(command, profile, { stdio }) {
      if (realpathSync(profile.root) !== profile.root) {
        throw new Error(`${profile.root} is reached through a link by now; name the folder itself`)
      }
      const plan = layout(profile, homes)
      const stands = plan.writable.flatMap((folder) => awaited.map((name) => join(folder, name)))
      const { release } = standIns.hold(stands)
      try {
        const guarded = plan.writable.flatMap((folder) => guards(folder))
        const kept = masked((profile.masked ?? []).filter(existsSync), { ...plan, kept: guarded })
        const options = [...(isNew ? ["--disable-userns"] : []), ...within({ profile, plan, kept, words })]
        return start({
          program,
          options,
          filter,
          command,
          root: profile.root,
          stdio,
          ...(stands.length > 0 && { gone: release }),
        })
      } catch (error) {
        release()
        throw error
      }
    },
  }
}

const compare = ([a = 0, ...as]: readonly number[], [b = 0, ...bs]: readonly number[]): number =>
  a - b || (as.length + bs.length > 0 ? compare(as, bs) : 0)

/** What comes before an empty folder, so that it is bounded, and so that nobody can look into it. */
type Words = { room: readonly string[]; shut: readonly string[] }
type Within = { profile: Profile; plan: Layout; kept: readonly Place[]; words: Words }

/** As options of bubblewrap, each mount over the ones before it. */
function within({ profile, plan, kept, words }: Within): string[] {
  return [
    ...["--die-with-parent", "--new-session", "--unshare-all", "--unshare-user", "--cap-drop", "ALL"],
    ...(profile.network ? ["--share-net"] : []),
    ...["--ro-bind", "/", "/"],
    // As root, files of the kernel could be written through it, with no capability at all.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    ...[...plan.places, ...kept].flatMap((place) => mounted(place, words)),
    ...plan.homes.flatMap((home) => ["--dir", home]),
    ...["--chdir", profile.root],
    ...Object.entries(variables(profile, plan.temporary)).flatMap(([name, value]) => ["--setenv", name, value]),
  ]
}

function mounted({ path, look }: Place, { room, shut }: Words): string[] {
  switch (look) {
    case "read":
      return ["--ro-bind", path, path]
    case "write":
      return ["--bind", path, path]
    case "hidden":
      if (path === "/dev") return ["--dev", "/dev"]
      return statSync(path).isDirectory() ? [...room, "--tmpfs", path] : closed(path)
    case "masked":
      return statSync(path).isDirectory() ? [...shut, "--tmpfs", path, "--remount-ro", path] : closed(path)
    default:
      return look satisfies never
  }
}

/** A device that no mount of ours lets anybody open. */
const closed = (path: string): string[] => ["--ro-bind", "/dev/null", path]
