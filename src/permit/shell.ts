import { reasonOf } from "../core/error.ts"
import { Reader } from "./reader.ts"
import { baseOf, hole, isSure, type Word } from "./word.ts"

/** A file that a redirection opens. */
export type Target = { way: "read" | "write"; word: Word }

/** A simple command. One without words only sets variables or opens files. */
export type Part = {
  words: Word[]
  /** The variables set for it, by name. */
  set: { name: string; value: Word }[]
  targets: Target[]
  /** What it runs in turn. */
  runs: Part[]
  /** It does nothing of its own: only what it runs counts. */
  bare: boolean
  /** What allows it allows what it runs. */
  whole?: true
  /** Where among the words of whatever runs it its program stands, if it stands there as a word. */
  at?: number
  /** Why nobody can tell what it runs. */
  doubt?: string
}

/** `folders`: where relative paths may start from, seen from the root; absent if that depends. */
export type Parts = { ok: true; parts: Part[]; folders?: string[] } | { ok: false; why: string }

const longest = 32_768

/** The simple commands that a command line is made of, in the order in which they stand. */
export async function partsOf(command: string): Promise<Parts> {
  if (command.length > longest) return { ok: false, why: `it has over ${longest} characters` }
  if (command.includes(hole)) return { ok: false, why: "it holds a NUL character" }
  // Bash joins the lines before it looks for signs, the parser after.
  if (/[$<>&|;({[!=`]\\\n/.test(command)) return { ok: false, why: "a line in it ends in the middle of a sign" }
  const reader = new Reader(await import("unbash"))
  try {
    const parts = reader.read(command)
    const folders = foldersOf(allOf(parts), reader.doubts.repeats)
    return { ok: true, parts, ...(folders && { folders }) }
  } catch (error) {
    // A parser that gives up, for whatever reason, means a command that nobody can judge.
    return { ok: false, why: reasonOf(error) }
  }
}

/** Every part, also those that others run. */
export const allOf = (parts: readonly Part[]): Part[] => parts.flatMap((part) => [part, ...allOf(part.runs)])

/** One plain `cd` that runs at most once can be followed: it may also fail, so both folders count. */
function foldersOf(parts: readonly Part[], repeats: boolean): string[] | undefined {
  const moves = parts.filter(({ words }) => ["cd", "pushd", "popd"].includes(baseOf(words[0]?.text ?? "")))
  if (moves.length === 0) return ["."]
  const [name, folder, ...more] = moves[0]!.words
  if (moves.length > 1 || repeats || name?.text !== "cd" || !folder || more.length > 0) return undefined
  const isPlain = isSure(folder) && /^[^-~]/.test(folder.raw) && !folder.text.split("/").includes("..")
  return isPlain && !parts.some(({ set }) => set.some((each) => each.name === "CDPATH"))
    ? [".", folder.text]
    : undefined
}
