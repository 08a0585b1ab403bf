import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { test } from "node:test"
import { promisify } from "node:util"
import { findSandbox } from "../../src/sandbox/sandbox.ts"
import { type Asked, call, type Reply, type Script, serve } from "../../src/testing.ts"
import { eventsOf, home } from "./binary.ts"

const turnsIn = ({ messages }: Asked) => messages.filter(({ role }) => role === "assistant").length
const isChild = ({ system }: Asked) => system.includes("You are a subagent")
/** Whether read-only agents have a shell here. */
const fenced = (await findSandbox({ env: process.env })()).ok
const args = ["-p", "go", "--model", "anthropic/any"]

/** The main agent makes these calls, then says what came back; children answer as told. */
const leading =
  (calls: ReturnType<typeof call>[], child: (asked: Asked) => Reply): Script =>
  (asked) => {
    if (isChild(asked)) return child(asked)
    if (turnsIn(asked) === 0) return calls
    return asked.messages.flatMap(({ role, text }) => (role === "result" ? [text] : [])).join("\n=====\n")
  }

test("a child does the reading; the parent gets its answer, one line, and nothing else", async (t) => {
  await using server = await serve(
    leading(
      [call("task", { description: "find the framework", prompt: "which test framework?", subagent_type: "explore" })],
      (asked) =>
        turnsIn(asked) === 0
          ? [1, 2, 3, 4, 5].map((n) => call("read", { file_path: `src/${n}.txt` }))
          : { text: "It uses node:test (package.json:7).", usage: { input: 18_000, output: 400 } },
    ),
  )
  const files = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`src/${n}.txt`, `content of file ${n}\n`.repeat(50)]))
  const { run } = await home(t, files)
  const ran = await run(args, { env: server.env })
  assert.match(
    ran.stdout,
    /^It uses node:test \(package\.json:7\)\.\n\nagent [0-9a-f]{8} · completed · 5 tools · \d+\.\ds · 1[89]\.\dk tokens\n$/,
  )
  assert.deepEqual(server.refused, [])
  const children = server.requests.filter(isChild)
  assert.deepEqual(children[0]?.messages, [{ role: "user", text: "which test framework?" }])
  assert.deepEqual(children[0]?.tools, [...(fenced ? ["bash"] : []), "read", "glob", "grep", "ls"])
  const [alone, parent] = [children.at(-1)!, server.requests.at(-1)!].map(
    (asked) => JSON.stringify(asked.messages).length,
  )
  assert.ok(parent! < 0.15 * alone!, `the parent's history has ${parent} bytes, the child's ${alone}`)
  assert.match(
    ran.stderr,
    /^ {2}\[explore\] find the framework\n {2}\[explore\] find the framework - done \(5 tools, \d\.\ds\)$/m,
  )
})

test("names and parameters of other systems are understood; hidden fields never reach the child", async (t) => {
  const calls = [
    call("Task", { description: "d1", prompt: "p1", subagent_type: "Explore" }),
    call("Agent", { agent_type: "general-purpose", task: "p2" }),
    call("agent", { description: "p3" }),
  ]
  await using server = await serve(leading(calls, ({ messages }) => `did ${messages[0]?.text}`))
  const { run } = await home(t)
  const ran = await run([...args, "--output-format", "json"], { env: server.env })
  const { text, runs } = JSON.parse(ran.stdout)
  assert.deepEqual(text.match(/did p\d/g), ["did p1", "did p2", "did p3"])
  assert.deepEqual(runs.map(({ agent, depth }: { agent: string; depth: number }) => `${depth} ${agent}`).sort(), [
    "0 main",
    "1 explore",
    "1 general",
    "1 general",
  ])
})

test("a child's failure, an unknown agent and a model without a key are results, and the parent goes on", async (t) => {
  const calls = [
    call("task", { prompt: "fail", subagent_type: "explore" }),
    call("task", { prompt: "p", subagent_type: "explorer" }),
    call("task", { prompt: "p", model: "mistral/large" }),
    call("task", { prompt: "p", subagent_type: "code" }),
  ]
  await using server = await serve(
    leading(calls, ({ messages }) => {
      if (messages[0]?.text !== "fail") return "fine"
      return { type: "fail", error: { kind: "bad_request", message: "no such thing" }, retry: false }
    }),
  )
  const { run } = await home(t)
  const [failed, unknown, keyless, fine] = (await run(args, { env: server.env })).stdout.split("\n=====\n")
  assert.match(failed!, /^failed: .*no such thing\n\nagent \w+ · failed · 0 tools/)
  assert.match(unknown!, /^there is no agent named "explorer"; there are explore, /)
  assert.match(keyless!, /^agent general asks for the model mistral\/large: .*MISTRAL_API_KEY/)
  assert.match(fine!, /^fine\n\nagent /)
})

