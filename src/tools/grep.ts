import { closeSync } from "node:fs"
import { basename, join } from "node:path"
import * as z from "zod"
import { type Tool, tool, type Use } from "../agent/scope.ts"
import { codeOf } from "../core/error.ts"
import { capped, headOf } from "./cap.ts"
import { Firsts } from "./firsts.ts"
import { count, pathInput, patternInput, tolerant } from "./input.ts"
import { missing } from "./missing.ts"
import { openFile, openFolder } from "./open.ts"
import { printable, readAccess, readable, shown } from "./paths.ts"
import { type Matches, matcher } from "./pattern.ts"
import { ripgrep, type Search } from "./ripgrep.ts"
import type { World } from "./world.ts"

const mostShown = 250
const mostAsked = 2_000
const width = 500

const input = tolerant(
  { file_path: "path", "-A": "context", "-B": "context", "-C": "context", "-n": null },
  z.strictObject({
    pattern: patternInput.describe("regular expression (Rust syntax)"),
    path: pathInput.optional().describe("file or folder, default the root"),
    glob: patternInput.optional().describe("only files like *.{ts,tsx} or src/**"),
    type: z.string().regex(/^\w+$/).optional().describe("only files of a kind: js, py, rust"),
    output_mode: z.enum(["content", "files_with_matches", "count"]).optional(),
    "-i": z.boolean().optional().describe("ignore case"),
    context: count(0).optional().describe("lines around each match"),
    multiline: z.boolean().optional(),
    head_limit: count(0).optional(),
    offset: count(0, 100_000).optional(),
  }),
)

/** A name with stars, or with alternatives that ripgrep reads just as we do, and something to tell names apart. */
const simple = /^(?=.*\w)(?:[\w.*?-]|\{[\w.*?-]+(?:,[\w.*?-]+)+\})+$/

type Input = z.output<typeof input>
type Mode = NonNullable<Input["output_mode"]>
/** Where to look: how its files are called from the root, and which of them count. */
type Place = { on: Search["on"]; name(file: string): string; counts: Matches; close(): void }

export const grep = (world: World): Tool =>
  tool({
    name: "grep",
    description: "Search file contents. Skips what .gitignore names. Default: content, with line numbers.",
    input,
    repeatable: true,
    access: ({ path = "." }, root) => readAccess(world, path, root),
    async run(asked, use) {
      const path = readable(world, asked.path ?? ".", use)
      const place = await placeOf(world, path, asked, use)
      try {
        return await search(world, asked, place, use)
      } finally {
        await place.close()
      }
    },
  })

async function search(world: World, asked: Input, place: Place, use: Use) {
  const { output_mode: mode = "content", head_limit, offset = 0 } = asked
  const limit = Math.min(head_limit || mostShown, mostAsked)
  const firsts = new Firsts(offset + limit)
  const take = rows(mode, (file, row) => {
    const name = place.name(file)
    if (place.counts(file)) firsts.add(name, row(printable(name)))
  })
  const target = "at" in place.on ? "./" : "-"
  await ripgrep(world, { args: [...argumentsFor(mode, asked), "--", target], on: place.on, signal: use.signal, take })
  const found = firsts.from(offset)
  const text = await capped(told(found, firsts.total, offset), { keep: world.keep, name: `${use.call}.txt` })
  return { ok: true, text, details: { kind: "found" as const, shown: found.length, total: firsts.total } }
}

async function placeOf(world: World, path: string, asked: Input, use: Use): Promise<Place> {
  const name = shown(path, use.root)
  const counts = countsFor(asked)
  try {
    const on = await openFolder(path)
    const below = name === "." ? "" : name
    return { on, name: (file) => join(below, file), counts, close: () => closeSync(on.descriptor) }
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw await missing(world, path, use)
    if (codeOf(error) !== "ENOTDIR") throw error
  }
  const { descriptor } = await openFile(path)
  return { on: { descriptor }, name: () => name, counts: () => true, close: () => closeSync(descriptor) }
}

/** As ripgrep's own --glob would, but for one thing: it never brings back what .gitignore names. */
function countsFor({ glob }: Input): Matches {
  if (glob === undefined) return () => true
  const negated = glob.startsWith("!")
  const plain = negated ? glob.slice(1) : glob
  const matches = matcher(plain.replace(/^\//, ""))
  const fits: Matches = plain.includes("/") ? matches : (path) => matches(basename(path))
  return negated ? (path) => !fits(path) : fits
}

function argumentsFor(mode: Mode, { pattern, glob, type, context, multiline, "-i": ignoreCase }: Input): string[] {
  const modes = {
    content: ["--line-number", "--no-heading", "--max-columns=2000", "--max-columns-preview"],
    files_with_matches: ["--files-with-matches"],
    count: ["--count"],
  }
  // Names are sorted out here; the last part of a simple glob only spares ripgrep from opening the other files.
  const last = glob?.split("/").at(-1) ?? ""
  const narrow = type === undefined && simple.test(last) && !glob?.startsWith("!")
  return [
    "--null",
    "--with-filename",
    ...modes[mode],
    ...(context && mode === "content" ? [`--context=${context}`] : []),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(type === undefined ? [] : [`--type=${type}`]),
    ...(narrow ? [`--type-add=asked:${last}`, "--type=asked"] : []),
    `--regexp=${pattern}`,
  ]
}

/** Reads ripgrep's output as it comes: a file's name, NUL, and what the mode says of it. */
function rows(mode: Mode, add: (file: string, row: (name: string) => string) => void): (text: string) => void {
  const end = mode === "files_with_matches" ? "\0" : "\n"
  let rest = ""
  return (text) => {
    const lines = (rest + text).split(end)
    rest = lines.pop() ?? ""
    for (const line of lines) {
      if (mode === "files_with_matches") add(plainName(line), (name) => name)
      else split(line, add)
    }
  }
}

function split(line: string, add: (file: string, row: (name: string) => string) => void): void {
  const nul = line.indexOf("\0")
  if (nul === -1) {
    // Without a name before it, this is the mark between groups or a remark on a binary file.
    const [, binary] = /^(.*): binary file matches/.exec(line) ?? []
    if (binary !== undefined) add(plainName(binary), (name) => `${name} is a binary file, and it matches`)
    return
  }
  const rest = line.slice(nul + 1)
  // `12:` stands before a match, `12-` before a line around one, and a bare number is a count.
  const [, number, mark = ":", text] = /^(\d+)(?:([:-])(.*))?$/s.exec(rest.replace(/\r$/, "")) ?? []
  if (number === undefined) return
  add(plainName(line.slice(0, nul)), (name) =>
    text === undefined ? `${name}:${number}` : `${name}${mark}${number}${mark}${cut(text)}`,
  )
}

const plainName = (name: string): string => (name.startsWith("./") ? name.slice(2) : name)

const cut = (text: string): string => (text.length > width ? `${headOf(text, width)}… [cut]` : text)

function told(found: readonly string[], total: number, offset: number): string {
  if (total === 0) return "no match"
  if (found.length === 0) return `there are only ${total} results: offset ${offset} is past the last`
  const next = offset + found.length
  if (next >= total && offset === 0) return found.join("\n")
  const more = next < total ? `; go on with offset ${next}, or narrow the search` : ""
  return `${found.join("\n")}\n\n(${offset + 1}-${next} of ${total} shown${more})`
}
