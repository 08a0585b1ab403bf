import assert from "node:assert/strict"
import { test } from "node:test"
import type { Fact, Stamped } from "../../src/core/event.ts"
import { Log, nowhere } from "../../src/core/log.ts"

const opened = { type: "run.opened", agent: "main", model: "m", depth: 0, root: "/w", system: "" } as const
const role = { tools: "*", denied: [] } satisfies { tools: "*"; denied: string[] }
const make = (complaints: unknown[] = []) =>
  new Log(
    nowhere,
    () => 1,
    (error) => complaints.push(error),
  )

test("what a listener sets off is heard by all in the same order", () => {
  const log = make()
  const heard: number[] = []
  log.listen(({ type }) => {
    if (type === "run.opened") log.emit("r", { type: "mail.sent", text: "hello" })
  })
  log.listen(({ seq }) => heard.push(seq))
  log.emit("r", { ...opened, role, limits: { turns: 1 } })
  assert.deepEqual(heard, [1, 2])
})

test("a listener that throws harms nobody, and is complained of", () => {
  const complaints: unknown[] = []
  const log = make(complaints)
  const heard: string[] = []
  log.listen(() => {
    throw new Error("bad screen")
  })
  log.listen(({ type }) => heard.push(type))
  log.emit("r", { ...opened, role, limits: { turns: 1 } })
  assert.deepEqual([heard, complaints.map(String)], [["run.opened"], ["Error: bad screen"]])
})

test("after a replay no number is used twice, whatever could not be read", () => {
  const log = make()
  const stored: Stamped<Fact>[] = [
    { seq: 1, at: 1, run: "r", ...opened, role, limits: { turns: 1 } },
    { seq: 7, at: 1, run: "r", type: "call.ended", id: "none", ok: true, text: "", ms: 0 },
  ]
  assert.deepEqual(log.replay(stored, 9), [stored[1]])
  const seen: number[] = []
  log.listen(({ seq }) => seen.push(seq))
  log.emit("r", { type: "mail.sent", text: "more" })
  assert.deepEqual(seen, [10])
})

test("an event that makes no sense is refused and never stored", () => {
  const stored: unknown[] = []
  const log = new Log(
    { append: (fact) => stored.push(fact), synced: async () => {} },
    () => 1,
    () => {},
  )
  assert.throws(() => log.emit("nobody", { type: "mail.read" }), /unknown run, nobody/)
  assert.deepEqual(stored, [])
})
