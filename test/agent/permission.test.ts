import assert from "node:assert/strict"
import { test } from "node:test"
import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import type { Question } from "../../src/agent/permission.ts"
import { type Gate, tool, type Use } from "../../src/agent/scope.ts"
import type { Fence, Rule } from "../../src/core/access.ts"
import type { Hooks, Moment, Said } from "../../src/core/hook.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { toolsOf, world } from "./world.ts"

/** Asks about writing, and allows what was allowed for good. */
const asking: Gate = ({ access }) => (access.kind === "write" ? { do: "ask" } : { do: "allow" })
const denying: Gate = ({ access }) => (access.kind === "write" ? { do: "deny", why: "no" } : { do: "allow" })

const changing = () => scripted(({ messages }) => (messages.length > 1 ? "end" : [call("change", { on: "f" }, "c")]))
const answersOf = ({ facts }: ReturnType<typeof world>) =>
  facts.flatMap((fact) => (fact.type === "gate.answered" ? [[fact.allow, fact.by, fact.word]] : []))

test("with nobody there to answer, the answer is no and the model is told", async () => {
  const each = world(changing(), { gate: asking })
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
  const each = world(model, { gate: asking, answer })
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
    gate: asking,
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
    gate: asking,
    answer: () => Promise.reject(new Error("the screen is gone")),
  })
  assert.equal((await each.runtime.prompt(each.open(), { text: "go" })).status, "completed")
  assert.deepEqual(each.done, [])
})

test("an answer that never comes does not outlive a stop", { timeout: 5_000 }, async () => {
  const each = world(changing(), { gate: asking, answer: () => new Promise(() => {}) })
  const run = each.open()
  each.log.listen(({ type }) => {
    if (type === "gate.asked") void each.runtime.cancel(run)
  })
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "cancelled", text: "" })
})

test("a gate that never decides does not outlive a stop, and what it was about did not begin", {
  timeout: 5_000,
}, async () => {
  const asked = Promise.withResolvers<void>()
  const gate: Gate = () => {
    asked.resolve()
    return new Promise(() => {})
  }
  const each = world(changing(), { gate })
  const run = each.open()
  const outcome = each.runtime.prompt(run, { text: "go" })
  await asked.promise
  await each.runtime.cancel(run)
  assert.deepEqual(await outcome, { status: "cancelled", text: "" })
  const told = each.facts.flatMap((fact) =>
    fact.type.startsWith("call.") ? [[fact.type, "text" in fact && fact.text]] : [],
  )
  assert.deepEqual(told, [["call.ended", "stopped before it began"]])
})

test("nothing is asked about a call that was stopped while its preview was made", async () => {
  const [looking, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()]
  const edit = offer(
    tool({
      name: "edit",
      description: "",
      input: z.strictObject({}),
      repeatable: false,
      access: () => ({ kind: "write", path: "/w/x", inside: true, guarded: false }),
      preview: () => {
        looking.resolve()
        return shown.promise
      },
      run: async () => ({ ok: true, text: "" }),
    }),
  )
  const model = scripted(({ messages }) => (messages.length > 1 ? "end" : [call("edit", {}, "A")]))
  const answers: Question[] = []
  const each = world(model, {
    tools: [edit],
    gate: asking,
    answer: async (question) => {
      answers.push(question)
      return { allow: true }
    },
  })
  const run = each.open()
  const outcome = each.runtime.prompt(run, { text: "go" })
  await looking.promise
  const stopped = each.runtime.cancel(run)
  shown.resolve(undefined)
  await stopped
  assert.deepEqual(await outcome, { status: "cancelled", text: "" })
  assert.deepEqual(answers, [])
  assert.deepEqual(
    each.facts.filter(({ type }) => type.startsWith("gate.")),
    [],
  )
})

