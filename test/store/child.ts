import { open, rm } from "node:fs/promises"
import { jsonl } from "../../src/store/jsonl.ts"
import { takeLock } from "../../src/store/lock.ts"
import { StoreError } from "../../src/store/store-error.ts"
import { headerOf, said } from "./samples.ts"

/** A process of its own for tests that need one to fight over a lock, to be killed or to run out of disk. */
const [job, folder = ""] = process.argv.slice(2)
const say = (word: string | number) => process.stdout.write(`${word}\n`)
const wordFor = (error: unknown) => (error instanceof StoreError ? error.code : String(error))

/** Appends for ever and says each number that is safe. */
async function append(): Promise<void> {
  const held = await jsonl({ folder }).create(headerOf("session-one"))
  for (let seq = 1; ; seq++) {
    held.append(said(seq, seq % 7 === 0 ? `${seq}`.repeat(10_000) : `number ${seq}`))
    if (seq % 3 > 0) continue
    await held.synced()
    say(seq)
  }
}

/** Appends until the disk is full, then says how it was told. */
async function fill(): Promise<void> {
  const held = await jsonl({ folder }).create(headerOf("session-one"))
  for (let seq = 1; ; seq++) {
    held.append(said(seq, "x".repeat(1_000)))
    try {
      await held.synced()
    } catch (error) {
      held.append(said(seq + 1, "after"))
      const later = await held.synced().catch(wordFor)
      const closed = await held.close().catch(wordFor)
      say(JSON.stringify({ safe: seq - 1, told: wordFor(error), later, closed, message: String(error) }))
      return
    }
  }
}

/** Holds the session until killed. */
async function hold(): Promise<void> {
  await jsonl({ folder }).create(headerOf("session-one"))
  say("held")
  setInterval(() => {}, 1_000)
}

/** For each path that is sent, tries to take that lock and keeps it. */
function race(): void {
  process.on("message", async (path: string) => {
    const word = await takeLock(path, { id: "session-one", host: "here" }).then(() => "won", wordFor)
    process.send?.(word)
  })
}

/** Takes and releases one lock many times; nobody else may be inside meanwhile. */
async function contend(): Promise<void> {
  let entered = 0
  while (entered < 40) {
    const lock = await takeLock(`${folder}/one.lock`, { id: "session-one", host: "here" }).catch((error: unknown) => {
      if (wordFor(error) !== "locked") throw error
    })
    if (!lock) continue
    const inside = await open(`${folder}/inside`, "wx")
    await inside.close()
    await rm(`${folder}/inside`)
    await lock.release()
    entered++
  }
  say("done")
}

const jobs: Record<string, () => unknown> = { append, fill, hold, race, contend }
await jobs[job ?? ""]?.()
