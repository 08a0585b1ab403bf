import { existsSync, readFileSync } from "node:fs"
import type { Trouble } from "./probe.ts"

/** What stands in the way of a fence, and how to get it out of the way. */
export function obstacle(trouble: Trouble, look: (path: string) => string = setting): { why: string; fix: string } {
  if (trouble.kind === "open") {
    return {
      why: `the fence does not hold: it lets through ${trouble.leaks.join(", ")}`,
      fix: "bring bubblewrap and the kernel up to date",
    }
  }
  const why = `the fence does not start: ${trouble.said}`
  const known = settings.find(({ path, bad }) => look(path) === bad)
  if (known) return { why, fix: known.fix }
  if (isContainer()) return { why, fix: container }
  return {
    why,
    fix: "see that this user may make user namespaces (unshare -U true), and that bubblewrap is up to date",
  }
}

const settings = [
  {
    path: "/proc/sys/kernel/unprivileged_userns_clone",
    bad: "0",
    fix: "allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1",
  },
  {
    path: "/proc/sys/user/max_user_namespaces",
    bad: "0",
    fix: "allow user namespaces: sysctl -w user.max_user_namespaces=15000",
  },
  {
    path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    bad: "1",
    fix:
      "give bubblewrap an AppArmor profile that allows userns (on Ubuntu: apt install apparmor-profiles, then link " +
      "bwrap-userns-restrict into /etc/apparmor.d), or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  },
]

const container =
  "in a container, namespaces must be allowed from outside: docker run --security-opt seccomp=unconfined " +
  "--security-opt apparmor=unconfined --security-opt systempaths=unconfined"

const isContainer = (): boolean => existsSync("/.dockerenv") || existsSync("/run/.containerenv")

function setting(path: string): string {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    return ""
  }
}