test("children write in the same files, and the receipt says what they changed whatever they say", async (t) => {
  await using server = await serve(
    leading([call("task", { prompt: "p", subagent_type: "code" })], (asked) =>
      turnsIn(asked) === 0 ? [call("write", { file_path: "new.txt", content: "hi\n" })] : "I changed nothing.",
    ),
  )
  const { run, file } = await home(t)
  const ran = await run([...args, "--permission-mode", "acceptEdits"], { env: server.env })
  assert.match(ran.stdout, /^I changed nothing\.\n\nagent .* · changed 1 file\n$/)
  assert.equal(await file("new.txt"), "hi\n")
})

test("a read-only agent cannot write, whatever the mode", async (t) => {
  await using server = await serve(
    leading([call("task", { prompt: "p", subagent_type: "explore" })], (asked) =>
      turnsIn(asked) === 0
        ? [call("write", { file_path: "x", content: "" }), call("bash", { command: "touch y" })]
        : asked.last,
    ),
  )
  const { run } = await home(t)
  const ran = await run([...args, "--permission-mode", "bypass"], { env: server.env })
  assert.match(
    ran.stdout,
    fenced ? /^touch: .*Read-only file system/ : /^there is no tool named "bash" here; there are read/,
  )
  assert.match((await run(["sessions", "list", "--json"])).stdout, /"go"/)
})

test("agents in files are offered, found and heeded, and a changed file counts from the next task on", async (t) => {
  const agent = (prompt: string) =>
    `---\nname: Reviewer\ndescription: Reviews changes.\ntools: Read, Grep\n---\n${prompt}\n`
  const place = await home(t, { ".claude/agents/reviewer.md": agent("ONE"), "README.md": "# x\n" })
  await using server = await serve(async (asked) => {
    if (isChild(asked)) return asked.system.split("\n")[0]!
    if (turnsIn(asked) === 1)
      await writeFile(join(place.work, ".claude/agents/reviewer.md"), agent("TWO, which is longer"))
    return turnsIn(asked) < 2 ? [call("task", { prompt: "p", subagent_type: "reviewer" })] : "end"
  })
  await place.run(args, { env: server.env })
  const described = (server.requests[0]!.body.tools as { name: string; description: string }[]).find(
    ({ name }) => name === "task",
  )
  assert.match(described!.description, /^- reviewer: Reviews changes\.$/m)
  const children = server.requests.filter(isChild)
  assert.deepEqual(
    children.map(({ system }) => system.split("\n")[0]),
    ["ONE", "TWO, which is longer"],
  )
  assert.deepEqual(children[0]?.tools, ["read", "grep"])
})

test("--agents and verbose lines of children", async (t) => {
  const agents = JSON.stringify({ poet: { description: "Writes verse.", prompt: "You rhyme.", tools: ["read"] } })
  await using server = await serve(
    leading([call("task", { prompt: "p", subagent_type: "poet" })], (asked) =>
      turnsIn(asked) === 0 ? [call("read", { file_path: "a.txt" })] : "a rhyme",
    ),
  )
  const { run } = await home(t, { "a.txt": "a\n" })
  const ran = await run([...args, "--agents", agents, "--verbose"], { env: server.env })
  assert.match(ran.stdout, /^a rhyme\n/)
  assert.match(ran.stderr, /^ {2}\[sub\] read a\.txt$/m)
})

