import { Log, nowhere } from "../src/core/log.ts"
import { jsonl } from "../src/store/jsonl.ts"

/** One stored session, read and folded once, by a process that has done neither before. In ms. */
const { BENCH_STATE: folder = "", BENCH_SESSION: id = "" } = process.env
const began = performance.now()
const { facts } = await jsonl({ folder }).read(id)
const read = performance.now()
const log = new Log(nowhere, Date.now, (error) => {
  throw error
})
const refused = log.replay(facts)
const folded = performance.now()
if (refused.length > 0) throw new Error(`${refused.length} of ${facts.length} events were refused`)
console.log(JSON.stringify({ events: facts.length, read: read - began, fold: folded - read }))
