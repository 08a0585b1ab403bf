import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { setImmediate } from "node:timers/promises"
import { type Options, open } from "../../src/session.ts"
import { memory } from "../../src/store/memory.ts"
import { type Asked, call, type Fault, type Heard, type Reply, type Script, serve, stall } from "../../src/testing.ts"
import { home } from "./binary.ts"

const models = ["anthropic/any", "openai-chat/any", "openai-responses/any"]

type Answer = Reply | Fault
type Step = Answer | ((asked: Asked) => Answer | Promise<Answer>)

/** The prompt that somebody works on: the last line that they were told. */
const promptIn = ({ messages }: Asked): string =>
  messages
    .findLast(({ role }) => role === "user")!
    .text.split("\n")
    .at(-1)!

/** What each says, turn by turn, by the prompt that it works on; after that, what its last calls brought. */
const cast =
  (parts: Record<string, Step[]>): Script =>
  (asked) => {
    const since = asked.messages.slice(asked.messages.findLastIndex(({ role }) => role === "user"))
    const step = parts[promptIn(asked)]?.[since.filter(({ role }) => role === "assistant").length]
    if (step !== undefined) return typeof step === "function" ? step(asked) : step
    return resultsIn(asked).join("\n=====\n") || "done"
  }

/** What came of the last calls. */
const resultsIn = ({ messages }: Asked): string[] =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
    .flatMap(({ role, text }) => (role === "result" ? [text] : []))

type Setup = Omit<Options, "cwd" | "env"> & { files?: Record<string, string>; settings?: object }

async function stage(t: TestContext, script: Script, { files, settings = {}, ...options }: Setup) {
  const server = await serve(script)
  t.after(() => server.close())
  const place = await home(t, { ...files, "../config/legwork/settings.json": JSON.stringify(settings) })
  const env = { ...place.env, ...server.env }
  const session = await open({ cwd: place.work, env, store: memory(), ...options })
  t.after(() => session.close())
  const asked = (prompt: string) => server.requests.filter((each) => promptIn(each) === prompt)
  /** Who was started, and with what knowledge. */
  const children = () =>
    [...session.view.values()].slice(1).map(({ agent, history = "fresh" }) => `${agent} ${history}`)
  return { server, place, session, asked, children }
}

/** A body without the closing of its list of messages. */
const opened = ({ raw }: Asked): string => raw.slice(0, -"]}".length)

const fork = (prompt: string, more: object = {}) => call("task", { prompt, context: "fork", ...more })
const agent = (fields: string, prompt: string): string => `---\ndescription: d\n${fields}\n---\n${prompt}\n`