test("stream-json carries every event of every child, and killed -9 with children at work the session goes on", async (t) => {
  const script: Script = leading(
    [1, 2, 3].map((n) => call("task", { prompt: `part ${n}`, subagent_type: "code" })),
    (asked) => {
      const part = asked.messages[0]!.text
      return turnsIn(asked) === 0 ? [call("bash", { command: `echo ${part} >> trace` })] : `done with ${part}`
    },
  )
  await using server = await serve(script)
  const more = ["--permission-mode", "bypass", "--output-format", "stream-json"]
  const whole = await (await home(t)).run([...args, ...more], { env: server.env })
  const events = eventsOf(whole)
  assert.equal(events.filter(({ type }) => type === "run.opened").length, 4)
  assert.equal(events.filter(({ type }) => type === "run.settled").length, 4)
  const facts = events.filter(({ type }) => !type.endsWith(".delta")).length
  for (let n = 5; n < facts; n += 5) {
    const each = await home(t)
    const running = each.start([...args, ...more], { env: server.env })
    const opened = await running.event(({ type }) => type === "run.opened")
    let left = n
    await running.event(({ type }) => !type.endsWith(".delta") && --left <= 0)
    running.child.kill("SIGKILL")
    await running.done
    assert.ok(opened.type === "run.opened")
    const again = await each.run(
      [
        "-r",
        opened.session!,
        "-p",
        "--model",
        "anthropic/any",
        "--permission-mode",
        "bypass",
        "--output-format",
        "json",
      ],
      { env: server.env },
    )
    const { status, runs, text } = JSON.parse(again.stdout)
    assert.deepEqual([status, runs.length], ["completed", 4], `killed after ${n}: ${again.stderr}`)
    for (const part of [1, 2, 3])
      assert.equal(text.split(`done with part ${part}`).length, 2, `each result once (${n})`)
    // Commands that were cut off before they wrote anything leave no trace, and are not made again.
    const lines = (await each.file("trace").catch(() => "")).trim().split("\n")
    assert.equal(new Set(lines).size, lines.length, `nothing is done twice: ${lines}`)
  }
  assert.deepEqual(server.refused, [])
})

test("what a request weighs before any work is done", async (t) => {
  await using server = await serve(leading([call("task", { prompt: "p", subagent_type: "explore" })], () => "x"))
  const place = await home(t)
  const weigh = async () => {
    server.requests.length = 0
    await place.run(args, { env: { ...server.env, BRAVE_API_KEY: "k" } })
    return server.requests.slice(0, 2).map(({ raw }) => raw.length)
  }
  const [main, explore] = await weigh()
  assert.ok(main! <= 12_000, `the main agent's first request has ${main} bytes`)
  assert.ok(explore! <= 5_000, `an explore child's has ${explore}`)
  await mkdir(join(place.work, ".legwork/agents"), { recursive: true })
  for (let n = 0; n < 20; n++) {
    const text = `---\nname: agent-${n}\ndescription: ${"Use it when something of this kind must be done well. ".repeat(8)}\n---\nx\n`
    await writeFile(join(place.work, `.legwork/agents/a${n}.md`), text)
  }
  const [more] = await weigh()
  assert.ok(more! - main! <= 4_000, `twenty agents add ${more! - main!} bytes`)
})

test("the examples run", async (t) => {
  await using server = await serve((asked) => {
    const done = /^A task that you were given earlier, "(.*)", is done/.exec(asked.last)?.[1]
    if (done) return `By the way: the ${done}.`
    if (asked.tools.includes("stock") && turnsIn(asked) === 0) return [call("stock", { article: "chair" })]
    if (asked.tools.includes("stock")) return `There are ${asked.last} chairs.`
    return `answer to: ${asked.last}`
  })
  const { env, work } = await home(t)
  const run = async (name: string) => {
    const file = resolve(import.meta.dirname, "../../examples", `${name}.ts`)
    return (await promisify(execFile)(process.execPath, [file, work], { env: { ...env, ...server.env } })).stdout
  }
  assert.match(await run("one-child"), /^answer to: Which test framework[^\n]*\ncompleted: 0 tools, 0 files read\n$/)
  assert.equal((await run("three-in-parallel")).split("(completed)").length, 4)
  assert.match(await run("own-agent"), /^critic \(anthropic\/[^)]*\): answer to: Our plan: rewrite everything\.\n$/)
  assert.equal(await run("own-tool"), "There are 7 chairs.\n")
  assert.deepEqual((await run("two-channels")).trim().split("\n").sort(), [
    "phone, to 555-0100: answer to: How is it configured?",
    "web, to anna: answer to: How is it tested?",
    "web, to bert: answer to: How is it documented?",
  ])
  const background = (await run("background")).trim().split("\n")
  assert.deepEqual(
    [...background.slice(2, 4).sort(), background[4]],
    ["By the way: the best practices.", "By the way: the code structure.", "at work: 0"],
  )
  const result = JSON.parse(await run("result-as-json"))
  assert.deepEqual([result.status, result.agentType, result.receipt.ended], ["completed", "general", "it finished"])
})

