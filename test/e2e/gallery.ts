import assert from "node:assert/strict"
import { readFile, writeFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { Home } from "./binary.ts"

const page = resolve(import.meta.dirname, "../../docs/terminal.md")

/** The picture of this name in docs/terminal.md is this screen. With UPDATE_SCREENS=1 it becomes so. */
export async function pictured(name: string, text: string, place: Home): Promise<void> {
  const shown = normal(text, place)
  const written = await readFile(page, "utf8")
  const picture = new RegExp(`(<!-- screen: ${name} -->\\n\`{4}text\\n)([^]*?)(\\n\`{4}\\n)`)
  const found = picture.exec(written) ?? assert.fail(`docs/terminal.md has no place for the screen ${name}`)
  if (process.env.UPDATE_SCREENS !== "1")
    return assert.equal(shown, found[2], `${name} looks otherwise now: UPDATE_SCREENS=1 writes it anew`)
  await writeFile(
    page,
    written.replace(picture, (_, before, __, after) => before + shown + after),
  )
}

/** What differs from one time to the next, always the same: times, ids, the folder, our version. */
function normal(text: string, { work }: Home): string {
  const lines = text.replaceAll(work, "/home/you/project").split("\n").map(timeless)
  return lines.join("\n").replace(/\n+$/, "")
}

const changing: [RegExp, string][] = [
  [/(?<![\w$])\d+(m \d+|\.\d)?s\b/, "4s"],
  [/\d{8}-\d{6}-[0-9a-f]{16}/, "20260101-120000-0123456789abcdef"],
  [/\b[0-9a-f]{8}\b(?!-\d)/, "4f53edb7"],
  [/\(\d+ lines, \d+ characters\)/, "(11 lines, 1083 characters)"],
  [/^legwork \d+\.\d+\.\d+/, "legwork 0.1.0"],
]

/** What stands at the right edge stays there. */
function timeless(line: string): string {
  const changed = changing.reduce((text, [what, word]) => text.replace(new RegExp(what, "g"), word), line)
  const by = line.length - changed.length
  return changed.replace(/ {4,}(?=\S+$)/, (gap) => " ".repeat(Math.max(1, gap.length + by)))
}
