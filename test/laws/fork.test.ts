import assert from "node:assert/strict"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import fc from "fast-check"
import type { Fact } from "../../src/core/event.ts"
import type { Session } from "../../src/face.ts"
import { type Options, open } from "../../src/session.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { memory } from "../../src/store/memory.ts"
import type { Store } from "../../src/store/store.ts"
import { type Asked, call, type Reply, type Server, serve } from "../../src/testing.ts"
import { type Home, home } from "../e2e/binary.ts"
import { growing, long, type Past, short } from "./histories.ts"

const providers = ["anthropic", "openai-chat", "openai-responses"]
const siblings = 16

const mark = ',"cache_control":{"type":"ephemeral"}'
const unmarked = (body: string): string => body.replaceAll(mark, "")

/** A body up to the closing of its list of messages, which is all that comes after them. */
function opened({ raw }: Asked): string {
  assert.ok(raw.endsWith("]}"))
  return raw.slice(0, -2)
}

/** The numbers of the messages that carry a cache mark. */
const marksIn = ({ body }: Asked): number[] =>
  ((body.messages ?? []) as object[]).flatMap((message, i) => (JSON.stringify(message).includes(mark) ? [i] : []))

const turnsIn = (messages: Asked["messages"]): number => messages.filter(({ role }) => role === "assistant").length

/** Which of the forks asks, and how many answers it has had; undefined for the main run. */
function forkIn({ messages }: Asked): { number: number; turns: number } | undefined {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const number = /^part (\d+):/m.exec(messages[at]?.text ?? "")?.[1]
  return number === undefined ? undefined : { number: Number(number), turns: turnsIn(messages.slice(at)) }
}

/** A model that shortens a conversation has no tools. */
const isSummary = ({ tools }: Asked): boolean => tools.length === 0

const promptOf = (number: number): string => `part ${number}: what "it" says 😀`

/** Some forks look around before they report. */
function forked({ number, turns }: { number: number; turns: number }): Reply {
  return number % 4 === 0 && turns === 0 ? [call("read", { file_path: "a.txt" })] : `report ${number}`
}

type Variant = {
  settings?: object
  window?: number
  files?: Record<string, string>
  /** What each call of the task tool has beside its prompt. */
  asking?: object
  /** Happens while the parent's last request is answered. */
  meanwhile?(place: Home): Promise<void>
  /** What the parent's request has in it, and what that of the next prompt has. */
  sent?: RegExp
  next?: RegExp
}

/** A conversation, then 16 forks in one answer. */
async function familyOf(t: TestContext, provider: string, past: Past, variant: Variant) {
  const { settings, window = 4_000_000, files, asking = { context: "fork" }, meanwhile } = variant
  const all = { ...settings, providers: { [provider]: { models: { any: { window } } } } }
  const place = await home(t, { ...past.files, ...files, "../config/legwork/settings.json": JSON.stringify(all) })
  const said = past.exchanges.flatMap(({ turns }) => turns)
  const parts = Array.from({ length: siblings }, (_, n) => call("task", { prompt: promptOf(n), ...asking }))
  // Nothing runs beside a command: half of the forks begin when the others and this have ended.
  parts.splice(siblings / 2, 0, call("bash", { command: "true" }))
  let turn = 0
  const server = await serve(
    async (asked): Promise<Reply> => {
      const fork = forkIn(asked)
      if (fork) return forked(fork)
      if (isSummary(asked)) return "notes"
      if (turn === said.length) await meanwhile?.(place)
      return [...said, parts][turn++] ?? "the end"
    },
    { piece: Number.POSITIVE_INFINITY },
  )
  t.after(() => server.close())
  const env = { ...place.env, ...server.env }
  const options: Options = { cwd: place.work, env, model: `${provider}/any`, store: memory() }
  const prompts = [...past.exchanges.map(({ prompt }) => prompt), "hand it out"]
  return { place, server, options, prompts, last: said.length }
}

