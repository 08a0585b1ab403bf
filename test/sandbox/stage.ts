import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ripgrepPath } from "../../src/tools/ripgrep.ts"
import { listen } from "./outside.ts"

/** A workspace and everything around it that a command might touch, all of it watched. */
export type Stage = {
  work: string
  /** Where sockets listen. */
  sockets: string
  env: Record<string, string>
  /** What differs from how it was, in words; what a command printed counts too. */
  traces(printed?: string): string[]
  /** As it was at first. */
  restore(): void
  close(): Promise<void>
}

export async function stage(): Promise<Stage> {
  const token = `legwork-${randomBytes(6).toString("hex")}`
  const secret = `secret-${randomBytes(12).toString("hex")}`
  const base = realpathSync(mkdtempSync(join(tmpdir(), "legwork-stage-")))
  const [variable, shared] = ["/var/tmp", "/dev/shm"].map((folder) => mkdtempSync(join(folder, "legwork-stage-"))) as [
    string,
    string,
  ]
  const [work, home, out, sockets, copy] = ["work", "home", "out", "sockets", "copy"].map((name) =>
    join(base, name),
  ) as Five
  const open = unhidden() ?? out
  const folders = [...new Set([work, home, out, variable, shared, open])]
  fill({ work, home, others: [out, variable, shared, open], secret })
  for (const folder of folders) copied(folder, join(copy, folder))
  const outside = await listen(sockets, token)
  const victim = spawn("sleep", ["1000"], { stdio: "ignore" })
  await once(victim, "spawn")
  const seen = () => [...folders.flatMap(listed), ...temporary(token), ...kernel(), fateOf(victim)]
  const first = new Map(folders.map((folder) => [folder, listed(folder).join()]))
  let before = seen()
  return {
    work,
    sockets,
    env: {
      ...environment(home),
      ...{ W: work, OUT: out, VAR: variable, SHM: shared, OPEN: open, TOKEN: token, VICTIM: `${victim.pid}` },
      ...outside.env,
    },
    traces(printed = "") {
      const after = seen()
      return [
        ...before.filter((line) => !after.includes(line)).map((line) => `gone: ${line}`),
        ...after.filter((line) => !before.includes(line)).map((line) => `new: ${line}`),
        ...outside.heard.splice(0),
        ...[secret, ofParent].filter((each) => printed.includes(each)).map((each) => `read: ${each}`),
      ]
    },
    restore() {
      for (const path of temporary(token)) rmSync(path, { recursive: true, force: true })
      for (const folder of folders) {
        if (listed(folder).join() === first.get(folder)) continue
        rmSync(folder, { recursive: true, force: true })
        copied(join(copy, folder), folder)
      }
      before = seen()
    },
    async close() {
      victim.kill("SIGKILL")
      outside.close()
      for (const folder of [base, variable, shared, open]) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A folder in a place that everybody can see, if we may write to any. */
function unhidden(): string | undefined {
  try {
    return mkdtempSync("/var/legwork-stage-")
  } catch {
    return undefined
  }
}

type Five = [string, string, string, string, string]

/** In the environment of this process, which no command may see. */
const ofParent = process.env.LEGWORK_TEST ?? "unset"

const environment = (home: string) => ({
  PATH: [dirname(process.execPath), dirname(ripgrepPath()), "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"].join(":"),
  HOME: home,
  LANG: "C.UTF-8",
  PAGER: "cat",
  GIT_PAGER: "cat",
})

function copied(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  execFileSync("cp", ["-a", from, to])
}

type Folders = { work: string; home: string; others: string[]; secret: string }

function fill({ work, home, others, secret }: Folders): void {
  const put = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  put(join(work, "file.txt"), "line 2\nline 1\nline 3\nline 2\n")
  put(join(work, "src/deep/code.ts"), "export const answer = 42\n")
  put(join(work, "data.json"), '{"a":[1,2,{"b":"c"}]}\n')
  put(join(work, "package.json"), '{"name":"stage","version":"1.0.0","dependencies":{}}\n')
  put(join(work, "Makefile"), "all:\n\ttouch by-make\n")
  put(join(work, "hooks/pre-commit"), "#!/bin/sh\ntouch by-hook\n")
  put(join(work, "empty/.keep"), "")
  put(join(work, ".legwork/settings.json"), "{}\n")
  put(join(work, ".envrc"), "export A=b\n")
  const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" }
  mkdirSync(home)
  put(join(home, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n")
  const git = (...args: string[]) => execFileSync("git", args, { cwd: work, env, stdio: "ignore" })
  git("init", "-q", "--template=")
  git("add", "-A")
  git("commit", "-qm", "first")
  put(join(work, "file.txt"), "line 2\nline 1\nline 3\nline 2\nline 4\n")
  git("commit", "-qam", "second")
  put(join(work, "src/deep/code.ts"), "export const answer = 43\n")
  put(join(work, "untracked.txt"), "new\n")
  git("init", "-q", "--template=", "libs/sub")
  put(join(work, ".gitmodules"), '[submodule "sub"]\n\tpath = libs/sub\n\turl = ../sub\n')
  put(join(home, ".bashrc"), "# mine\n")
  put(join(home, ".ssh/id_ed25519"), `${secret}\n`)
  put(join(home, ".config/app/token"), `${secret}\n`)
  for (const folder of others) put(join(folder, "seen.txt"), `${secret}\n`)
}

const listed = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => described(join(folder, name)))

function described(path: string): string {
  const { mode, size, mtimeMs, uid } = lstatSync(path)
  const kind = mode & 0o170000
  const content = kind === 0o100000 ? hashOf(path) : kind === 0o120000 ? readlinkSync(path) : ""
  // A folder's time changes with what is in it, which is listed itself.
  return [path, mode.toString(8), uid, ...(kind === 0o40000 ? [] : [size, mtimeMs]), content].join(" ")
}

const hashOf = (path: string): string => createHash("sha1").update(readFileSync(path)).digest("hex")

const temporary = (token: string): string[] =>
  ["/tmp", "/var/tmp", "/dev/shm"].flatMap((folder) =>
    readdirSync(folder).flatMap((name) => (name.includes(token) ? [join(folder, name)] : [])),
  )

const kernel = (): string[] =>
  ["hostname", "core_pattern", "panic"].map(
    (name) => `${name} ${readFileSync(`/proc/sys/kernel/${name}`, "utf8").trim()}`,
  )

/** Whether it lives, sleeps, and with which priority, limits and tracer. */
function fateOf({ pid }: ChildProcess): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8")
  try {
    const fields = read("stat").split(") ")[1]!.split(" ")
    const traced = /TracerPid:\s*\d+/.exec(read("status"))![0]
    const files = /Max open files.*/.exec(read("limits"))![0]
    return [fields[0], fields[16], traced, files, read("oom_score_adj").trim()].join(" ")
  } catch {
    return "the victim is dead"
  }
}
