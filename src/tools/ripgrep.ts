import { spawn } from "node:child_process"
import { closeSync } from "node:fs"
import { createRequire } from "node:module"
import { codeOf } from "../core/error.ts"
import { type OpenFolder, openFolder } from "./open.ts"
import { printable } from "./paths.ts"
import { patiently } from "./patience.ts"
import type { World } from "./world.ts"

/** Hidden files count, what .gitignore names does not, also where there is no repository; .git itself never. */
const searched = ["--no-config", "--hidden", "--no-require-git", "--no-messages", "--color=never", "--glob=!.git"]

export type Search = {
  args: readonly string[]
  /** A folder held open, in which it works, or an open file that it reads. */
  on: OpenFolder | { descriptor: number }
  signal: AbortSignal
  timeout?: number
  take(text: string): void
}

/** `complaint`: what it wrote to its error output, the log of `--debug` included. */
export type Searched = { found: boolean; complaint: string }

const longestComplaint = 1024 * 1024

/** The path of the binary, for a `World`. */
export const ripgrepPath = (): string => createRequire(import.meta.url)("@vscode/ripgrep").rgPath

/** Runs ripgrep: no shell, no settings of the user, nothing to wait for, and an end that is sure. */
export const ripgrep = (world: World, search: Search): Promise<Searched> => patiently(() => once(world, search))

function once(world: World, { args, on, signal, timeout = 20_000, take }: Search): Promise<Searched> {
  signal.throwIfAborted()
  const folder = "at" in on ? on : undefined
  return new Promise((resolve, reject) => {
    const child = spawn(world.ripgrep(), [...searched, ...args], {
      // Through the descriptor: the folder that was judged, wherever its path leads by now.
      cwd: folder?.at(".") ?? "/",
      env: home(world.env),
      stdio: [folder ? "ignore" : on.descriptor, "pipe", "pipe"],
    })
    let late = false
    const kill = () => child.kill("SIGKILL")
    const timer = setTimeout(() => {
      late = true
      kill()
    }, timeout)
    signal.addEventListener("abort", kill, { once: true })
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", kill)
    }
    let complaint = ""
    child.stdout?.setEncoding("utf8").on("data", take)
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (complaint.length < longestComplaint) complaint += text
    })
    child.on("error", (error) => {
      settle()
      const words = `ripgrep could not be started (${error.message}): is @vscode/ripgrep installed for this system?`
      reject(Object.assign(new Error(words, { cause: error }), { code: codeOf(error) }))
    })
    child.on("close", (code) => {
      settle()
      if (signal.aborted) return reject(signal.reason)
      if (late) return reject(new Error(`the search took over ${timeout / 1000} s: narrow it with path, glob or type`))
      const wrong = complaint.replace(/^rg: DEBUG.*\n/gm, "").trim()
      if (code === 2 && wrong !== "") return reject(new Error(wrong.split("\n").map(printable).join("\n")))
      resolve({ found: code === 0, complaint })
    })
  })
}

const home = ({ HOME, XDG_CONFIG_HOME }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...(HOME !== undefined && { HOME }),
  ...(XDG_CONFIG_HOME !== undefined && { XDG_CONFIG_HOME }),
})

type Listing = { folder: string; depth?: number; signal: AbortSignal; timeout?: number }

/** The files below a folder, by path from it, in no order. */
export async function listFiles(world: World, { folder: path, depth, signal, timeout }: Listing): Promise<string[]> {
  const folder = await openFolder(path)
  try {
    let text = ""
    const files: string[] = []
    const args = ["--files", "--null", ...(depth === undefined ? [] : [`--max-depth=${depth}`]), "--", "./"]
    const take = (more: string) => {
      const names = (text + more).split("\0")
      text = names.pop() ?? ""
      for (const name of names) files.push(name.slice(2))
    }
    await ripgrep(world, { args, on: folder, signal, take, ...(timeout !== undefined && { timeout }) })
    return files
  } finally {
    closeSync(folder.descriptor)
  }
}
