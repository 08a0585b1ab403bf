import assert from "node:assert/strict"
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import type { Event } from "../src/core/event.ts"
import { open } from "../src/session.ts"
import { memory } from "../src/store/memory.ts"
import { call, scripted, steps } from "../src/testing.ts"

type Asked = Extract<Event, { type: "gate.asked" }>

/** A session whose model wants to run two commands, and the questions it asks. */
async function asking(t: TestContext) {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "legwork-answer-")))
  t.after(() => rm(cwd, { recursive: true, force: true }))
  const model = scripted(
    steps([call("bash", { command: "touch one" })], [call("bash", { command: "touch two" })], "done"),
  )
  const session = await open({ cwd, model, attended: true, store: memory(), env: { PATH: process.env.PATH } })
  t.after(() => session.close())
  const questions = session.events()[Symbol.asyncIterator]()
  const next = async (): Promise<Asked> => {
    for (;;) {
      const { value } = await questions.next()
      if (value.type === "gate.asked") return value
    }
  }
  return { session, next, cwd }
}

test("an answer counts for the question of that run and call, once, and for no other", async (t) => {
  const { session, next, cwd } = await asking(t)
  const report = session.prompt("go")
  const one = await next()
  assert.equal(session.answer({ run: one.run, call: "another" }, { allow: true }), false)
  assert.equal(session.answer({ run: "another", call: one.call }, { allow: true }), false)
  assert.equal(session.answer(one, { allow: true }), true)
  const two = await next()
  assert.equal(session.answer(one, { allow: true }), false)
  assert.equal(session.answer(two, { allow: false, word: "not that" }), true)
  const { status, refused } = await report
  assert.deepEqual(
    [status, refused.map(({ what, why }) => [what, why])],
    ["completed", [["run touch two", "the user said no: not that"]]],
  )
  assert.deepEqual(await readdir(cwd), ["one"])
})

test("a question that was stopped can no longer be answered, and its call was not made", async (t) => {
  const { session, next, cwd } = await asking(t)
  const report = session.prompt("go")
  const { run, call } = await next()
  await session.cancel()
  assert.equal(session.answer({ run, call }, { allow: true }), false)
  assert.equal((await report).status, "cancelled")
  const results = session.view
    .get(session.main)
    ?.messages.flatMap((message) => (message.role === "result" ? [message] : []))
  assert.deepEqual(
    results?.map(({ call, ok, text }) => [call, ok, /^stopped before it/.test(text)]),
    [[call, false, true]],
  )
  assert.deepEqual(await readdir(cwd), [])
})