test("a question that was open at a crash is asked again, and one that was answered is not", async () => {
  const stored = async (until: string) => {
    const whole = world(changing(), { gate: asking, answer: async () => ({ allow: true }) })
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
    const again = world(changing(), { gate: asking, stored: await stored(until), answer })
    await again.runtime.resume()
    assert.equal(asked, expected, until)
    assert.deepEqual(again.done, ["c"])
    assert.equal(again.facts.filter(({ type }) => type === "gate.asked").length, 1)
  }
})

test("a yes from before a crash does not outlive a stricter mode", async () => {
  const whole = world(changing(), { gate: asking, answer: async () => ({ allow: true }) })
  await whole.runtime.prompt(whole.open(), { text: "go" })
  const stored = whole.facts.slice(0, whole.facts.findIndex(({ type }) => type === "gate.answered") + 1)
  const again = world(changing(), { gate: denying, stored })
  await again.runtime.resume()
  assert.deepEqual(again.done, [])
})

const rule: Rule = { tool: "change", pattern: "*", do: "allow" }

/** Asks until somebody has allowed it for good. */
const learning = (view: () => ReturnType<typeof world>["view"] | undefined): Gate => {
  const isAllowed = () => (view()?.get("r0")?.allowed.length ?? 0) > 0
  return ({ access }) =>
    access.kind !== "write" || isAllowed() ? { do: "allow" } : { do: "ask", always: [rule], parts: ["change"] }
}

test("a yes for good is a fact, counts for the whole tree, and settles questions that already wait", async () => {
  const asked: Question[] = []
  const gone: string[] = []
  const model = scripted(({ system, messages }) => {
    if (messages.length > 1) return "end"
    if (system !== "MAIN") return [call("change", { on: "f" })]
    return ["a", "b", "c"].map((prompt) => call("task", { agent: "lead", prompt }))
  })
  const all = Promise.withResolvers<void>()
  const answer = async (question: Question, signal: AbortSignal) => {
    if (asked.push(question) === 3) all.resolve()
    signal.addEventListener("abort", () => gone.push(question.run))
    await all.promise
    return question.run === "r1" ? ({ allow: true, always: true } as const) : new Promise<never>(() => {})
  }
  const each: ReturnType<typeof world> = world(model, {
    gate: learning(() => each?.view),
    answer,
    bounds: { parallel: 3 },
  })
  assert.equal((await each.runtime.prompt(each.open(), { text: "go" })).status, "completed")
  assert.deepEqual(
    asked.map(({ run, always, parts }) => ({ run, always, parts })),
    ["r1", "r2", "r3"].map((run) => ({ run, always: [rule], parts: ["change"] })),
  )
  assert.deepEqual(gone, ["r2", "r3"])
  assert.equal(each.done.length, 3)
  const answers = each.facts.flatMap((fact) => (fact.type === "gate.answered" ? [fact] : []))
  assert.deepEqual(
    answers.map(({ run, allow, by, always }) => ({ run, allow, by, always })),
    [
      { run: "r1", allow: true, by: "user", always: [rule] },
      { run: "r2", allow: true, by: "rule", always: undefined },
      { run: "r3", allow: true, by: "rule", always: undefined },
    ],
  )
  assert.deepEqual(each.view.get("r0")?.allowed, [rule])
  // A session that goes on later still knows it.
  const again: ReturnType<typeof world> = world(changing(), { gate: learning(() => again?.view), stored: each.facts })
  await again.runtime.prompt("r0", { text: "once more" })
  assert.deepEqual(
    again.facts.slice(each.facts.length).filter(({ type }) => type === "gate.asked"),
    [],
  )
})

test("a yes for good where nothing of the kind was offered is a yes for once", async () => {
  const each = world(changing(), { gate: asking, answer: async () => ({ allow: true, always: true }) })
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(each.done, ["c"])
  assert.deepEqual(each.view.get("r0")?.allowed, [])
})

