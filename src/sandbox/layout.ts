import { join } from "node:path"
import { isWithin } from "../core/within.ts"
import { repositoryOf } from "./git.ts"
import { arranged, lookOf, type Place } from "./places.ts"
import { both, real } from "./real.ts"
import type { Profile } from "./sandbox.ts"
import { toolchains, userSettings } from "./toolchains.ts"

export type Layout = {
  /** In the order in which they are mounted. */
  places: Place[]
  /** The folders that may be written. */
  writable: string[]
  /** Home folders that are hidden; programs want to find them empty rather than not at all. */
  homes: string[]
  /** A private folder for temporary files. */
  temporary: string
}

/** Where other programs keep sockets, other people's files and secrets. */
const shared = ["/tmp", "/var/tmp", "/run", "/home", "/root", "/dev"]
/** To write into all of one of these is to write into what runs outside. */
const vital = ["/", "/etc", "/usr", "/opt", "/boot", "/var", "/sys", "/proc"]

/** Hidden also in a home that is itself the workspace, and in the folders of tools. */
const secrets = [
  ".ssh .gnupg .aws .azure .kube .docker .config .password-store .mozilla .thunderbird .local/share/keyrings .local/state",
  ".netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf .bash_history .zsh_history .python_history .node_repl_history",
  ".cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml .gradle/gradle.properties",
  ".pub-cache/credentials.json .terraform.d .claude .codex .gemini",
].flatMap((names) => names.split(" "))

/** What only root can read of the system, so that it need not be hidden from anybody else. */
const keys = [
  "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/wireguard",
  "/etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key",
  "/etc/NetworkManager/system-connections /etc/krb5.keytab",
].flatMap((paths) => paths.split(" "))

/** How everything looks to a command: what it must not know is hidden, what it needs of that is shown, little is writable. */
export function layout(profile: Profile, owned: readonly string[]): Layout {
  const { root, env } = profile
  const homes = [...new Set([env.HOME ?? "", ...owned].flatMap(real))].filter((home) => home !== "/")
  const hidden = [...shared.flatMap(real), ...homes]
  const isNarrow = (path: string): boolean => ![...hidden, ...vital].some((place) => isWithin(place, path))
  const wanted = profile.level === "workspace-write" ? [root, ...profile.writable.flatMap(real)] : []
  const writable = wanted.filter(isNarrow)
  // A command may have put links into the workspace: where they lead is not shown for that.
  const own = [root, ...writable].filter(isNarrow)
  const isBeside = (path: string): boolean => !own.some((folder) => isWithin(path, folder))
  const needed = [
    ...toolchains(env, homes).filter(isBeside).flatMap(both).filter(isNarrow),
    ...repositoryOf(root).filter(isNarrow),
    ...userSettings(env, homes).flatMap(both),
    ...(profile.network ? real("/etc/resolv.conf") : []),
  ]
  const places = arranged([
    ...look("hidden", hidden),
    ...look("read", needed.filter(isBeside)),
    ...look(
      "hidden",
      homes.flatMap((home) => secrets.map((name) => join(home, name))),
    ),
    ...look("hidden", process.getuid?.() === 0 ? keys : []),
    ...look("read", [...profile.readable.filter(isBeside).flatMap(both), root]),
    ...look("write", writable),
  ])
  const isPrivate = (path: string): boolean => lookOf(path, places) === "hidden"
  return {
    places: places.flatMap(existing),
    writable,
    homes: homes.filter(isPrivate),
    temporary: ["/tmp", "/var/tmp"].find((path) => real(path).some(isPrivate)) ?? "/dev/shm",
  }
}

/** Nothing can be mounted over a link, so what is to be hidden is hidden where it is. */
const existing = ({ path, look }: Place): Place[] =>
  real(path).map((target) => ({ path: look === "hidden" ? target : path, look }))

const look = (how: Place["look"], paths: readonly string[]): Place[] => paths.map((path) => ({ path, look: how }))
