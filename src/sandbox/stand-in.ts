import { mkdirSync, readdirSync, rmdirSync, statSync } from "node:fs"
import { codeOf } from "../core/error.ts"

/** Nobody else makes empty folders that cannot be written: one is ours, also when a crash left it behind. */
const rights = 0o555

/**
 * Empty folders that stand where nothing is, so that something can be mounted there and nobody else can make it.
 * They are there only while a command needs them, and commands at the same time share them. One that got a content is not ours any more.
 */
export class StandIns {
  #held = new Map<string, number>()

  /** The paths where one stands now, and what takes them away again. */
  hold(paths: readonly string[]): { held: string[]; release: () => void } {
    const held = paths.filter((path) => made(path))
    for (const path of held) this.#held.set(path, (this.#held.get(path) ?? 0) + 1)
    let done = false
    const release = () => {
      if (done) return
      done = true
      for (const path of held) this.#release(path)
    }
    return { held, release }
  }

  #release(path: string): void {
    const left = this.#held.get(path)! - 1
    if (left > 0) {
      this.#held.set(path, left)
      return
    }
    this.#held.delete(path)
    try {
      rmdirSync(path)
    } catch (error) {
      if (!["ENOENT", "ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(codeOf(error) ?? "")) throw error
    }
  }
}

function made(path: string): boolean {
  try {
    mkdirSync(path, rights)
    return true
  } catch (error) {
    if (codeOf(error) === "EEXIST") return isOurs(path)
    // Where we cannot make it, no command that we fence can.
    if (["EACCES", "EROFS", "ENOENT"].includes(codeOf(error) ?? "")) return false
    throw error
  }
}

function isOurs(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  return !!found?.isDirectory() && (found.mode & 0o222) === 0 && readdirSync(path).length === 0
}
