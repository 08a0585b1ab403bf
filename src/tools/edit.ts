import * as z from "zod"
import { type Tool, tool } from "../agent/scope.ts"
import { diffOf } from "./diff.ts"
import { current, hashOf, mustKnow, recall, replace } from "./files.ts"
import { pathInput, tolerant } from "./input.ts"
import { missing } from "./missing.ts"
import { shown, writable, writeAccess } from "./paths.ts"
import { applyEdits } from "./substitute.ts"
import { decode, encode } from "./text.ts"
import type { World } from "./world.ts"

const one = z.strictObject({
  old_string: z.string().describe("exact text, unique in the file"),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
})

const many = tolerant({ path: "file_path" }, z.strictObject({ file_path: pathInput, edits: z.array(one).min(1) }))

/** One edit may also stand beside the path, without a list around it. */
const input = z.preprocess((asked) => {
  if (typeof asked !== "object" || asked === null || !("old_string" in asked) || "edits" in asked) return asked
  const { old_string, new_string, replace_all, ...rest } = asked as Record<string, unknown>
  return { ...rest, edits: [{ old_string, new_string, ...(replace_all !== undefined && { replace_all }) }] }
}, many)

export const edit = (world: World): Tool =>
  tool({
    name: "edit",
    description: "Replace exact text in a file that was read before. Edits apply in order, all or none.",
    input,
    repeatable: false,
    alone: true,
    recall,
    access: ({ file_path }, root) => writeAccess(world, file_path, root),
    async preview({ file_path, edits }, { root }) {
      const { path } = writeAccess(world, file_path, root)
      const now = await current(path)
      if (!now) return undefined
      const { text } = decode(now.bytes)
      return diffOf(shown(path, root), text, applyEdits(text, edits).text)
    },
    async run({ file_path, edits }, use) {
      const path = writable(world, file_path, use)
      const now = await current(path)
      if (!now) throw await missing(world, path, use)
      mustKnow(path, now, use)
      const name = shown(path, use.root)
      const old = decode(now.bytes)
      if (old.lossy || old.text.includes("\0"))
        throw new Error(`${name} is not valid UTF-8 text: an edit would damage it; change it with bash`)
      const { text, replaced } = applyEdits(old.text, edits)
      const bytes = encode(text, old)
      use.signal.throwIfAborted()
      const change = { path, before: now.hash, after: hashOf(bytes) }
      await use.plan(change)
      await replace(path, bytes, now)
      return {
        ok: true,
        text: `changed ${name} (${replaced} ${replaced === 1 ? "place" : "places"})`,
        details: await diffOf(name, old.text, text),
        touched: [{ did: "wrote", path, hash: change.after, before: change.before }],
      }
    },
  })
