import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import type { Blob } from "../../src/store/line.ts"
import { type Target, Writer } from "../../src/store/writer.ts"
import { said } from "./samples.ts"

/** A disk that writes down what is done to it and syncs when told. */
function disk(over: Partial<Target> = {}) {
  const done: string[] = []
  const syncs: { done(): void; fail(error: Error): void }[] = []
  const target: Target = {
    path: "/state/one.jsonl",
    put: async (blobs: readonly Blob[]) => {
      done.push(`put ${blobs.length}`)
    },
    write: (text) => {
      done.push(`write ${text.split("\n").length - 1}`)
    },
    sync: () => {
      done.push("sync")
      return new Promise((resolve, reject) => syncs.push({ done: resolve, fail: reject }))
    },
    close: async () => {
      done.push("close")
    },
    ...over,
  }
  return { done, syncs, writer: new Writer(target) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
const full = (code: string) => Object.assign(new Error(`${code}: no room`), { code })

test("what is appended in one turn is one write, without a sync", async () => {
  const { done, writer } = disk()
  for (let seq = 1; seq <= 100; seq++) {
    writer.append(said(seq, "x"))
    await Promise.resolve()
  }
  assert.deepEqual(done, [])
  await turn()
  writer.append(said(101, "y"))
  await turn()
  assert.deepEqual(done, ["write 100", "write 1"])
})

test("a thousand that wait share one sync, and those that come during it share the next", async () => {
  const { done, syncs, writer } = disk()
  const safe: string[] = []
  const wait = (name: string) => {
    writer.append(said(1, name))
    return writer.synced().then(() => safe.push(name))
  }
  const first = Array.from({ length: 1_000 }, () => wait("first"))
  await turn()
  await turn()
  assert.deepEqual(done, ["write 1000", "sync"])
  const second = Array.from({ length: 1_000 }, () => wait("second"))
  await turn()
  await turn()
  assert.deepEqual(done, ["write 1000", "sync", "write 1000"])
  assert.deepEqual(safe, [])
  syncs[0]!.done()
  await Promise.all(first)
  await turn()
  assert.equal(safe.length, 1_000)
  assert.deepEqual(done, ["write 1000", "sync", "write 1000", "sync"])
  syncs[1]!.done()
  await Promise.all(second)
  assert.equal(safe.length, 2_000)
})

test("nothing new needs no sync", async () => {
  const { done, syncs, writer } = disk()
  await writer.synced()
  writer.append(said(1, "x"))
  const synced = writer.synced()
  await turn()
  await turn()
  syncs[0]!.done()
  await synced
  await writer.synced()
  assert.deepEqual(done, ["write 1", "sync"])
})

test("long texts are safe before the line that names them, and later lines wait their turn", async () => {
  const put = Promise.withResolvers<void>()
  const { done, writer } = disk({ put: () => put.promise })
  writer.append(said(1, "x".repeat(20_000)))
  await turn()
  writer.append(said(2, "short"))
  await turn()
  assert.deepEqual(done, [])
  put.resolve()
  await turn()
  assert.deepEqual(done, ["write 1", "write 1"])
})

for (const code of ["ENOSPC", "EDQUOT", "EIO"])
  test(`after ${code} on a write, nothing more is written and every wait rejects with advice`, async () => {
    let writes = 0
    const { done, writer } = disk({
      write: () => {
        writes++
        throw full(code)
      },
    })
    writer.append(said(1, "x"))
    const expected =
      code === "EIO"
        ? {
            code: "io",
            message: "could not write to /state/one.jsonl: EIO: no room; see that the folder is there and writable",
          }
        : {
            code: "full",
            message: `could not write to /state/one.jsonl: ${code}: no room; make room on that disk and resume the session`,
          }
    await assert.rejects(writer.synced(), expected)
    writer.append(said(2, "x"))
    await turn()
    await assert.rejects(writer.synced(), expected)
    await assert.rejects(writer.close(), expected)
    assert.equal(writes, 1)
    assert.deepEqual(done, ["close"])
  })

test("a sync that fails is not tried again", async () => {
  const { done, syncs, writer } = disk()
  writer.append(said(1, "x"))
  const waits = [writer.synced(), writer.synced()]
  await turn()
  await turn()
  syncs[0]!.fail(full("EIO"))
  for (const wait of waits) await assert.rejects(wait, { code: "io", message: /could not sync/ })
  writer.append(said(2, "x"))
  await assert.rejects(writer.synced(), { code: "io", message: /could not sync/ })
  assert.deepEqual(done, ["write 1", "sync"])
})

test("a long text that cannot be stored fails like a line, and what came meanwhile is not written after the gap", async () => {
  const put = Promise.withResolvers<void>()
  const { done, writer } = disk({ put: () => put.promise })
  writer.append(said(1, "x".repeat(20_000)))
  await turn()
  writer.append(said(2, "meanwhile"))
  put.reject(full("ENOSPC"))
  await assert.rejects(writer.synced(), { code: "full" })
  assert.deepEqual(done, [])
})

test("closing waits for what was appended, and happens once", async () => {
  const { done, syncs, writer } = disk()
  writer.append(said(1, "x"))
  const closed = Promise.all([writer.close(), writer.close()])
  await turn()
  await turn()
  assert.deepEqual(done, ["write 1", "sync"])
  syncs[0]!.done()
  await closed
  assert.deepEqual(done, ["write 1", "sync", "close"])
})

test("whoever is told that all is safe can find all that was appended before under a finished sync", async () => {
  const step = fc.record({ appends: fc.nat(3), long: fc.boolean(), waits: fc.boolean(), turns: fc.nat(2) })
  const law = fc.asyncProperty(
    fc.array(step, { maxLength: 30 }),
    fc.infiniteStream(fc.nat(4)),
    async (steps, delays) => {
      let [appended, written, safe, syncing] = [0, 0, 0, 0]
      const pause = async () => {
        for (let left: number = delays.next().value; left > 0; left--) await turn()
      }
      const { writer } = disk({
        put: pause,
        write: (text) => {
          written += text.split("\n").length - 1
        },
        sync: async () => {
          assert.equal(++syncing, 1)
          const reached = written
          await pause()
          safe = reached
          syncing--
        },
      })
      const waits: Promise<void>[] = []
      for (const { appends, long, waits: asks, turns } of steps) {
        for (let i = 0; i < appends; i++) writer.append(said(++appended, long ? "x".repeat(17_000) : "x"))
        const due = appended
        if (asks) waits.push(writer.synced().then(() => assert.ok(safe >= due, `${safe} of ${due} are safe`)))
        for (let i = 0; i < turns; i++) await turn()
      }
      await writer.close()
      await Promise.all(waits)
      assert.equal(safe, appended)
    },
  )
  await fc.assert(law, { numRuns: 200 })
})
