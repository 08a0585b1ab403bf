import type { Details } from "../core/access.ts"
import { headOf } from "./cap.ts"
import { countLines } from "./text.ts"

const longest = 50_000

/** What changed, for people. A change too wild to compare in a moment is only counted. */
export async function diffOf(path: string, before: string, after: string): Promise<Details> {
  const { structuredPatch, formatPatch } = await import("diff")
  const patch = structuredPatch(path, path, before, after, undefined, undefined, { context: 3, timeout: 500 })
  if (!patch) return { kind: "diff", path, diff: "", added: countLines(after), removed: countLines(before) }
  const lines = patch.hunks.flatMap((hunk) => hunk.lines)
  const text = formatPatch(patch, { includeIndex: false, includeUnderline: false, includeFileHeaders: true })
  return {
    kind: "diff",
    path,
    diff: text.length > longest ? `${headOf(text, longest)}\n… (cut)\n` : text,
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  }
}
