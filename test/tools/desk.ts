import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { TestContext } from "node:test"
import type { Around, Output, Tool, Use } from "../../src/agent/scope.ts"
import type { Access } from "../../src/core/access.ts"
import { findSandbox } from "../../src/sandbox/sandbox.ts"
import { ripgrepPath } from "../../src/tools/ripgrep.ts"
import type { World } from "../../src/tools/world.ts"

/** A workspace with a folder of secrets beside it, and calls made as the loop makes them. */
export type Desk = {
  root: string
  outside: string
  world: World
  files: Map<string, string>
  put(files: Record<string, string | Buffer>): Promise<void>
  /** Parses, judges and runs. `inside` refuses what would need leave, as a run without anybody to ask does. */
  call(tool: (world: World) => Tool, input: unknown, how?: How): Promise<Output>
  access(tool: (world: World) => Tool, input: unknown): Promise<Access>
}

type How = { gate?: "inside" | "open"; images?: boolean; signal?: AbortSignal }

export async function desk(t: TestContext): Promise<Desk> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-tools-")))
  t.after(() => rm(base, { recursive: true, force: true }))
  const [root, outside, kept] = [join(base, "root"), join(base, "outside"), join(base, "kept")]
  await Promise.all([root, outside, kept].map((folder) => mkdir(folder)))
  await writeFile(join(outside, "secret.txt"), "TOP SECRET\n")
  const world: World = {
    readable: [kept],
    writable: [],
    async keep(name, text) {
      await writeFile(join(kept, name), text)
      return join(kept, name)
    },
    env: {},
    mask: (text) => text.replaceAll("SESAME", "***"),
    ripgrep: ripgrepPath,
    fork: false,
    sandbox: findSandbox({ env: process.env }),
  }
  const files = new Map<string, string>()
  const access = async (make: (world: World) => Tool, input: unknown) => {
    const tool = make(world)
    return await tool.access(tool.input.parse(input), root, around)
  }
  return {
    root,
    outside,
    world,
    files,
    access,
    async put(contents) {
      for (const [name, content] of Object.entries(contents)) {
        await mkdir(dirname(join(root, name)), { recursive: true })
        await writeFile(join(root, name), content)
      }
    },
    async call(make, input, { gate = "inside", images = false, signal = new AbortController().signal } = {}) {
      const tool = make(world)
      const parsed = tool.input.safeParse(input)
      if (!parsed.success) return { ok: false, text: parsed.error.issues.map(({ message }) => message).join("; ") }
      try {
        const judged = await tool.access(parsed.data, root, around)
        if (gate === "inside" && needsLeave(judged)) return { ok: false, text: "refused by the gate" }
        const output = await tool.run(parsed.data, useOf({ root, files, images, signal, access: judged }))
        for (const { path, hash } of output.touched ?? []) files.set(path, hash)
        return output
      } catch (error) {
        if (error instanceof TypeError || error instanceof ReferenceError) throw error
        return { ok: false, text: error instanceof Error ? error.message : String(error) }
      }
    },
  }
}

/** A run that is nobody's fork and knows no other. */
export const around: Around = { isFork: false, agentOf: () => undefined }

export const needsLeave = (access: Access): boolean =>
  (access.kind === "read" && !access.inside) || (access.kind === "write" && (!access.inside || access.guarded))

export const useOf = (part: Partial<Use> & Pick<Use, "root">): Use => ({
  call: "call-1",
  signal: new AbortController().signal,
  images: false,
  files: new Map(),
  show: () => {},
  spawn: () => Promise.reject(new Error("no children here")),
  below: { list: () => [], stop: async () => {}, tell: async () => "heard" },
  plan: async () => {},
  ...part,
})
