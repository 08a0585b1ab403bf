import { once } from "node:events"
import { readlinkSync } from "node:fs"
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { reasonOf } from "../core/error.ts"
import type { Sandbox } from "./sandbox.ts"

/** A fence that does not start, with what it said, or that lets through what it must not. */
export type Trouble = { kind: "closed"; said: string } | { kind: "open"; leaks: string[] }

/**
 * Each line tries one thing that a fence must stop, and names it if that went through. Runs inside, as `bash -c … folder port processes node`.
 * A socket must be refused by our filter and for no other reason; Perl says so ten times faster than Node, where there is one.
 */
const attempts = `
  mount -o remount,bind,rw "$0" && echo mounting anew
  : >"$0/written" && echo writing
  [ -w /usr ] && echo the system
  [ "$(readlink /proc/self/ns/pid)" = "$2" ] && echo signals to other processes
  read -rd '' _ </proc/1/environ && echo the environment of the fence itself
  : >>/proc/sys/kernel/hostname && echo settings of the kernel
  : <>"/dev/tcp/127.0.0.1/$1" && echo the network
  if type perl; then perl -e 'exit(socket(S, 1, 1, 0) || $! != 1)'
  else "$3" -e 'require("net").createServer().on("error", (e) => process.exit(e.code !== "EPERM")).listen("/tmp/probe")'
  fi >&2 || echo unix sockets`

const patience = 10_000

/** Tries a fence on a folder and a port of ours. Nothing said means that it holds. */
export async function probe(sandbox: Sandbox): Promise<Trouble | undefined> {
  let folder: string | undefined
  const server = createServer((socket) => socket.destroy())
  try {
    folder = await realpath(await mkdtemp(join(tmpdir(), "legwork-fence-")))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const leaks = await leaksOf(sandbox, folder, (server.address() as { port: number }).port)
    if ((await readdir(folder)).length > 0) leaks.push("files outside")
    return leaks.length > 0 ? { kind: "open", leaks } : undefined
  } catch (error) {
    return { kind: "closed", said: reasonOf(error) }
  } finally {
    server.close()
    if (folder) await rm(folder, { recursive: true, force: true })
  }
}

async function leaksOf(sandbox: Sandbox, folder: string, port: number): Promise<string[]> {
  const child = sandbox.spawn(
    ["bash", "--noprofile", "--norc", "-c", attempts, folder, `${port}`, processes(), process.execPath],
    {
      level: "read-only",
      network: false,
      root: folder,
      writable: [],
      readable: [process.execPath],
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin" },
    },
    { stdio: ["ignore", "pipe", "pipe"] },
  )
  const timer = setTimeout(() => child.kill("SIGKILL"), patience)
  try {
    const [said, complaint] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, "exit")])
    if (child.exitCode !== 0)
      throw new Error(complaint.trim() || `the test ended with ${child.signalCode ?? child.exitCode}`)
    return said.split("\n").filter(Boolean)
  } finally {
    clearTimeout(timer)
  }
}

/** By what name the system knows the processes that we see. */
function processes(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return "unknown"
  }
}
