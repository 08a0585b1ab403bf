import assert from "node:assert/strict"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import type { Message } from "../../src/core/message.ts"
import type { Request } from "../../src/model/model.ts"
import { open } from "../../src/session.ts"
import { memory } from "../../src/store/memory.ts"
import { call, type Reply, scripted } from "../../src/testing.ts"

const [children, edits, files] = [32, 20, 4]

/** Reads a file and adds its own line to it, again and again, until so many of its edits were taken. */
function editing({ messages }: Request): Reply {
  const me = (messages[0] as { text: string }).text
  const results = messages.flatMap((message) => (message.role === "result" ? [message] : []))
  const applied = results.filter(({ name, ok }) => name === "edit" && ok).length
  if (applied === edits) return "done"
  const file_path = `f${(Number(me) + applied) % files}.txt`
  const last = results.at(-1)
  if (last?.name !== "read") return [call("read", { file_path })]
  return [call("edit", { file_path, old_string: "END", new_string: `${me}.${applied}\nEND` })]
}

/** Every model answers after a moment of its own, so that the children overtake one another. */
async function later(reply: Reply, random: () => number): Promise<Reply> {
  for (let n = Math.floor(random() * 20); n > 0; n--) await new Promise((resolve) => setImmediate(resolve))
  return reply
}

const refusals = (messages: readonly Message[]) =>
  messages.filter((message) => message.role === "result" && message.name === "edit" && !message.ok)

test("many children that edit the same files lose no update, and each refusal is told", async (t) => {
  const cwd = await mkdtemp(join(tmpdir(), "legwork-edits-"))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  for (let n = 0; n < files; n++) await writeFile(join(cwd, `f${n}.txt`), "END\n")
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const session = await open({
    cwd,
    env: { HOME: cwd },
    store: memory(),
    permissionMode: "acceptEdits",
    model: scripted((request) => later(editing(request), random)),
  })
  const limits = { turns: 10_000 }
  const tasks = Array.from({ length: children }, (_, n) => session.task({ agent: "code", prompt: `${n}`, limits }))
  const results = await Promise.all(tasks)
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set(["completed"]))
  const texts = await Promise.all(Array.from({ length: files }, (_, n) => readFile(join(cwd, `f${n}.txt`), "utf8")))
  const lines = texts.flatMap((text) => text.trim().split("\n")).filter((line) => line !== "END")
  const all = Array.from({ length: children }, (_, n) => Array.from({ length: edits }, (_, k) => `${n}.${k}`)).flat()
  assert.deepEqual(lines.toSorted(), all.toSorted())
  const refused = [...session.view.values()].flatMap(({ messages }) => refusals(messages))
  assert.ok(refused.length > 0, "some of them must have met")
  for (const each of refused)
    assert.match((each as { text: string }).text, /was changed since it was read: read it again/)
  await session.close()
})