for (const model of models) {
  test(`a fork that is an agent of its own has that one's powers and words, and all else of its parent (${model})`, async (t) => {
    const files = {
      "a.txt": "one\n",
      ".legwork/agents/scout.md": agent("context: fork\nmodel: openai/other\ntools: Read, Grep", "You scout ahead."),
    }
    const calls = [
      call("write", { file_path: "b.txt", content: "b" }),
      call("bash", { command: "touch c.txt" }),
      call("read", { file_path: "a.txt" }),
    ]
    const script = cast({ go: [[call("task", { prompt: "scout it", subagent_type: "scout" })]], "scout it": [calls] })
    const { server, session, asked, place } = await stage(t, script, { model, files, permissionMode: "bypass" })
    const { text } = await session.prompt("go")
    const [main, [first, then]] = [asked("go")[0]!, asked("scout it") as [Asked, Asked]]
    assert.ok(first.raw.startsWith(opened(main)))
    assert.deepEqual([first.system, first.tools, first.model], [main.system, main.tools, "any"])
    assert.match(
      `${first.messages.at(-2)?.text}\n${first.last}`,
      /you are a fork.*\n\nYou scout ahead\.\n\nThe task:\nscout it$/,
    )
    const refused = (name: string) =>
      `not permitted: ${name} is not among the tools of this agent, scout; go on without it`
    const [wrote, ran, read] = resultsIn(then).map((text) => text.replace(/^Error: /, ""))
    assert.deepEqual([wrote, ran], [refused("write"), refused("bash")])
    assert.match(read!, /one$/m)
    await assert.rejects(place.file("b.txt"))
    await assert.rejects(place.file("c.txt"))
    assert.match(text, /agent \w{8} · completed · 3 tools/)
    assert.deepEqual(server.refused, [])
  })

  test(`a read-only agent that is forked writes nothing, whatever its parent may do (${model})`, async (t) => {
    const files = { ".legwork/agents/wary.md": agent("readonly: true", "You change nothing.") }
    const calls = [call("write", { file_path: "b.txt", content: "b" }), call("bash", { command: "touch b.txt" })]
    const script = cast({
      go: [[fork("explore it", { subagent_type: "explore" }), fork("watch it", { subagent_type: "wary" })]],
      "explore it": [calls],
      "watch it": [calls],
    })
    const { server, session, asked, place } = await stage(t, script, { model, files, permissionMode: "bypass" })
    await session.prompt("go")
    for (const prompt of ["explore it", "watch it"]) {
      assert.ok(asked(prompt)[0]?.raw.startsWith(opened(asked("go")[0]!)))
      const [wrote, ran] = resultsIn(asked(prompt)[1]!).slice(-2)
      assert.match(wrote!, /not permitted: write is not among the tools/)
      assert.match(ran!, /Read-only file system|not permitted: bash is not among the tools/)
    }
    await assert.rejects(place.file("b.txt"))
    assert.deepEqual(server.refused, [])
  })

  test(`a fork does not fork again, by no way of asking; what it may start is fresh (${model})`, async (t) => {
    const script = cast({
      go: [[call("task", { prompt: "fork it" })]],
      "fork it": [[fork("once more"), fork("as code", { subagent_type: "code" }), call("task", { prompt: "help" })]],
    })
    const settings = { fork: true, limits: { depth: 2 } }
    const { server, session, asked, children } = await stage(t, script, { model, settings })
    await session.prompt("go")
    const [again, named, helped] = resultsIn(asked("fork it")[1]!)
    for (const text of [again, named])
      assert.match(text!, /^(Error: )?a fork does not fork again: do the work yourself, or ask for context fresh$/)
    assert.match(helped!, /^done\n\nagent \w{8} · completed/)
    assert.deepEqual(children(), ["fork fork", "general fresh"])
    assert.deepEqual(asked("help")[0]?.messages, [{ role: "user", text: "help" }])
    assert.deepEqual(server.refused, [])
  })

  test(`a child forks from its own conversation, and a fork goes on from its own (${model})`, async (t) => {
    const more = ({ last }: Asked) => [call("task", { prompt: "and then?", resume: /agent (\w{8})/.exec(last)![1] })]
    const script = cast({
      go: [[call("task", { prompt: "lead", subagent_type: "lead" })]],
      lead: [[call("glob", { pattern: "*" })], [fork("fork it")], more],
    })
    const files = { ".legwork/agents/lead.md": agent("temperature: 0.2", "You lead.") }
    const settings = { limits: { depth: 2 } }
    const { server, session, asked, children } = await stage(t, script, { model, files, settings })
    await session.prompt("go")
    assert.deepEqual(children(), ["lead fresh", "fork fork"])
    const [lead, first, then] = [asked("lead")[1]!, asked("fork it")[0]!, asked("and then?")[0]!]
    assert.ok(first.raw.startsWith(opened(lead)))
    assert.equal(first.body.temperature, 0.2)
    const unmarked = (text: string) => text.replaceAll(',"cache_control":{"type":"ephemeral"}', "")
    assert.ok(unmarked(then.raw).startsWith(unmarked(opened(first))))
    assert.deepEqual(server.refused, [])
  })

  test(`a filtered child has its own words and tools, and of its parent's conversation what fits them (${model})`, async (t) => {
    const files = {
      "a.txt": "one\n",
      ".legwork/agents/reviewer.md": agent("forkContext: true\ntools: read, grep", "You review."),
    }
    const looks = [call("read", { file_path: "a.txt" }), call("bash", { command: "echo hi" })]
    const script = cast({
      "look around": [{ text: "I look.", calls: looks }, "I have looked."],
      go: [[call("task", { prompt: "review it", subagent_type: "reviewer" })]],
    })
    const { server, session, asked } = await stage(t, script, { model, files, permissionMode: "bypass" })
    await session.prompt("look around")
    await session.prompt("go")
    const [child] = asked("review it")
    assert.match(child!.system, /^You review\.\n\nYou are a subagent: /)
    assert.deepEqual(child!.tools, ["read", "grep"])
    const read = asked("look around")[1]!.messages.find(({ role }) => role === "result")!
    assert.match(read.text, /one$/m)
    const summary = ["Calls that are left out here, each with the start of its result:", "- bash (echo hi): hi"]
    const separator =
      "What stands above is another agent's conversation, for background only. You are a subagent with tools of your own: read, grep. Your task comes next."
    assert.deepEqual(merged(child!.messages), [
      { role: "user", text: "look around" },
      { role: "assistant", text: "I look.", calls: [{ id: read.call, name: "read", input: { file_path: "a.txt" } }] },
      read,
      { role: "user", text: summary.join("\n") },
      { role: "assistant", text: "I have looked." },
      { role: "user", text: ["go", separator, "review it"].join("\n") },
    ])
    assert.deepEqual(server.refused, [])
  })

  test(`the command forks where its settings say so, and reports as always (${model})`, async (t) => {
    await using server = await serve(
      cast({ go: [[call("task", { prompt: "fork it", description: "the fork" })]], "fork it": ["The fork was here."] }),
    )
    const { run } = await home(t, { "../config/legwork/settings.json": '{ "fork": true }' })
    const ran = await run(["-p", "go", "--model", model], { env: server.env })
    assert.match(
      ran.stdout,
      /^The fork was here\.\n\nagent [0-9a-f]{8} · completed · 0 tools · \d+\.\ds · \S+ tokens\n$/,
    )
    assert.match(ran.stderr, /^ {2}\[fork\] the fork - done/m)
    assert.equal(ran.code, 0)
    const [main, child] = server.requests as [Asked, Asked]
    assert.ok(child.raw.startsWith(opened(main)))
    assert.deepEqual([server.requests.length, server.refused], [3, []])
  })

  test(`killed while a fork works, the session goes on and the fork asks with the same bytes (${model})`, async (t) => {
    const arrived = Promise.withResolvers<void>()
    let times = 0
    const once: Step = () => {
      arrived.resolve()
      return times++ === 0 ? stall({ pings: 0 }) : "The fork was here."
    }
    await using server = await serve(cast({ go: [[fork("fork it")]], "fork it": [once] }))
    const place = await home(t)
    const args = ["--model", model, "--output-format", "stream-json"]
    const running = place.start(["-p", "go", ...args], { env: server.env })
    const first = await running.event(({ type }) => type === "run.opened")
    assert.ok(first.type === "run.opened")
    await arrived.promise
    const file = join(place.state, "legwork/sessions", `${first.session}.jsonl`)
    while (!(await readFile(file, "utf8")).includes('"history":{"as":"fork"}')) await setImmediate()
    running.child.kill("SIGKILL")
    await running.done
    const again = await place.run(["-r", first.session!, "-p", ...args], { env: server.env })
    assert.equal(again.code, 0, again.stderr)
    const [main, before, after] = server.requests as [Asked, Asked, Asked]
    assert.ok(after.raw === before.raw)
    assert.ok(after.raw.startsWith(opened(main)))
    assert.match(server.requests.at(-1)!.last, /^The fork was here\.\n\nagent \w{8} · completed/)
    assert.deepEqual(server.refused, [])
  })
}