async function converse(options: Options, prompts: readonly string[]): Promise<Session> {
  const session = await open(options)
  for (const prompt of prompts) assert.equal((await session.prompt(prompt)).status, "completed")
  await session.close()
  return session
}

/** The parent's request that is answered with forks and the one after it, the first of each fork, and their others. */
function sides({ requests }: Server, last: number) {
  const main = requests.filter((asked) => !forkIn(asked) && !isSummary(asked))
  const forks = requests.filter((asked) => forkIn(asked)?.turns === 0)
  const later = requests.filter((asked) => (forkIn(asked)?.turns ?? 0) > 0)
  forks.sort((a, b) => forkIn(a)!.number - forkIn(b)!.number)
  return { parent: main[last]!, after: main[last + 1]!, forks, later }
}

/** A body before and after the words of its task. */
function around({ raw }: Asked, task: string): [string, string] {
  const at = raw.lastIndexOf(task)
  return [raw.slice(0, at), raw.slice(at + task.length)]
}

/** What a request says but for its last words. */
function withoutTask({ body, format }: Asked): unknown {
  const copy = structuredClone(body)
  const list = (format === "responses" ? copy.input : copy.messages) as { content: unknown[] }[]
  if (format === "anthropic") list.at(-1)!.content.pop()
  else list.pop()
  return copy
}

/** All that is promised of forks at the level of bytes. */
function assertShared(server: Server, last: number): void {
  const { parent, after, forks, later } = sides(server, last)
  assert.deepEqual(server.refused, [])
  assert.deepEqual(
    forks.map((fork) => forkIn(fork)?.number),
    Array.from({ length: siblings }, (_, n) => n),
  )
  const [head, tail] = around(forks[0]!, JSON.stringify(promptOf(0)))
  const rest = withoutTask(forks[0]!)
  for (const [n, fork] of forks.entries()) {
    assert.ok(fork.raw.startsWith(opened(parent)), "a fork begins with all that its parent sent last")
    assert.ok(fork.raw === head + JSON.stringify(promptOf(n)) + tail, "siblings differ in their task alone")
    assert.deepEqual(withoutTask(fork), rest)
    assert.equal(fork.messages.at(-1)?.role, "user")
    if (fork.format !== "anthropic") continue
    assert.deepEqual(marksIn(fork), [...marksIn(parent), marksIn(fork).at(-1)])
    assert.ok(fork.raw.split(mark).length - 1 <= 4)
  }
  for (const one of later) assertGrown([forks[forkIn(one)!.number]!, one])
  assertGrown([parent, after])
}

/** Each request of one run contains the one before it, but for cache marks. */
function assertGrown(requests: readonly Asked[]): void {
  for (const [i, asked] of requests.entries()) {
    if (i > 0) assert.ok(unmarked(asked.raw).startsWith(unmarked(opened(requests[i - 1]!))), `request ${i}`)
  }
}

