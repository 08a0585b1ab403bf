import assert from "node:assert/strict"
import { test } from "node:test"
import type { Question } from "../../src/agent/permission.ts"
import { gateFor, type Mode } from "../../src/agent/permit.ts"
import type { Access } from "../../src/core/access.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { world } from "./world.ts"

const accesses: Record<string, Access> = {
  none: { kind: "none" },
  agent: { kind: "agent", name: "explore" },
  "read inside": { kind: "read", path: "/w/a", inside: true },
  "read outside": { kind: "read", path: "/etc/hosts", inside: false },
  "write inside": { kind: "write", path: "/w/a", inside: true, guarded: false },
  "write guarded": { kind: "write", path: "/w/.git/hooks/x", inside: true, guarded: true },
  "write outside": { kind: "write", path: "/etc/hosts", inside: false, guarded: false },
  run: { kind: "run", command: "ls" },
  fetch: { kind: "fetch", url: "https://example.com" },
}

const table: Record<Mode, string[]> = {
  default: ["allow", "allow", "allow", "ask", "ask", "ask", "deny", "ask", "ask"],
  acceptEdits: ["allow", "allow", "allow", "ask", "allow", "ask", "deny", "ask", "ask"],
  plan: ["allow", "allow", "allow", "ask", "deny", "deny", "deny", "deny", "ask"],
  bypass: ["allow", "allow", "allow", "allow", "allow", "allow", "deny", "allow", "allow"],
}

for (const [mode, expected] of Object.entries(table)) {
  test(`mode ${mode} decides every kind of access`, () => {
    const gate = gateFor(mode as Mode)
    assert.deepEqual(
      Object.fromEntries(Object.entries(accesses).map(([name, access]) => [name, gate(access).do])),
      Object.fromEntries(Object.keys(accesses).map((name, n) => [name, expected[n]])),
    )
  })
}

const changing = () => scripted(({ messages }) => (messages.length > 1 ? "end" : [call("change", { on: "f" }, "c")]))
const answersOf = ({ facts }: ReturnType<typeof world>) =>
  facts.flatMap((fact) => (fact.type === "gate.answered" ? [[fact.allow, fact.by, fact.word]] : []))

test("with nobody there to answer, the answer is no and the model is told", async () => {
  const each = world(changing(), { gate: gateFor("default") })
  const run = each.open()
  await each.runtime.prompt(run, { text: "go" })
  assert.deepEqual(each.done, [])
  const word = "nobody is there to permit it (write /w/x); go on without it and say so"
  assert.deepEqual(answersOf(each), [[false, "nobody", word]])
  const result = each.view.get(run)!.messages.find(({ role }) => role === "result")
  assert.deepEqual(result, { role: "result", call: "c", name: "change", ok: false, text: `not permitted: ${word}` })
})

test("whoever answers is told who asks and for what", async () => {
  const asked: Question[] = []
  const model = scripted(({ system, messages }) => {
    if (messages.length > 1) return "end"
    return system === "MAIN" ? [call("task", { agent: "lead", prompt: "p" })] : [call("change", { on: "f" }, "c")]
  })
  const answer = async (question: Question) => {
    asked.push(question)
    return { allow: true } as const
  }
  const each = world(model, { gate: gateFor("default"), answer })
  await each.runtime.prompt(each.open(), { text: "go" })
  const access = { kind: "write", path: "/w/x", inside: true, guarded: false } as const
  assert.deepEqual(asked, [
    { run: "r1", call: "c", tool: "change", input: { on: "f" }, access, path: ["main", "lead"] },
  ])
  assert.deepEqual(each.done, ["c"])
  assert.deepEqual(answersOf(each), [[true, "user", undefined]])
})

test("a no with a word reaches the model", async () => {
  const each = world(changing(), {
    gate: gateFor("default"),
    answer: async () => ({ allow: false, word: "use git mv" }),
  })
  const run = each.open()
  await each.runtime.prompt(run, { text: "go" })
  assert.deepEqual(each.done, [])
  const result = each.view.get(run)!.messages.find(({ role }) => role === "result")
  assert.deepEqual(result && "text" in result && result.text, "not permitted: the user said no: use git mv")
})

test("an answerer that breaks means no", async () => {
  const each = world(changing(), {
    gate: gateFor("default"),
    answer: () => Promise.reject(new Error("the screen is gone")),
  })
  assert.equal((await each.runtime.prompt(each.open(), { text: "go" })).status, "completed")
  assert.deepEqual(each.done, [])
})

test("an answer that never comes does not outlive a stop", { timeout: 5_000 }, async () => {
  const each = world(changing(), { gate: gateFor("default"), answer: () => new Promise(() => {}) })
  const run = each.open()
  each.log.listen(({ type }) => {
    if (type === "gate.asked") void each.runtime.cancel(run)
  })
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "cancelled", text: "" })
})

test("a question that was open at a crash is asked again, and one that was answered is not", async () => {
  const stored = async (until: string) => {
    const whole = world(changing(), { gate: gateFor("default"), answer: async () => ({ allow: true }) })
    await whole.runtime.prompt(whole.open(), { text: "go" })
    return whole.facts.slice(0, whole.facts.findIndex(({ type }) => type === until) + 1)
  }
  for (const [until, expected] of [
    ["gate.asked", 1],
    ["gate.answered", 0],
  ] as const) {
    let asked = 0
    const answer = async () => {
      asked++
      return { allow: true } as const
    }
    const again = world(changing(), { gate: gateFor("default"), stored: await stored(until), answer })
    await again.runtime.resume()
    assert.equal(asked, expected, until)
    assert.deepEqual(again.done, ["c"])
    assert.equal(again.facts.filter(({ type }) => type === "gate.asked").length, 1)
  }
})

test("a yes from before a crash does not outlive a stricter mode", async () => {
  const whole = world(changing(), { gate: gateFor("default"), answer: async () => ({ allow: true }) })
  await whole.runtime.prompt(whole.open(), { text: "go" })
  const stored = whole.facts.slice(0, whole.facts.findIndex(({ type }) => type === "gate.answered") + 1)
  const again = world(changing(), { gate: gateFor("plan"), stored })
  await again.runtime.resume()
  assert.deepEqual(again.done, [])
})
