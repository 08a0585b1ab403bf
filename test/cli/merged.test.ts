import assert from "node:assert/strict"
import { test } from "node:test"
import type { Question, Reply } from "../../src/agent/permission.ts"
import { merged, othersIn, type Shared } from "../../src/cli/merged.ts"

const question = (run: string, command: string): Question => ({
  run,
  call: "c",
  tool: "bash",
  input: { command },
  path: ["main", run],
  access: { kind: "run", command },
})
const never = new AbortController().signal

/** A person before whom questions lie until they are answered by number. */
function person() {
  const seen: { question: Shared; signal: AbortSignal; reply(reply: Reply): void }[] = []
  const ask = merged(
    (question, signal) =>
      new Promise((reply, reject) => {
        seen.push({ question, signal, reply })
        signal.addEventListener("abort", () => reject(signal.reason))
      }),
  )
  return { seen, ask }
}

test("several who ask for the very same are one question, and its answer is theirs", async () => {
  const { seen, ask } = person()
  const answers = ["a", "b", "c"].map((run) => ask(question(run, "make"), never))
  const other = ask(question("d", "make clean"), never)
  assert.deepEqual(
    seen.map(({ question: { run, others } }) => [run, others]),
    [
      [
        "a",
        [
          ["main", "b"],
          ["main", "c"],
        ],
      ],
      ["d", []],
    ],
  )
  assert.deepEqual(othersIn(seen[0]!.question), ["and 2 others ask the same"])
  seen[0]!.reply({ allow: true })
  seen[1]!.reply({ allow: false, word: "no" })
  assert.deepEqual(await Promise.all(answers), [{ allow: true }, { allow: true }, { allow: true }])
  assert.deepEqual(await other, { allow: false, word: "no" })
})

test("once answered, the same is asked anew", async () => {
  const { seen, ask } = person()
  const first = ask(question("a", "make"), never)
  seen[0]!.reply({ allow: true })
  await first
  void ask(question("a", "make"), never)
  assert.equal(seen.length, 2)
})

test("a question stays while anybody still asks it, and goes with the last", async () => {
  const { seen, ask } = person()
  const stops = [new AbortController(), new AbortController()]
  const answers = stops.map(({ signal }, at) => ask(question(`${at}`, "make"), signal))
  stops[0]!.abort(new Error("stopped"))
  await assert.rejects(answers[0]!, /stopped/)
  assert.equal(seen[0]!.signal.aborted, false)
  stops[1]!.abort(new Error("stopped too"))
  await assert.rejects(answers[1]!, /stopped too/)
  assert.equal(seen[0]!.signal.aborted, true)
})
