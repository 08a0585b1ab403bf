import assert from "node:assert/strict"
import { randomInt } from "node:crypto"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { type Fact, isHint, type Stamped } from "../../src/core/event.ts"
import { jsonl } from "../../src/store/jsonl.ts"
import { type Asked, call, type Reply, type Script } from "../../src/testing.ts"
import { turnsIn } from "./behind.ts"
import { promptIn, type Stage, stage } from "./chain.ts"

const kills = 200
/** So often one session is killed, and after so many facts at most. */
const mostKills = 12
const mostFacts = 24

const agents: Record<string, string> = { one: "lead", two: "code", three: "code", four: "code", five: "code" }

const start = (prompt: string, run_in_background: boolean) =>
  call("task", { description: prompt, prompt, subagent_type: agents[prompt], run_in_background })
const trace = (prompt: string) => call("bash", { command: `echo ${prompt} >> trace` })

/** What each does, turn by turn, before it says what it found: in front, behind, and below one that is behind. */
const work: Record<string, Reply[]> = {
  go: [[start("one", true), start("two", false)], [trace("go")], [start("five", true)]],
  one: [[trace("one")], [start("three", true), start("four", false)]],
  two: [[trace("two")]],
  three: [[trace("three")]],
  four: [[trace("four")], [call("ls", { path: "." })]],
  five: [[call("ls", { path: "." })], [trace("five")]],
}

/** Whoever is done says what it found and what it has heard of others, as often as it has. */
const script: Script = (asked) => work[promptIn(asked)]![turnsIn(asked)] ?? `<${promptIn(asked)}${heardIn(asked)}>`

const heardIn = ({ messages }: Asked): string => {
  const told = messages
    .filter(({ role }) => role !== "assistant")
    .flatMap(({ text }) => text.match(/<\w[^\n]*>/g) ?? [])
  return told
    .toSorted()
    .map((each) => ` ${each}`)
    .join("")
}

type Line = Stamped<Fact>

/** A line that a kill has cut stays in the file, and is passed over. */
const factsOf = async ({ state }: Stage, id: string): Promise<Line[]> =>
  (await jsonl({ folder: join(state, "legwork") }).read(id)).facts

const flags = ["--model", "anthropic/any", "--permission-mode", "bypass", "--output-format"]

/** Goes on with a session, or starts one. Its prompt is said again only if that was not stored. */
async function argsFor(place: Stage, id: string | undefined): Promise<string[]> {
  if (id === undefined) return ["-p", "go"]
  const asked = (await factsOf(place, id)).some(({ type }) => type === "mail.sent")
  return asked ? ["resume", id, "-p"] : ["resume", id, "-p", "go"]
}

/** Lets it work until so many facts have been shown. The session's id, if that was shown, and whether it was killed. */
async function killAfter(place: Stage, count: number, id: string | undefined) {
  const running = place.start([...(await argsFor(place, id)), ...flags, "stream-json"], { env: place.server.env })
  let left = count
  let session = id
  const enough = running.event((event) => {
    if (event.type === "run.opened" && event.session) session = event.session
    return !isHint(event) && --left === 0
  })
  await enough.then(
    () => running.child.kill("SIGKILL"),
    () => {}, // it ended before that
  )
  const { signal, code, stderr } = await running.done
  assert.ok(signal === "SIGKILL" || code === 0, stderr)
  return { session, killed: signal === "SIGKILL" }
}

/** How a session ended, whatever came in between. */
async function ending(place: Stage, id: string) {
  const facts = await factsOf(place, id)
  const last = place.server.requests.findLast((asked) => promptIn(asked) === "go")!
  return { said: script(last, 0), runs: endingsIn(facts) }
}

const endingsIn = (facts: readonly Line[]): string[] =>
  facts
    .flatMap((fact) => {
      if (fact.type !== "run.opened") return []
      const settled = facts.findLast((each) => each.run === fact.run && each.type === "run.settled")
      const outcome = settled?.type === "run.settled" ? settled.outcome : undefined
      return [
        `${fact.depth} ${fact.agent} ${fact.label ?? ""} ${fact.behind ?? false} ${outcome?.status} ${outcome?.text}`,
      ]
    })
    .sort()

/** Nothing is there twice that may be there only once. */
async function checkOnce(place: Stage, id: string): Promise<void> {
  const facts = await factsOf(place, id)
  const once = (what: string, keys: string[]) =>
    assert.deepEqual(keys, [...new Set(keys)], `${what}: one is there twice`)
  once(
    "runs",
    facts.flatMap((fact) => (fact.type === "run.opened" ? [`${fact.origin?.run} ${fact.origin?.call}`] : [])),
  )
  once(
    "results",
    facts.flatMap((fact) => (fact.type === "mail.sent" && fact.from ? [`${fact.run} ${fact.from}`] : [])),
  )
  once(
    "calls",
    facts.flatMap((fact) => (fact.type === "call.ended" ? [`${fact.run} ${fact.id}`] : [])),
  )
  const done = (await place.file("trace").catch(() => "")).split("\n").filter(Boolean)
  once("commands", done)
  const cut = facts.filter((fact) => fact.type === "call.ended" && /^cut off before it ended/.test(fact.text))
  assert.ok(done.length + cut.length >= Object.keys(work).length, "what is not done is reported as cut off")
  assert.deepEqual(place.server.refused, [])
}

/** One session from its start to its end, killed at moments that nobody chose. Returns how often it was. */
async function ordeal(t: TestContext, whole: Awaited<ReturnType<typeof ending>>): Promise<number> {
  const place = await stage(t, script, {})
  const moments: number[] = []
  let id: string | undefined
  try {
    for (let killed = true; killed && moments.length < mostKills; ) {
      const moment = randomInt(1, mostFacts)
      const one = await killAfter(place, moment, id)
      id = one.session
      killed = one.killed
      if (killed) moments.push(moment)
    }
    const ran = await place.go([...(await argsFor(place, id)), ...flags, "json"])
    assert.equal(ran.code, 0, ran.stderr)
    assert.deepEqual({ ...(await ending(place, id!)), said: JSON.parse(ran.stdout).text }, whole)
    await checkOnce(place, id!)
  } catch (error) {
    throw new Error(`killed after ${moments.join(", ")} facts`, { cause: error })
  }
  return moments.length
}

test("the program killed 200 times, at any moment, ends its work as if nothing had happened", {
  timeout: 180_000,
}, async (t) => {
  const first = await stage(t, script, {})
  const ran = await first.go(["-p", "go", ...flags, "json"])
  const { sessionId, text } = JSON.parse(ran.stdout)
  const whole = await ending(first, sessionId)
  assert.deepEqual(whole.said, text)
  await checkOnce(first, sessionId)
  let done = 0
  const some = async () => {
    while (done < kills) done += await ordeal(t, whole)
  }
  await Promise.all([some(), some()])
  t.diagnostic(`killed ${done} times`)
})
