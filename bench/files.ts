import { execFile } from "node:child_process"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Tool } from "../src/agent/scope.ts"
import { fromFolder } from "../src/agents/load.ts"
import { glob } from "../src/tools/glob.ts"
import { grep } from "../src/tools/grep.ts"
import { ripgrepPath } from "../src/tools/ripgrep.ts"
import { nowhere } from "../src/tools/world.ts"
import { timed } from "./compare.ts"
import type { Result } from "./result.ts"

const run = promisify(execFile)
const [folders, filesEach, agentFiles] = [1_000, 100, 3_000]

/** The tools that look for files in a tree of 100,000, against bare ripgrep. */
export async function search(folder: string): Promise<Result[]> {
  const root = join(folder, "tree")
  for (let n = 0; n < folders; n++) {
    const below = join(root, `area-${n % 10}`, `folder-${n}`)
    await mkdir(below, { recursive: true })
    const files = Array.from({ length: filesEach }, (_, k) => join(below, `file-${k}.${k % 2 ? "ts" : "md"}`))
    await Promise.all(files.map((file, k) => writeFile(file, k === 7 ? "a needle\n" : "hay\n")))
  }
  const world = { ...nowhere, ripgrep: ripgrepPath }
  const same = ["--no-config", "--hidden", "--no-require-git", "--no-messages", "--glob=!.git"]
  const bare = (...args: string[]) => run(ripgrepPath(), [...same, ...args, "./"], { cwd: root, maxBuffer: 1e8 })
  return [
    await against("glob", {
      ours: () => called(glob(world), { pattern: "**/*-7.ts" }, root),
      bare: () => bare("--files"),
    }),
    await against("grep", {
      ours: () => called(grep(world), { pattern: "needle" }, root),
      bare: () => bare("--line-number", "needle"),
    }),
  ]
}

type Both = { ours(): Promise<unknown>; bare(): Promise<unknown> }

async function against(name: string, ways: Both): Promise<Result> {
  const times = await timed(ways)
  const detail = { "ripgrep, ms": times.bare, "ours, ms": times.ours }
  return { name: `${name} on ${folders * filesEach} files`, value: times.ours / times.bare, detail }
}

async function called(tool: Tool, input: object, root: string): Promise<void> {
  const { text, details } = await tool.run(tool.input.parse(input), {
    call: "call-1",
    root,
    signal: new AbortController().signal,
    images: false,
    files: new Map(),
    show: () => {},
    spawn: () => Promise.reject(new Error("no children here")),
    below: { list: () => [], stop: async () => {}, tell: async () => "heard" },
    plan: async () => {},
  })
  if (details?.kind !== "found" || details.total !== folders) throw new Error(text)
}

/** Agent files found, read and understood, against reading them. */
export async function agents(folder: string): Promise<Result> {
  const root = join(folder, "agents")
  await mkdir(root)
  for (let n = 0; n < agentFiles; n++) {
    const matter = `name: agent-${n}\ndescription: Looks at part ${n} of the work\ntools: Read, Grep, Glob\nmodel: sonnet`
    await writeFile(join(root, `agent-${n}.md`), `---\n${matter}\n---\n${"You look at a part.\n".repeat(40)}`)
  }
  const read = async () => Promise.all((await readdir(root)).map((name) => readFile(join(root, name), "utf8")))
  const load = async () => {
    const { agents } = await fromFolder(root)
    if (agents.length !== agentFiles) throw new Error(`${agents.length} agents of ${agentFiles}`)
  }
  const times = await timed({ ours: load, bare: read })
  const detail = { "reading alone, ms": times.bare, "ours, ms": times.ours }
  return { name: `loading ${agentFiles} agent files`, value: times.ours / times.bare, detail }
}
