import assert from "node:assert/strict"
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { watch } from "node:fs"
import { readdir, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { Writable } from "node:stream"
import { type TestContext, test } from "node:test"
import { isAlive, type Process, startOf } from "../../src/store/alive.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { isLocked, type Lock, takeLock } from "../../src/store/lock.ts"
import { temporary } from "./folder.ts"

const child = join(import.meta.dirname, "child.ts")
const here = { id: "session-one", host: "here" }

function start(t: TestContext, ...args: string[]): ChildProcess {
  const process = fork(child, args, { stdio: ["ignore", "pipe", "inherit", "ipc"] })
  t.after(() => process.kill("SIGKILL"))
  return process
}

/** A pid that was just in use and is not any more. */
async function deadProcess(): Promise<{ pid: number; start: string }> {
  const process = spawn("true")
  await once(process, "exit")
  return { pid: process.pid!, start: "long ago" }
}

const stale = (pid: number, start: string, more = {}) =>
  JSON.stringify({ pid, start, host: "here", token: "00000000-0000-0000-0000-000000000000", ...more })

test("a session that another process holds is refused by its pid, and free once that process is killed", async (t) => {
  const folder = await temporary(t)
  const other = start(t, "hold", folder)
  await once(other.stdout!, "data")
  const store = jsonl({ folder })
  await assert.rejects(store.hold("session-one"), {
    name: "StoreError",
    code: "locked",
    message: `session session-one is in use by process ${other.pid}; close it there first, or start a new session`,
  })
  assert.deepEqual(
    (await store.list()).map(({ running }) => running),
    [true],
  )
  other.kill("SIGKILL")
  await once(other, "exit")
  assert.deepEqual(
    (await store.list()).map(({ running }) => running),
    [false],
  )
  const { held } = await store.hold("session-one")
  assert.deepEqual(
    (await store.list()).map(({ running }) => running),
    [true],
  )
  await held.close()
  assert.deepEqual(await readdir(join(folder, "sessions")), ["session-one.jsonl"])
})

test("something else in the place of a lock is said, and keeps nobody from work", async (t) => {
  const path = join(await temporary(t), "one.lock")
  await symlink("nowhere", path)
  let ticks = 0
  const timer = setInterval(() => ticks++, 1)
  await assert.rejects(takeLock(path, here), {
    code: "io",
    message: `${path} is in the way and is no lock; delete it`,
  })
  clearInterval(timer)
  assert.ok(ticks > 0)
})

test("the lock names its owner", async (t) => {
  const path = join(await temporary(t), "one.lock")
  const lock = await takeLock(path, here)
  const { token, ...owner } = JSON.parse(await readFile(path, "utf8"))
  assert.deepEqual(owner, { pid: process.pid, start: await startOf(process.pid), host: "here" })
  assert.match(token, /^[0-9a-f-]{36}$/)
  await lock.release()
})

test("of many processes that find a stale lock at once, one takes it", async (t) => {
  const folder = await temporary(t)
  const { pid, start: began } = await deadProcess()
  const racers = Array.from({ length: 4 }, () => start(t, "race"))
  for (let round = 0; round < 20; round++) {
    const path = join(folder, `${round}.lock`)
    // Every other round the one who was taking it over died midway.
    await writeFile(path, stale(pid, began))
    if (round % 2)
      await writeFile(
        `${path}.00000000-0000-0000-0000-000000000000`,
        round % 4 === 1 ? "" : stale(pid, began, { token: "1".repeat(36) }),
      )
    const words = racers.map(async (racer) => {
      const answer = once(racer, "message")
      racer.send(path)
      return (await answer)[0]
    })
    assert.deepEqual((await Promise.all(words)).sort(), [...Array(3).fill("locked"), "won"])
  }
})

test("processes that take and release a lock in a hurry are never inside together", async (t) => {
  const folder = await temporary(t)
  const { pid, start: began } = await deadProcess()
  await writeFile(join(folder, "one.lock"), stale(pid, began))
  const others = Array.from({ length: 3 }, () => start(t, "contend", folder))
  const exits = await Promise.all(others.map(async (other) => (await once(other, "exit"))[0]))
  assert.deepEqual(exits, [0, 0, 0])
  assert.deepEqual(await readdir(folder), [])
})

test("who was slow to inherit a lock that was released and taken anew meanwhile does not get it", async (t) => {
  const folder = await temporary(t)
  const path = join(folder, "one.lock")
  const { pid, start: began } = await deadProcess()
  await writeFile(path, stale(pid, began))
  const quick: Lock[] = []
  const alive = async (owner: Process) => {
    if (quick.length > 0) return isAlive(owner)
    await (await takeLock(path, here)).release()
    quick.push(await takeLock(path, here))
    return false
  }
  await assert.rejects(takeLock(path, { ...here, alive }), { code: "locked" })
  assert.deepEqual(await readdir(folder), ["one.lock"])
  await quick[0]!.release()
})

test("the first file of a lock goes first, so that nobody inherits from it", {
  skip: process.platform !== "linux",
}, async (t) => {
  const folder = await temporary(t)
  const path = join(folder, "one.lock")
  const { pid, start: began } = await deadProcess()
  await writeFile(path, stale(pid, began))
  const lock = await takeLock(path, here)
  const changes = watch(folder)
  const gone: string[] = []
  const both = new Promise<void>((resolve) => {
    changes.on("change", (_, name) => {
      gone.push(String(name))
      if (gone.length === 2) resolve()
    })
  })
  t.after(() => changes.close())
  await lock.release()
  await both
  assert.deepEqual(gone, ["one.lock", "one.lock.00000000-0000-0000-0000-000000000000"])
})

test("a lock of a pid that now belongs to another process is stale", async (t) => {
  const path = join(await temporary(t), "one.lock")
  await writeFile(path, stale(process.pid, "at another time"))
  assert.equal(await isLocked(path, "here"), false)
  const lock = await takeLock(path, here)
  assert.equal(await isLocked(path, "here"), true)
  await lock.release()
  assert.equal(await isLocked(path, "here"), false)
})

test("a lock that a power cut left empty is stale", async (t) => {
  const folder = await temporary(t)
  const path = join(folder, "one.lock")
  for (const text of ["", "\0\0", '{"pid":1}', stale(process.pid, "x", { token: "../../x" })]) {
    await writeFile(path, text)
    await (await takeLock(path, here)).release()
    assert.deepEqual(await readdir(folder), [])
  }
})

test("a lock is free even when a power cut left its owner and the heir empty", async (t) => {
  const folder = await temporary(t)
  const path = join(folder, "one.lock")
  await writeFile(path, "")
  await takeLock(path, here)
  for (const name of await readdir(folder)) await writeFile(join(folder, name), "")
  await (await takeLock(path, here)).release()
  assert.deepEqual(await readdir(folder), [])
})

test("a lock of another machine is respected, and the message says how to be rid of it", async (t) => {
  const path = join(await temporary(t), "one.lock")
  const { pid } = await deadProcess()
  await writeFile(path, stale(pid, "long ago", { host: "there" }))
  assert.equal(await isLocked(path, "here"), true)
  await assert.rejects(takeLock(path, here), {
    code: "locked",
    message: `session session-one is in use on there by process ${pid}; close it there or, if that machine no longer works on it, delete ${path}`,
  })
})

test("a lock that is no longer ours is not removed", async (t) => {
  const path = join(await temporary(t), "one.lock")
  const lock = await takeLock(path, here)
  const foreign = stale(1, "x", { host: "there" })
  await writeFile(path, foreign)
  await lock.release()
  assert.equal(await readFile(path, "utf8"), foreign)
})

test("a process that ended and was not yet waited for counts as dead", {
  skip: process.platform !== "linux",
}, async (t) => {
  // The shell becomes a `sleep`, which never waits for the child; only then is the child let go, by a line on descriptor 3.
  const parent = spawn("bash", ["-c", "(read -r <&3) & echo $!; exec sleep 60"], {
    stdio: ["ignore", "pipe", "ignore", "pipe"],
  })
  t.after(() => parent.kill("SIGKILL"))
  const pid = Number((await once(parent.stdout!, "data"))[0])
  const until = async (path: string, holds: (text: string) => boolean) => {
    while (!holds(await readFile(path, "utf8"))) await new Promise((resolve) => setImmediate(resolve))
  }
  await until(`/proc/${parent.pid}/comm`, (name) => name === "sleep\n")
  const start = (await startOf(pid)) ?? ""
  assert.equal(await isAlive({ pid, start }), true)
  const gate = parent.stdio[3] as Writable
  gate.end("go\n")
  await until(`/proc/${pid}/stat`, (stat) => stat.includes(") Z "))
  assert.equal(await isAlive({ pid, start }), false)
  assert.equal(await isAlive({ pid, start: "" }), false)
})

test("other systems say through ps when a process started", async (t) => {
  const start = await startOf(process.pid, "darwin")
  if (start === undefined) return t.skip("there is no ps here")
  assert.match(start, /^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/)
  assert.equal(await startOf(process.pid, "darwin"), start)
})