test("what a call is kept to is the tightest of its run's fence and the gate's", async () => {
  const fences: (Fence | undefined)[] = []
  const tools = toolsOf([]).map((offer) => ({
    ...offer,
    load: async () => {
      const tool = await offer.load()
      const run = (input: unknown, use: Use) => {
        fences.push(use.fence)
        return tool.run(input, use)
      }
      return { ...tool, run }
    },
  }))
  const wide: Fence = { level: "workspace-write", network: true }
  const narrow: Fence = { level: "read-only", network: false }
  const model = scripted(({ messages }) => (messages.length > 1 ? "end" : [call("look")]))
  for (const [fence, verdict, expected] of [
    [undefined, undefined, undefined],
    [wide, undefined, wide],
    [undefined, narrow, narrow],
    [wide, narrow, narrow],
    [narrow, wide, narrow],
    [{ ...wide, network: false }, wide, { ...wide, network: false }],
  ] as const) {
    const gate: Gate = () => ({ do: "allow", ...(verdict && { fence: verdict }) })
    const each = world(model, { tools, gate, ...(fence && { fence }) })
    await each.runtime.prompt(each.open(), { text: "go" })
    assert.deepEqual(fences.pop(), expected)
  }
})

/** Hooks that answer from a function, and note what they were told. */
function hooksOf(answer: (moment: Moment) => Partial<Said>): { hooks: Hooks; moments: Moment[] } {
  const moments: Moment[] = []
  return {
    moments,
    hooks: {
      has: () => true,
      fire: async (moment) => {
        moments.push(moment)
        return { notes: [], ...answer(moment) }
      },
    },
  }
}

test("hooks stand around every call: they refuse it, change its input, have a person asked or spare one, and add words", async () => {
  const ran = async (before: Partial<Said>, after: Partial<Said> = {}, gate: Gate = asking) => {
    const { hooks } = hooksOf(({ event }) => (event === "PreToolUse" ? before : event === "PostToolUse" ? after : {}))
    const each = world(changing(), { gate, hooksOf: async () => hooks })
    const run = each.open()
    await each.runtime.prompt(run, { text: "go" })
    const result = each.view.get(run)!.messages.find(({ role }) => role === "result")
    return result && "text" in result ? result.text : ""
  }
  const allow: Gate = () => ({ do: "allow" })
  const nobody = "not permitted: nobody is there to permit it (write /w/x); go on without it and say so"
  assert.equal(await ran({}), nobody)
  assert.equal(await ran({ decision: "allow" }), "change f")
  assert.equal(await ran({ decision: "allow" }, {}, denying), "not permitted: no")
  assert.equal(await ran({ decision: "allow" }, {}, () => ({ do: "ask", ruled: true })), nobody)
  assert.equal(await ran({ decision: "ask" }, {}, allow), nobody)
  assert.equal(
    await ran({ decision: "deny", reason: "not on Sundays" }, {}, allow),
    "not permitted: a hook refused it: not on Sundays",
  )
  assert.equal(await ran({ input: { on: "g" } }, {}, allow), "change g")
  assert.match(await ran({ input: { wrong: 1 } }, {}, allow), /^a hook changed the input to something unusable: /)
  assert.equal(
    await ran({}, { decision: "deny", reason: "mind the tests", context: "and the docs" }, allow),
    "change f\n\nmind the tests\n\nand the docs",
  )
})

test("hooks hear of every depth with the agent's id and type, and may keep a run from ending", async () => {
  let kept = 0
  const { hooks, moments } = hooksOf(({ event }) =>
    event === "SubagentStop" && kept++ === 0 ? { decision: "deny", reason: "you forgot something" } : {},
  )
  const model = scripted(({ system, messages }) => {
    if (messages.at(-1)?.role === "user" && messages.length > 1) return "now all of it"
    if (messages.length > 1) return "end"
    return system === "MAIN" ? [call("task", { agent: "lead", prompt: "p" }, "t")] : [call("look", {}, "c")]
  })
  const each = world(model, { hooksOf: async () => hooks })
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(
    moments.map(({ event, agent, tool, stopActive }) => [event, agent?.id, agent?.type, tool?.id, stopActive]),
    [
      ["PreToolUse", undefined, undefined, "t", undefined],
      ["SubagentStart", "r1", "lead", undefined, undefined],
      ["PreToolUse", "r1", "lead", "c", undefined],
      ["PostToolUse", "r1", "lead", "c", undefined],
      ["SubagentStop", "r1", "lead", undefined, false],
      ["SubagentStop", "r1", "lead", undefined, true],
      ["PostToolUse", undefined, undefined, "t", undefined],
      ["Stop", undefined, undefined, undefined, false],
    ],
  )
  assert.deepEqual(each.view.get("r1")?.rest?.outcome, { status: "completed", text: "now all of it" })
})

