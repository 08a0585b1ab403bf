import * as z from "zod"
import { type Tool, tool } from "../agent/scope.ts"
import { diffOf } from "./diff.ts"
import { current, hashOf, mustKnow, recall, replace } from "./files.ts"
import { pathInput, tolerant } from "./input.ts"
import { shown, writable, writeAccess } from "./paths.ts"
import { countLines, decode, encode, isCrlf, toCrlf } from "./text.ts"
import type { World } from "./world.ts"

const input = tolerant({ path: "file_path" }, z.strictObject({ file_path: pathInput, content: z.string() }))

export const write = (world: World): Tool =>
  tool({
    name: "write",
    description: "Write a whole file; folders are made. A file that is there must have been read before.",
    input,
    repeatable: false,
    alone: true,
    recall,
    access: ({ file_path }, root) => writeAccess(world, file_path, root),
    async preview({ file_path, content }, { root }) {
      const { path } = writeAccess(world, file_path, root)
      const { text } = decode((await current(path))?.bytes ?? Buffer.alloc(0))
      return diffOf(shown(path, root), text, isCrlf(text) ? toCrlf(content) : content)
    },
    async run({ file_path, content }, use) {
      const path = writable(world, file_path, use)
      const now = await current(path)
      if (now) mustKnow(path, now, use)
      const old = decode(now?.bytes ?? Buffer.alloc(0))
      const text = isCrlf(old.text) ? toCrlf(content) : content
      const bytes = encode(text, old)
      use.signal.throwIfAborted()
      const change = { path, before: now?.hash ?? null, after: hashOf(bytes) }
      await use.plan(change)
      await replace(path, bytes, now)
      const name = shown(path, use.root)
      return {
        ok: true,
        text: `${now ? "replaced" : "made"} ${name} (${countLines(text)} lines, ${bytes.length} bytes)`,
        details: await diffOf(name, old.text, text),
        touched: [{ did: "wrote", path, hash: change.after, before: change.before }],
      }
    },
  })
