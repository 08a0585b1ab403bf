import { type ChildProcess, spawn } from "node:child_process"
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { TestContext } from "node:test"
import type { Event } from "../../src/core/event.ts"

export const bin = resolve(import.meta.dirname, "../../bin/legwork.cjs")

export type Ran = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }

export type Home = {
  /** The folder that the agent works in. */
  work: string
  state: string
  env: NodeJS.ProcessEnv
  file(path: string): Promise<string>
  run(args: string[], more?: More): Promise<Ran>
  start(args: string[], more?: More): Running
}

/** `input` is all of standard input; an open one never ends. */
type More = { env?: NodeJS.ProcessEnv; input?: string | { open: true }; cwd?: string }

export type Running = {
  child: ChildProcess
  /** Resolves with the first event that fits; only with stream-json. */
  event(fits: (event: Event) => boolean): Promise<Event>
  done: Promise<Ran>
}

/** An empty home and a folder with these files in it, gone after the test. */
export async function home(t: TestContext, files: Record<string, string> = {}): Promise<Home> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "legwork-e2e-")))
  t.after(() => rm(root, { recursive: true, force: true }))
  const work = join(root, "work")
  const state = join(root, "state")
  await mkdir(work)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(work, path, ".."), { recursive: true })
    await writeFile(join(work, path), text)
  }
  const { PATH } = process.env
  const env = { PATH, HOME: root, XDG_STATE_HOME: state, XDG_CONFIG_HOME: join(root, "config"), LANG: "C.UTF-8" }
  const start = (args: string[], { env: extra, input, cwd = work }: More = {}): Running => {
    const child = spawn(bin, args, {
      cwd,
      env: { ...env, ...extra },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    })
    t.after(() => child.kill("SIGKILL"))
    if (typeof input === "string") child.stdin?.end(input)
    return watch(child)
  }
  return {
    work,
    state,
    env,
    file: (path) => readFile(join(work, path), "utf8"),
    run: (args, more) => start(args, more).done,
    start,
  }
}

function watch(child: ChildProcess): Running {
  const ran: Ran = { code: null, signal: null, stdout: "", stderr: "" }
  const waiting: {
    fits: (event: Event) => boolean
    resolve: (event: Event) => void
    reject: (error: Error) => void
  }[] = []
  const seen: Event[] = []
  let line = ""
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
    ran.stdout += chunk
    line += chunk
    const lines = line.split("\n")
    line = lines.pop()!
    for (const each of lines) {
      if (!each.startsWith("{")) continue
      const event = JSON.parse(each) as Event
      seen.push(event)
      for (const one of waiting) if (one.fits(event)) one.resolve(event)
    }
  })
  child.stderr!.setEncoding("utf8").on("data", (chunk: string) => {
    ran.stderr += chunk
  })
  const done = new Promise<Ran>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => {
      Object.assign(ran, { code, signal })
      for (const one of waiting) one.reject(new Error(`it ended (${code ?? signal}) before that event\n${ran.stderr}`))
      resolve(ran)
    })
  })
  const event = (fits: (event: Event) => boolean) => {
    const found = seen.find(fits)
    if (found) return Promise.resolve(found)
    return new Promise<Event>((resolve, reject) => waiting.push({ fits, resolve, reject }))
  }
  return { child, event, done }
}

export const eventsOf = ({ stdout }: Ran): Event[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
