import { isAbsolute, join, relative } from "node:path"
import * as z from "zod"
import { type Tool, tool, type Use } from "../agent/scope.ts"
import { codeOf } from "../core/error.ts"
import { isWithin } from "../core/within.ts"
import { capped } from "./cap.ts"
import { pathInput, patternInput, tolerant } from "./input.ts"
import { missing } from "./missing.ts"
import { printable, readAccess, readable, shown } from "./paths.ts"
import { matcher } from "./pattern.ts"
import { listFiles } from "./ripgrep.ts"
import type { World } from "./world.ts"

const mostShown = 200

const input = tolerant(
  { file_path: "path" },
  z.strictObject({
    pattern: patternInput.describe("like src/**/*.{ts,tsx}"),
    path: pathInput.optional().describe("folder to search, default the root"),
  }),
)

export const glob = (world: World): Tool =>
  tool({
    name: "glob",
    description: "Find files by name pattern, sorted by path. Skips what .gitignore names.",
    input,
    repeatable: true,
    access: ({ path = "." }, root) => readAccess(world, path, root),
    async run(asked, use) {
      const folder = readable(world, asked.path ?? ".", use)
      const pattern = fromFolder(asked.pattern, folder)
      const matches = matcher(pattern)
      const files = await filesIn(world, folder, pattern, use)
      const found = files.filter(matches).sort()
      const below = shown(folder, use.root)
      const names = found.slice(0, mostShown).map((file) => printable(join(below === "." ? "" : below, file)))
      const text = names.length === 0 ? nothing(pattern, below) : told(names, found.length)
      return {
        ok: true,
        text: await capped(text, { keep: world.keep, name: `${use.call}.txt` }),
        details: { kind: "found", shown: names.length, total: found.length },
      }
    },
  })

/** A pattern only ever chooses among the files below the folder: it leads nowhere itself. */
function fromFolder(pattern: string, folder: string): string {
  const plain = isAbsolute(pattern) && isWithin(pattern, folder) ? relative(folder, pattern) : pattern
  if (isAbsolute(plain) || plain.split("/").includes(".."))
    throw new Error(`${pattern}: a pattern starts at the folder; name another folder with path`)
  return plain
}

async function filesIn(world: World, folder: string, pattern: string, use: Use): Promise<string[]> {
  const depth = /\*\*|[{\\]/.test(pattern) ? undefined : pattern.replace(/^(\.\/)+/, "").split("/").length
  try {
    return await listFiles(world, { folder, signal: use.signal, ...(depth !== undefined && { depth }) })
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw await missing(world, folder, use)
    if (codeOf(error) === "ENOTDIR") throw new Error(`${shown(folder, use.root)} is not a folder`)
    throw error
  }
}

const told = (names: readonly string[], total: number): string =>
  total > names.length
    ? `${names.join("\n")}\n\n(${names.length} of ${total} shown; narrow the pattern or name a folder with path)`
    : names.join("\n")

const nothing = (pattern: string, below: string): string =>
  pattern.includes("/")
    ? `no file matches ${pattern} in ${below}`
    : `no file matches ${pattern} in ${below} itself; **/${pattern} also looks in the folders below`