test("a hook that says so ends the run, and what hooks say to people is on record", async () => {
  const { hooks } = hooksOf(({ event }) => (event === "PreToolUse" ? { stop: "enough", notes: ["seen"] } : {}))
  const each = world(changing(), { hooksOf: async () => hooks })
  assert.deepEqual(await each.runtime.prompt(each.open(), { text: "go" }), {
    status: "failed",
    text: "",
    error: { kind: "refused", message: "a hook ended the run: enough" },
  })
  const said = each.facts.flatMap((fact) => (fact.type === "hook.ran" ? [[fact.event, fact.call, fact.said]] : []))
  assert.deepEqual(said, [["PreToolUse", "c", { stop: "enough", notes: ["seen"] }]])
  assert.deepEqual(each.done, [])
})

test("a hook that stops a run at its end lets it end, whatever else wants it to go on", async () => {
  const { hooks } = hooksOf(({ event }) =>
    event === "Stop" ? { stop: "enough", decision: "deny", reason: "go on", notes: [] } : {},
  )
  const each = world(
    scripted(() => "done"),
    { hooksOf: async () => hooks },
  )
  const run = each.open()
  assert.deepEqual(await each.runtime.prompt(run, { text: "go" }), { status: "completed", text: "done" })
})

test("secrets in what hooks print are masked, for the record and for the model", async () => {
  const texts = { reason: "no: key-1", context: "see key-1", notes: ["key-1 seen"] }
  const { hooks } = hooksOf(({ event }) => (event === "PreToolUse" ? { decision: "deny", ...texts } : {}))
  const mask = (text: string) => text.replaceAll("key-1", "[secret]")
  const each = world(changing(), { hooksOf: async () => hooks, mask })
  await each.runtime.prompt(each.open(), { text: "go" })
  const said = each.facts.flatMap((fact) => (fact.type === "hook.ran" ? [fact.said] : []))
  const hidden = { reason: "no: [secret]", context: "see [secret]", notes: ["[secret] seen"] }
  assert.deepEqual(said, [{ decision: "deny", ...hidden }])
  assert.deepEqual(answersOf(each), [[false, "hook", "a hook refused it: no: [secret]"]])
})

test("hooks see a call as its tool will, not as the model spelled it", async () => {
  const input = z.preprocess(
    (asked) => {
      const { path, ...rest } = asked as Record<string, unknown>
      return path === undefined ? rest : { ...rest, file_path: path }
    },
    z.strictObject({ file_path: z.string() }),
  )
  const tools = toolsOf([]).map((offer) => ({ ...offer, load: async () => ({ ...(await offer.load()), input }) }))
  const { hooks, moments } = hooksOf(() => ({}))
  const model = scripted(({ messages }) => (messages.length > 1 ? "end" : [call("look", { path: ".env" }, "c")]))
  const each = world(model, { tools, hooksOf: async () => hooks })
  await each.runtime.prompt(each.open(), { text: "go" })
  assert.deepEqual(
    moments.flatMap(({ event, tool }) => (tool ? [[event, tool.input]] : [])),
    [
      ["PreToolUse", { file_path: ".env" }],
      ["PostToolUse", { file_path: ".env" }],
    ],
  )
})