test("without a small model, explore has the model of its session", async (t) => {
  await using server = await serve(leading([call("task", { prompt: "p", subagent_type: "explore" })], () => "x"))
  const { run } = await home(t)
  await run(["-p", "go", "--model", "openai/mine"], { env: server.env })
  assert.deepEqual(
    server.requests.map(({ model }) => model),
    ["mine", "mine", "mine"],
  )
  await run(["-p", "go", "--model", "openai/mine"], { env: { ...server.env, LEGWORK_SMALL_MODEL: "anthropic/tiny" } })
  assert.deepEqual(
    server.requests.slice(3).map(({ model }) => model),
    ["mine", "tiny", "mine"],
  )
})

test("wishes of other systems that nobody here knows do no harm; one that cannot be met is refused", async (t) => {
  const calls = [
    call("task", { prompt: "p1", run_in_background: false, context: "fresh", thoroughness: "high" }),
    call("task", { prompt: "p2", isolation: "worktree" }),
  ]
  await using server = await serve(leading(calls, ({ messages }) => `did ${messages[0]?.text}`))
  const { run } = await home(t)
  const [one, two] = (await run(args, { env: server.env })).stdout.split("\n=====\n")
  assert.match(one!, /^did p1\n/)
  assert.match(two!, /isolation is not possible here: leave it out/)
})

test("an agent's own rules for single calls are kept to, whatever its session allows", async (t) => {
  const agent = '---\ndescription: d\npermission:\n  bash:\n    "*": allow\n    "rm *": deny\n---\nx\n'
  const commands = ["echo kept > a.txt", "rm a.txt", "true && /bin/rm -f a.txt"]
  const seen: string[] = []
  await using server = await serve(
    leading([call("task", { prompt: "p", subagent_type: "careful" })], (asked) => {
      if (turnsIn(asked) > 0) seen.push(asked.last)
      const command = commands[turnsIn(asked)]
      return command ? [call("bash", { command })] : "done"
    }),
  )
  const { run, file } = await home(t, { ".opencode/agent/careful.md": agent })
  await run([...args, "--permission-mode", "bypass"], { env: server.env })
  assert.equal(await file("a.txt"), "kept\n")
  assert.deepEqual(
    seen.map((text) => /not permitted/.test(text)),
    [false, true, true],
  )
})

test("a report over 50,000 characters is cut, and all of it is in a file that the parent may read", async (t) => {
  const report = `${"x".repeat(60_000)}THE END`
  await using server = await serve((asked) => {
    if (isChild(asked)) return report
    if (turnsIn(asked) === 0) return [call("task", { prompt: "p", subagent_type: "explore" })]
    const file = /(\/\S+\.txt)/.exec(asked.last)?.[1]
    if (turnsIn(asked) === 1) return [call("grep", { pattern: "THE END", path: file, output_mode: "count" })]
    return asked.last
  })
  const { run } = await home(t)
  const ran = await run(args, { env: server.env })
  assert.match(ran.stdout, /:1$/m)
  const result = server.requests.at(-1)!.messages.find(({ role }) => role === "result")!.text
  assert.ok(result.length < 51_000 && result.includes("60007") && /agent \w{8} · completed/.test(result))
})

test("a child whose definition is gone can not be gone on with, and the parent is told", async (t) => {
  const place = await home(t, { ".legwork/agents/brief.md": "---\nname: brief\ndescription: d\n---\nx\n" })
  let id = ""
  await using server = await serve(async (asked) => {
    if (isChild(asked)) return "first"
    if (turnsIn(asked) === 0) return [call("task", { prompt: "p", subagent_type: "brief" })]
    if (turnsIn(asked) === 1) {
      id = /agent (\w{8})/.exec(asked.last)![1]!
      await rm(join(place.work, ".legwork/agents/brief.md"))
      return [call("task", { prompt: "more", resume: id })]
    }
    return asked.last
  })
  const ran = await place.run(args, { env: server.env })
  assert.match(ran.stdout, /^there is no agent named "brief"; there are /)
})
