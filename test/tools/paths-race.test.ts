import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { read } from "../../src/tools/read.ts"
import { write } from "../../src/tools/write.ts"
import { type Desk, desk } from "./desk.ts"

/** Another process that swaps three things, over and over, for links out of the workspace. */
const flipper = `
const { renameSync, symlinkSync, unlinkSync } = require("node:fs")
const [root, outside] = process.argv.slice(1)
process.chdir(root)
const point = (name, target) => { symlinkSync(target, name + ".next"); renameSync(name + ".next", name) }
let spare = 0
const away = (name, target) => {
  renameSync(name, name + ".real")
  try { symlinkSync(target, name) } catch { renameSync(name, "made-" + ++spare); symlinkSync(target, name) }
}
const back = (name) => {
  unlinkSync(name)
  try { renameSync(name + ".real", name) } catch { renameSync(name, "made-" + ++spare); renameSync(name + ".real", name) }
}
point("flip", "in")
console.log("ready")
for (;;) {
  point("flip", outside)
  away("folder", outside)
  away("file.txt", outside + "/secret.txt")
  point("flip", "in")
  back("folder")
  back("file.txt")
}`

async function whileFlipping(t: TestContext, work: (here: Desk) => Promise<void>): Promise<Desk> {
  const here = await desk(t)
  await here.put({ "in/secret.txt": "inside\n", "folder/secret.txt": "inside\n", "file.txt": "inside\n" })
  const child = spawn(process.execPath, ["-e", flipper, here.root, here.outside], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const gone = once(child, "exit")
  try {
    await once(child.stdout, "data")
    await work(here)
  } finally {
    child.kill("SIGKILL")
    await gone
  }
  return here
}

test("law: links that flip during thousands of reads leak nothing", async (t) => {
  const paths = ["flip/secret.txt", "folder/secret.txt", "file.txt", "flip/secret.txt", "folder/secret.txt", "file.txt"]
  let seen = 0
  await whileFlipping(t, async ({ call }) => {
    for (let round = 0; round < 350; round++) {
      for (const { ok, text } of await Promise.all(paths.map((path) => call(read, { path })))) {
        assert.doesNotMatch(text, /TOP SECRET/)
        if (ok) seen++
      }
    }
  })
  assert.ok(seen > 0, "no read succeeded: the race was not run")
})

test("law: links that flip during a thousand writes put nothing outside", async (t) => {
  const places = ["flip", "folder", "folder/new/deep", "flip/new"]
  let done = 0
  const { root, outside } = await whileFlipping(t, async ({ call }) => {
    for (let round = 0; round < 250; round++) {
      const calls = places.map((place) => call(write, { path: `${place}/${round}.txt`, content: "x" }))
      for (const { ok } of await Promise.all(calls)) if (ok) done++
    }
  })
  assert.ok(done > 0, "no write succeeded: the race was not run")
  assert.deepEqual(await readdir(outside), ["secret.txt"])
  assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), "TOP SECRET\n")
  const left = (await readdir(root, { recursive: true })).filter((name) => name.endsWith(".tmp"))
  assert.deepEqual(left, [])
})