/** What is said in a row, as one: formats differ in how they part it. */
function merged(messages: readonly Heard[]): Heard[] {
  const made: Heard[] = []
  for (const message of messages) {
    const last = made.at(-1)
    if (message.role === "user" && last?.role === "user") last.text += `\n${message.text}`
    else made.push({ ...message })
  }
  return made
}

const model = "anthropic/any"

test("a fork at the greatest depth sees the task tool, and is refused", async (t) => {
  const script = cast({ go: [[fork("fork it")]], "fork it": [[call("task", { prompt: "help" })]] })
  const { session, asked, children } = await stage(t, script, { model })
  await session.prompt("go")
  const [first, then] = asked("fork it") as [Asked, Asked]
  assert.ok(first.tools.includes("task"))
  assert.equal(then.last, "not permitted: task is not among the tools of this agent, fork; go on without it")
  assert.deepEqual(children(), ["fork fork"])
})

test("a fork has its parent's model: a call that asks for another is refused in words, and opens nothing", async (t) => {
  const files = { ".legwork/agents/scout.md": agent("context: fork", "You scout.") }
  const model = "anthropic/any"
  const calls = [fork("one", { model }), call("task", { prompt: "two", subagent_type: "scout", model: "small" })]
  const { session, asked, children } = await stage(t, cast({ go: [calls] }), { model, files })
  await session.prompt("go")
  const word = "a fork goes on with its parent's model: leave model out, or ask for context fresh"
  assert.deepEqual(resultsIn(asked("go")[1]!), [word, word])
  assert.deepEqual(children(), [])
})

