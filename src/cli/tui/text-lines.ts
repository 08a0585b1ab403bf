import { truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui"
import { printable } from "../../core/one-line.ts"
import type { Paint } from "./theme.ts"

/** A text of others as it may be shown: nothing in it steers the terminal, and every letter has a width. */
export const safe = (text: string): string => printable(text).replaceAll("\t", "    ")

/** A line without styles, cut to so many columns. */
export const cutTo = (line: string, width: number): string =>
  visibleWidth(line) <= width ? line : truncateToWidth(line, width, "…").replaceAll("\u001b[0m", "")

/** A line with styles that must not be wider than the screen, whatever made it. */
export function fit(line: string, width: number): string {
  if (!line.includes("\u001b")) return cutTo(line, width)
  return visibleWidth(line) <= width ? line : truncateToWidth(line, width, "…")
}

/** The rows that a safe text takes, at most so many; what is left out is counted. */
export function wrapped(text: string, width: number, most = Number.POSITIVE_INFINITY): string[] {
  const lines = text.split("\n")
  const rows: string[] = []
  for (const [at, line] of lines.entries()) {
    // A line that is longer than all rows together need not be wrapped to its end.
    const shown = line.length > most * width ? line.slice(0, most * width) : line
    for (const row of wrapTextWithAnsi(shown, Math.max(1, width))) {
      if (rows.length === most) return [...rows, more(lines.length - at)]
      rows.push(row.trimEnd())
    }
  }
  return rows
}

const more = (lines: number): string => `… +${lines} ${lines === 1 ? "line" : "lines"}`

/** The first lines of many, and how many more there are. One more line is as good as a word about it. */
export const firsts = (lines: readonly string[], most: number): string[] =>
  lines.length <= most + 1 ? [...lines] : [...lines.slice(0, most), more(lines.length - most)]

/** The last lines of many, below how many more there are. */
export const lasts = (lines: readonly string[], most: number): string[] =>
  lines.length <= most + 1 ? [...lines] : [more(lines.length - most), ...lines.slice(-most)]

/** The lines of a text that say something. */
export const spoken = (text: string): string[] => text.split("\n").filter((line) => line.trim() !== "")

/** What belongs to the line above it. */
export const below = (lines: readonly string[], dim: Paint): string[] =>
  lines.map((line, at) => `${at === 0 ? dim("  └ ") : "    "}${line}`)

/** Columns that `below` leaves. */
export const roomBelow = (width: number): number => Math.max(1, width - 4)
