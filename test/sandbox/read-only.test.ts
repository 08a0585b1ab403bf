import assert from "node:assert/strict"
import { execFile, spawnSync } from "node:child_process"
import { join } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { attacks, forbidden, hopeless } from "./attacks.ts"
import { needsFence } from "./fence.ts"
import { reads } from "./reads.ts"

const assault = join(import.meta.dirname, "assault.ts")
const ordinary = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0

/** A secret that no command may see, wherever it looks. */
const env = { PATH: process.env.PATH, LEGWORK_TEST: "secret of the parent" }

async function found<T>(mode: string, user: object = {}): Promise<Record<string, T>> {
  const { stdout } = await promisify(execFile)(process.execPath, [assault, mode], { env, maxBuffer: 1e8, ...user })
  return JSON.parse(stdout)
}

const canRead = () =>
  spawnSync(process.execPath, ["-e", `fs.accessSync(${JSON.stringify(assault)})`], { env, ...ordinary }).status === 0
const needsOther = { skip: needsFence.skip || (isRoot ? !canRead() && "this folder is root's alone" : "needs root") }

const users = [
  { who: isRoot ? "root" : "the user of the tests", user: {}, needs: needsFence },
  { who: "an ordinary user", user: ordinary, needs: needsOther },
]

for (const { who, user, needs } of users) {
  test(
    `of ${Object.keys(attacks).length + Object.keys(hopeless).length} attacks by ${who} none leaves a trace`,
    needs,
    async () => {
      const untouched = Object.fromEntries(Object.keys({ ...attacks, ...hopeless }).map((name) => [name, []]))
      assert.deepEqual(await found("fenced", user), untouched)
    },
  )

  test(`what is guarded in a writable workspace stays as it is, for ${who}`, needs, async () => {
    const untouched = Object.fromEntries(Object.keys(forbidden).map((name) => [name, []]))
    assert.deepEqual(await found("writable", user), untouched)
  })

  test(`${reads.length} ordinary commands print the same for ${who} as without the fence`, needs, async () => {
    const results = await found<{ inside: unknown; outside: unknown }>("reads", user)
    const side = (which: "inside" | "outside") => Object.entries(results).map(([command, ran]) => [command, ran[which]])
    assert.deepEqual(side("inside"), side("outside"))
    assert.deepEqual(Object.keys(results), reads)
  })
}

test("each of these attacks does leave a trace where there is no fence", needsOther, async () => {
  const traced = Object.fromEntries(Object.keys(attacks).map((name) => [name, true]))
  assert.deepEqual(await found("bare", ordinary), traced)
})
