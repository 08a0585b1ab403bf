import { cutTo, firsts, safe } from "./text-lines.ts"
import type { Theme } from "./theme.ts"

/** A change to a file: its numbers, then its lines, each with a sign before it. */
type Change = { path: string; diff: string; added: number; removed: number }

export function diffLines(change: Change, { width, most, theme }: { width: number; most: number; theme: Theme }) {
  const { added, removed } = change
  const lines = bodyOf(change.diff)
  const shown = firsts(lines, most).map((line) => paintedLine(cutTo(line, width), theme))
  return [`${theme.added(`+${added}`)} ${theme.removed(`-${removed}`)}`, ...shown]
}

/** What follows the head of a diff, with a mark where lines are left out between two hunks. */
function bodyOf(diff: string): string[] {
  const lines = safe(diff).split("\n")
  const from = lines.findIndex((line) => line.startsWith("@@"))
  if (from < 0) return []
  const body = lines.slice(from + 1).filter((line) => line !== "" && !line.startsWith("\\ No newline"))
  return body.map((line) => (line.startsWith("@@") ? "⋮" : line))
}

function paintedLine(line: string, { added, removed, dim }: Theme): string {
  if (line.startsWith("+")) return added(line)
  return line.startsWith("-") ? removed(line) : dim(line)
}
