import { closeSync, type Dirent } from "node:fs"
import { readdir, readlink } from "node:fs/promises"
import * as z from "zod"
import { type Tool, tool } from "../agent/scope.ts"
import { codeOf } from "../core/error.ts"
import { capped } from "./cap.ts"
import { pathInput, tolerant } from "./input.ts"
import { missing } from "./missing.ts"
import { type OpenFolder, openFolder } from "./open.ts"
import { printable, readAccess, readable, shown } from "./paths.ts"
import { ripgrep } from "./ripgrep.ts"
import type { World } from "./world.ts"

const mostShown = 500

const input = tolerant(
  { file_path: "path" },
  z.strictObject({ path: pathInput.optional().describe("folder, default the root") }),
)

export const ls = (world: World): Tool =>
  tool({
    name: "ls",
    description: "List one folder: folders end in /, links show their target. Leaves out what .gitignore names.",
    input,
    repeatable: true,
    access: ({ path = "." }, root) => readAccess(world, path, root),
    async run(asked, use) {
      const path = readable(world, asked.path ?? ".", use)
      const name = shown(path, use.root)
      const folder = await openFolder(path).catch(async (error) => {
        if (codeOf(error) === "ENOENT") throw await missing(world, path, use)
        throw codeOf(error) === "ENOTDIR" ? new Error(`${name} is not a folder: read it instead`) : error
      })
      try {
        const all = await readdir(folder.at("."), { withFileTypes: true })
        const skipped = await ignored(world, folder, use.signal)
        const kept = all.filter((entry) => !skipped.has(entry.name)).sort((a, b) => (a.name < b.name ? -1 : 1))
        const rows = await Promise.all(kept.slice(0, mostShown).map((entry) => row(entry, folder)))
        const text = told(name, rows, { kept: kept.length, ignored: all.length - kept.length })
        return {
          ok: true,
          text: await capped(text, { keep: world.keep, name: `${use.call}.txt` }),
          details: { kind: "found", shown: rows.length, total: kept.length },
        }
      } finally {
        closeSync(folder.descriptor)
      }
    },
  })

/** Ripgrep tells of each entry that it passes over, folders too, only in its log. */
async function ignored(world: World, folder: OpenFolder, signal: AbortSignal): Promise<Set<string>> {
  const args = ["--files", "--max-depth=1", "--debug", "--", "./"]
  const { complaint } = await ripgrep(world, { args, on: folder, signal, take: () => {} })
  const names = complaint.matchAll(/: ignoring \.\/(.*): Ignore\(IgnoreMatch\(Gitignore\(/g)
  return new Set(Array.from(names, ([, name]) => name!))
}

async function row(entry: Dirent, folder: OpenFolder): Promise<string> {
  const name = printable(entry.name)
  if (entry.isDirectory()) return `${name}/`
  if (entry.isSymbolicLink()) return `${name} -> ${printable(await readlink(folder.at(entry.name)).catch(() => "?"))}`
  return entry.isFile() ? name : `${name} (not a regular file)`
}

function told(name: string, rows: readonly string[], { kept, ignored }: { kept: number; ignored: number }): string {
  const notes: string[] = []
  if (kept > rows.length) notes.push(`${rows.length} of ${kept} shown; use glob to find one`)
  if (ignored > 0) notes.push(`${ignored} ignored by .gitignore`)
  if (kept === 0 && ignored === 0) return `(${name} is empty)`
  return [...rows, ...(notes.length > 0 ? ["", `(${notes.join("; ")})`] : [])].join("\n").trimStart()
}
