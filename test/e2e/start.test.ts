import assert from "node:assert/strict"
import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { call, type Script, serve, steps } from "../../src/testing.ts"
import { type Home, home } from "./binary.ts"

const args = ["-p", "go", "--model", "anthropic/any"]

type Kept = Home & { code: string; kept(): Promise<Map<string, Buffer>>; answers(script?: Script): Promise<void> }

async function place(t: TestContext): Promise<Kept> {
  const at = await home(t)
  // As for most people: what is kept elsewhere might be written by an agent.
  const state = join(at.env.HOME!, ".local/state")
  at.env.XDG_STATE_HOME = state
  const code = join(state, "legwork/cache/code")
  return {
    ...at,
    code,
    async kept() {
      const names = await readdir(code).catch(() => [])
      return new Map(await Promise.all(names.map(async (name) => [name, await readFile(join(code, name))] as const)))
    },
    async answers(script = () => "told") {
      await using server = await serve(script)
      const ran = await at.run(args, { env: server.env })
      assert.deepEqual([ran.code, ran.stdout], [0, "told\n"], ran.stderr)
    },
  }
}

test("what a start compiled is there for the next one, which leaves it as it is", async (t) => {
  const { answers, kept } = await place(t)
  await answers()
  const left = await kept()
  assert.equal(left.size, 1)
  await answers()
  assert.deepEqual(await kept(), left)
})

test("a start that did much more leaves its own", async (t) => {
  const { answers, kept, code } = await place(t)
  await answers()
  const [[name, least]] = [...(await kept())] as [[string, Buffer]]
  // As if whoever left it had hardly worked.
  const idle = Buffer.from(least)
  idle.writeUInt32LE(1, 4)
  await writeFile(join(code, name), idle)
  await answers(steps([call("ls", { path: "." })], [call("glob", { pattern: "*" })], "told"))
  const more = (await kept()).get(name)!
  assert.ok(more.length > least.length, `${more.length} bytes after ${least.length}`)
})

for (const part of [0.1, 0.5, 0.9])
  test(`compiled code that is damaged at ${part} of it is not used, and made anew`, async (t) => {
    const { answers, kept, code } = await place(t)
    await answers()
    const [[name, bytes]] = [...(await kept())] as [[string, Buffer]]
    const damaged = Buffer.from(bytes)
    damaged.fill(0xff, Math.floor(bytes.length * part), Math.floor(bytes.length * part) + 64)
    await writeFile(join(code, name), damaged)
    await answers()
    assert.notDeepEqual((await kept()).get(name), damaged)
    await answers()
  })

test("compiled code of which the end is missing is not used", async (t) => {
  const { answers, kept, code } = await place(t)
  await answers()
  const [[name, bytes]] = [...(await kept())] as [[string, Buffer]]
  for (const length of [0, 3, 8, bytes.length - 1]) {
    await writeFile(join(code, name), bytes.subarray(0, length))
    await answers()
  }
})

test("nothing is kept in a state folder that an agent might be able to write", async (t) => {
  const { answers, kept, env, work } = await place(t)
  env.XDG_STATE_HOME = join(work, "state")
  await answers()
  assert.deepEqual(await kept(), new Map())
  await assert.rejects(readdir(join(work, "state/legwork/cache/code")), { code: "ENOENT" })
})

test("the command understands letters beyond ASCII as its sources do", async (t) => {
  const { run } = await home(t, {
    ".legwork/agents/dashed.md":
      "\u2014\u2014\u2014\nname: dashed\ndescription: Looks\n\u2014\u2014\u2014\nYou look.\n",
  })
  const { stdout, code } = await run(["agents", "list", "--json"])
  const agents = JSON.parse(stdout) as { id: string; description: string }[]
  assert.deepEqual([code, agents.find(({ id }) => id === "dashed")?.description], [0, "Looks"])
})

test("whoever only asks for a word of help leaves nothing", async (t) => {
  const { run, kept } = await place(t)
  for (const flag of ["--version", "--help"]) assert.equal((await run([flag])).code, 0)
  assert.deepEqual(await kept(), new Map())
})

test("where nothing can be kept, the work is done all the same", async (t) => {
  const { answers, code } = await place(t)
  await mkdir(join(code, ".."), { recursive: true })
  await writeFile(code, "no folder")
  await answers()
  assert.equal(await readFile(code, "utf8"), "no folder")
})

test("code that nobody has renewed for a month is forgotten", async (t) => {
  const { answers, kept, code } = await place(t)
  await mkdir(code, { recursive: true })
  const days = (n: number) => new Date(Date.now() - n * 24 * 3_600_000)
  for (const [name, age] of Object.entries({ old: 31, recent: 29 })) {
    await writeFile(join(code, name), "code")
    await utimes(join(code, name), days(age), days(age))
  }
  await answers()
  const names = [...(await kept()).keys()]
  assert.deepEqual([names.includes("old"), names.includes("recent"), names.length], [false, true, 2])
})
