import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { mkdir, mkdtemp, readdir, realpath, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import type { Agent } from "../src/agent/scope.ts"
import { answerCache } from "../src/cache.ts"

const base = await realpath(await mkdtemp(join(tmpdir(), "legwork-cache-")))
after(() => rm(base, { recursive: true, force: true }))

let places = 0

/** A workspace with one file, and a folder for answers that is not there yet. */
async function place() {
  const top = join(base, `${places++}`)
  const [root, folder] = [join(top, "workspace"), join(top, "state", "cache")]
  await mkdir(root, { recursive: true })
  await writeFile(join(root, "file"), "one")
  return { top, root, folder, cache: answerCache({ folder, root, version: "1" }) }
}

const explore: Agent = {
  name: "explore",
  description: "Looks around",
  prompt: "You look around.",
  role: { tools: ["read"], denied: [], readonly: true },
  limits: { turns: 30, cost: 1 },
  tuning: { temperature: 0, effort: "low" },
}
const asked = { agent: explore, prompt: "find the door", model: "office/large" }

test("an answer is found again, also by the next process", async () => {
  const { root, folder, cache } = await place()
  const first = await cache(asked)
  assert.equal(first.text, undefined)
  await first.keep("in the wall \ud800")
  assert.equal((await cache(asked)).text, "in the wall \ud800")
  assert.equal((await answerCache({ folder, root, version: "1" })(asked)).text, "in the wall \ud800")
})

test("what says nothing about the answer makes no difference", async () => {
  const { cache } = await place()
  await (await cache(asked)).keep("in the wall")
  const { tuning, limits, role, prompt, name } = explore
  const agent: Agent = {
    hidden: true,
    tuning: { effort: tuning!.effort!, temperature: 0 },
    limits: { cost: 1, turns: limits.turns! },
    role,
    prompt,
    name,
    description: "Something else",
  }
  assert.equal((await cache({ ...asked, agent })).text, "in the wall")
})

test("an answer to anything else is no answer", async () => {
  const { root, folder, cache } = await place()
  await (await cache(asked)).keep("in the wall")
  const agents: Partial<Agent>[] = [
    { name: "plan" },
    { prompt: "You plan." },
    { role: { tools: ["read", "bash"], denied: [], readonly: true } },
    { limits: { turns: 31, cost: 1 } },
    { limits: { turns: 30 } },
    { tuning: { temperature: 1, effort: "low" } },
  ]
  const others = [
    ...agents.map((change) => ({ ...asked, agent: { ...explore, ...change } })),
    { ...asked, prompt: "find the doors" },
    { ...asked, model: "office/small" },
  ]
  for (const other of others) assert.equal((await cache(other)).text, undefined, JSON.stringify(other))
  assert.equal((await answerCache({ folder, root, version: "2" })(asked)).text, undefined)
  assert.equal((await cache(asked)).text, "in the wall")
})

test("an answer about one empty folder is none about another", async () => {
  const { top, folder } = await place()
  const found = []
  for (const name of ["a", "b", "a"]) {
    const root = join(top, name)
    await mkdir(root, { recursive: true })
    const looked = await answerCache({ folder, root, version: "1" })(asked)
    found.push(looked.text)
    await looked.keep(name)
  }
  assert.deepEqual(found, [undefined, undefined, "a"])
})

test("an answer about a workspace that has changed is not found, and one that was given while it changed is not kept", async () => {
  const { root, folder, cache } = await place()
  const looked = await cache(asked)
  await writeFile(join(root, "file"), "two")
  await looked.keep("about one and two")
  await assert.rejects(stat(folder), { code: "ENOENT" })
  await (await cache(asked)).keep("about two")
  assert.equal((await cache(asked)).text, "about two")
  await writeFile(join(root, "file"), "six")
  assert.equal((await cache(asked)).text, undefined)
})

test("many who ask at once are answered, and none with what was true before it asked", async () => {
  const { root, cache } = await place()
  await mkdir(join(root, "deep/".repeat(200)), { recursive: true })
  await (await cache(asked)).keep("about one")
  const before = Array.from({ length: 50 }, () => cache(asked))
  // Long enough for the file to be looked at, and much shorter than it takes to look at all the folders.
  for (let step = 0; step < 20; step++) await stat(root)
  writeFileSync(join(root, "file"), "two")
  const later = await Promise.all([cache(asked), cache(asked)])
  assert.deepEqual(
    later.map(({ text }) => text),
    [undefined, undefined],
  )
  assert.equal((await Promise.all(before)).length, 50)
})

test("a workspace that cannot be told apart from another is not answered for", async () => {
  const { root, folder } = await place()
  const gone = answerCache({ folder, root: join(root, "gone"), version: "1" })
  await (await gone(asked)).keep("nothing there")
  // A clock at which every file has only just been written.
  const { ctimeMs } = await stat(join(root, "file"))
  const early = answerCache({ folder, root, version: "1", now: () => ctimeMs })
  await (await early(asked)).keep("too early")
  await assert.rejects(stat(folder), { code: "ENOENT" })
})

test("answers are never kept where the workspace's own programs could write them", async () => {
  const { root } = await place()
  for (const folder of [root, join(root, "state")]) {
    const cache = answerCache({ folder, root, version: "1" })
    await (await cache(asked)).keep("forged")
    assert.equal((await cache(asked)).text, undefined)
  }
  assert.deepEqual(await readdir(root), ["file"])
})

test("a folder that cannot be written or read keeps nothing and fails nobody", async () => {
  const { root, top } = await place()
  await writeFile(join(top, "plain"), "")
  for (const folder of [join(top, "plain"), join(top, "plain", "cache")]) {
    const cache = answerCache({ folder, root, version: "1" })
    await (await cache(asked)).keep("lost")
    assert.equal((await cache(asked)).text, undefined)
  }
})

test("answers are for their owner only, whatever the umask, and leave no drafts", async () => {
  const { folder, cache, top } = await place()
  const umask = process.umask(0)
  try {
    await (await cache(asked)).keep("secret")
  } finally {
    process.umask(umask)
  }
  const [name, ...more] = await readdir(folder)
  assert.deepEqual(more, [])
  const modes = [join(top, "state"), folder, join(folder, name!)].map(async (path) => (await stat(path)).mode & 0o777)
  assert.deepEqual(await Promise.all(modes), [0o700, 0o700, 0o600])
})