test("a call's own context wins over the settings, these over the agent's file, and without any it is fresh", async (t) => {
  const files = {
    ".legwork/agents/plain.md": agent("name: plain", "x"),
    ".legwork/agents/forks.md": agent("name: forks\ncontext: fork", "x"),
    ".legwork/agents/sifts.md": agent("name: sifts\nforkContext: true", "x"),
    ".legwork/agents/was-plain.md": agent("name: was-plain", "x"),
    ".legwork/agents/was-fork.md": agent("name: was-fork\ncontext: fork", "x"),
  }
  const settings = { agents: { "was-plain": { context: "filtered" }, "was-fork": { context: "fresh" } } }
  const cases: [task: object, who: string][] = [
    [{ subagent_type: "plain" }, "plain fresh"],
    [{ subagent_type: "forks" }, "forks fork"],
    [{ subagent_type: "sifts" }, "sifts filtered"],
    [{ subagent_type: "was-plain" }, "was-plain filtered"],
    [{ subagent_type: "was-fork" }, "was-fork fresh"],
    [{ subagent_type: "plain", context: "fork" }, "plain fork"],
    [{ subagent_type: "forks", context: "fresh" }, "forks fresh"],
    [{ subagent_type: "sifts", context: "fork" }, "sifts fork"],
    [{ subagent_type: "was-plain", context: "fork" }, "was-plain fork"],
    [{ subagent_type: "was-fork", context: "filtered" }, "was-fork filtered"],
    [{ context: "fork" }, "fork fork"],
    [{ context: "filtered" }, "general filtered"],
    [{ context: "fresh" }, "general fresh"],
  ]
  const unnamed: Record<string, string> = { true: "fork fork", false: "general fresh" }
  for (const fork of [true, false]) {
    const all: typeof cases = [...cases, [{}, unnamed[`${fork}`]!]]
    const calls = all.map(([task], n) => call("task", { prompt: `part ${n}`, ...task }))
    const setup = { model, files, settings: { fork, ...settings } }
    const { session, asked, server } = await stage(t, cast({ go: [calls] }), setup)
    await session.prompt("go")
    const main = asked("go")[0]!
    const agents = new Map([...session.view.values()].map(({ label, agent }) => [label, agent]))
    const found = all.map((_, n) => `${agents.get(`part ${n}`)} ${modeOf(asked(`part ${n}`)[0]!, main)}`)
    assert.deepEqual(
      found,
      all.map(([, who]) => who),
    )
    assert.deepEqual(server.refused, [])
  }
})

/** What a child was sent of the conversation of its parent, as the bytes tell. */
function modeOf(child: Asked, main: Asked): string {
  if (child.raw.startsWith(opened(main))) return "fork"
  return child.messages.length === 1 && child.last === promptIn(child) ? "fresh" : "filtered"
}

test("a fork edits what its parent has read; a fresh child is told to read it first", async (t) => {
  const edit = (word: string) => [call("edit", { file_path: "a.txt", old_string: "one", new_string: word })]
  const script = cast({
    go: [
      [call("read", { file_path: "a.txt" })],
      [call("task", { prompt: "start anew" })],
      [fork("fork it")],
      edit("the parent's"),
    ],
    "start anew": [edit("the fresh one's")],
    "fork it": [edit("the fork's")],
  })
  const { session, asked, place } = await stage(t, script, {
    model,
    files: { "a.txt": "one\n" },
    permissionMode: "bypass",
  })
  const { text } = await session.prompt("go")
  assert.match(asked("start anew")[1]!.last, /a\.txt is there already and was not read: read it first/)
  assert.equal(asked("fork it")[1]!.last, "changed a.txt (1 place)")
  assert.equal(await place.file("a.txt"), "the fork's\n")
  assert.match(text, /a\.txt was changed since it was read: read it again/, "the parent knows an older version")
})

test("a fork is told when a file is no longer what its parent read; of siblings that edit one file, one is", async (t) => {
  const edit = (file_path: string) => [call("edit", { file_path, old_string: "one", new_string: "two" })]
  const { session, asked, place } = await stage(
    t,
    cast({
      go: [
        [call("read", { file_path: "a.txt" }), call("read", { file_path: "b.txt" })],
        [fork("late"), fork("left"), fork("right")],
      ],
      late: [[call("bash", { command: "echo one, but other > a.txt" })], edit("a.txt")],
      left: [edit("b.txt")],
      right: [edit("b.txt")],
    }),
    { model, files: { "a.txt": "one\n", "b.txt": "one\n" }, permissionMode: "bypass" },
  )
  await session.prompt("go")
  assert.match(asked("late")[2]!.last, /a\.txt was changed since it was read: read it again/)
  assert.equal(await place.file("a.txt"), "one, but other\n")
  const [won, lost] = [asked("left")[1]!.last, asked("right")[1]!.last].toSorted((a, b) => a.length - b.length)
  assert.equal(won, "changed b.txt (1 place)")
  assert.match(lost!, /b\.txt was changed since it was read: read it again/)
})

test("a program's own task may be a fork of the conversation so far", async (t) => {
  const { session, asked, server } = await stage(t, cast({ go: ["I know it all."] }), { model })
  await session.prompt("go")
  const { status, agentType } = await session.task({ prompt: "fork it", context: "fork" })
  assert.deepEqual([status, agentType], ["completed", "fork"])
  assert.ok(asked("fork it")[0]?.raw.startsWith(opened(asked("go")[0]!)))
  assert.deepEqual(server.refused, [])
})