const scout = "---\ndescription: Scouts.\ncontext: fork\nmodel: anthropic/other\ntools: Read, Glob\n---\nYou scout.\n"
const variants: Record<string, Variant> = {
  "as they are": {},
  "by default": { settings: { fork: true }, asking: {} },
  "with a temperature": { settings: { temperature: 0.3 }, sent: /"temperature":0\.3,/ },
  "with an effort": { settings: { effort: "high" }, sent: /"thinking":\{|effort":"high"/ },
  "as an agent with tools, model and words of its own": {
    files: { ".legwork/agents/scout.md": scout },
    asking: { subagent_type: "scout" },
  },
  "where the agents on disk have changed since": {
    files: { ".legwork/agents/scout.md": scout },
    asking: { subagent_type: "scout" },
    meanwhile: ({ work }) => writeFile(join(work, ".legwork/agents/late.md"), "---\ndescription: Late.\n---\nx\n"),
    next: /- late: Late\./,
  },
}

for (const provider of providers) {
  for (const [how, variant] of Object.entries(variants)) {
    test(`16 forks go on from the very bytes of their parent, ${how} (${provider})`, async (t) => {
      await fc.assert(
        fc.asyncProperty(short, async (past) => {
          const { server, options, prompts, last } = await familyOf(t, provider, past, variant)
          await converse(options, [...prompts, "what now?"])
          assertShared(server, last)
          const { sent = /./, next = /./ } = variant
          assert.match(sides(server, last).parent.raw, sent)
          assert.match(server.requests.at(-1)!.raw, next)
          await server.close()
        }),
        { numRuns: 3 },
      )
    })
  }

  test(`16 forks of a long conversation share 99 % with it, as one unbroken prefix (${provider})`, async (t) => {
    await fc.assert(
      fc.asyncProperty(long, async (past) => {
        const { server, options, prompts, last } = await familyOf(t, provider, past, {})
        await converse(options, prompts)
        assertShared(server, last)
        const { parent, forks } = sides(server, last)
        const shared = Buffer.byteLength(opened(parent))
        assert.ok(shared >= 600_000, `only ${shared} bytes`)
        for (const { raw } of forks) assert.ok(shared >= 0.99 * Buffer.byteLength(raw))
        await server.close()
      }),
      { numRuns: 1 },
    )
  })

  test(`forks of a conversation that was made shorter go on from its very bytes (${provider})`, async (t) => {
    const reads = Array.from({ length: 4 }, () => call("read", { file_path: "a.txt" }))
    const turns = [{ calls: reads }, { text: "I have read it." }]
    const past = {
      files: { "a.txt": `${"so long ".repeat(20)}\n`.repeat(300) },
      exchanges: [{ prompt: "read it", turns }],
    }
    const { server, options, prompts, last } = await familyOf(t, provider, past, { window: 60_000 })
    const { view } = await converse(options, prompts)
    assertShared(server, last)
    assert.ok(Buffer.byteLength(sides(server, last).parent.raw) < 100_000)
    assert.deepEqual(
      [...view.values()].map(({ history, inherited }) => [history, inherited > 0]),
      [[undefined, false], ...Array.from({ length: siblings }, () => ["fork", true])],
    )
  })

  test(`a session that a crash cut off among its forks asks again with the same bytes (${provider})`, async (t) => {
    await fc.assert(
      fc.asyncProperty(short, fc.nat(100), async (past, cut) => {
        const { server, options, prompts, last, place } = await familyOf(t, provider, past, {})
        const store = jsonl({ folder: join(place.state, "legwork") })
        const { id } = await converse({ ...options, store: losing(store, cut) }, prompts)
        assertShared(server, last)
        const whole = server.requests.filter((asked) => forkIn(asked)).map(({ raw }) => raw)
        server.requests.length = 0
        const again = await open({ ...options, store, resume: id })
        assert.equal((await again.proceed()).status, "completed")
        await again.close()
        const asked = server.requests.filter((asked) => forkIn(asked))
        for (const { raw } of asked) assert.ok(whole.includes(raw), "asked before the crash too")
        assert.ok(asked.length > 0)
        assert.deepEqual(server.refused, [])
        await server.close()
      }),
      { numRuns: 4 },
    )
  })

  test(`50 turns: each request contains the one before it, but for cache marks (${provider})`, async (t) => {
    await fc.assert(
      fc.asyncProperty(growing(50), async (past) => {
        const { server, options, prompts } = await familyOf(t, provider, past, {})
        await converse(options, prompts.slice(0, 1))
        assert.equal(server.requests.length, 50)
        assert.deepEqual(server.refused, [])
        assertGrown(server.requests)
        await server.close()
      }),
      { numRuns: 1 },
    )
  })
}

/** A store of a machine that dies so many facts after the first fork is opened, which nobody notices. */
function losing(store: Store, left: number): Store {
  let count: number | undefined
  const dead = (fact: Fact): boolean => {
    if (fact.type === "run.opened" && fact.history) count ??= left + 1
    return count !== undefined && count-- <= 0
  }
  return {
    ...store,
    create: async (header) => {
      const held = await store.create(header)
      return { ...held, append: (fact) => (dead(fact) ? undefined : held.append(fact)) }
    },
  }
}
