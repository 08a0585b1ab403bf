import assert from "node:assert/strict"
import { randomInt } from "node:crypto"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { type Asked, call, type Script, serve } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { home } from "./binary.ts"
import { library } from "./library.ts"
import { processesWith, seen } from "./resources.ts"
import { terminal } from "./terminal.ts"

const many = 64
const all = Array.from({ length: many }, (_, n) => n)
const settings = { limits: { parallel: many } }

/** A length of sleep that nobody else has, for each child of a family. */
type Nap = (child: number | string) => string

const napOf = (): Nap => {
  const family = `1000.${randomInt(1e9, 1e10)}`
  return (child) => `${family}${child === "" ? "" : String(Number(child)).padStart(3, "0")}`
}

/** A shell that heeds nothing, one that has left its group and session, and what both wait for. */
const stubborn = (nap: string) =>
  `trap '' TERM INT HUP; setsid nohup bash -c "trap '' TERM; sleep ${nap}; :" >/dev/null 2>&1 & sleep ${nap}`
/** How many sleep in a family: two for each child. */
const asleep = (nap: string): number => processesWith(`sleep\0${nap}`).length

const labelOf = ({ messages }: Asked): string => messages[0]!.text

const busy =
  (nap: Nap): Script =>
  (asked) => {
    if (isChild(asked)) return [call("bash", { command: stubborn(nap(labelOf(asked))) })]
    const launch = (n: number) =>
      call("task", { description: `${n}`, prompt: `${n}`, subagent_type: "code", run_in_background: true })
    return turnsIn(asked) === 0 ? all.map(launch) : "all are on their way"
  }

/** Nothing of a family is left two seconds after it was told to stop. */
async function checkGone(nap: string, stop: () => unknown): Promise<void> {
  const began = performance.now()
  await stop()
  await seen(() => processesWith(nap).length === 0)
  const took = Math.round(performance.now() - began)
  assert.ok(took < 2_000, `it took ${took} ms`)
}

test("stopped by a program, of 64 children in shells that heed no signal nothing is left after two seconds", async (t) => {
  const nap = napOf()
  await using server = await serve(busy(nap))
  await using place = await library(t, server, { settings, options: { permissionMode: "bypass" } })
  const { session } = place
  await session.prompt("go")
  await seen(() => asleep(nap("")) === many * 2)
  const one = [...session.view.values()].find(({ label }) => label === "7")!
  await checkGone(nap(7), () => session.cancel(one.id))
  assert.equal(asleep(nap("")), (many - 1) * 2, "its siblings go on")
  await checkGone(nap(""), () => session.cancel())
  const main = session.view.get(session.main)!
  const runs = [...session.view.values()].filter(({ depth }) => depth > 0)
  assert.deepEqual(
    runs.map(({ rest }) => rest?.outcome.status),
    all.map(() => "cancelled"),
  )
  const { text } = await session.prompt("what now?")
  assert.equal(text, "all are on their way")
  const mail = main.messages.flatMap((message) => (message.role === "user" ? [message.text] : [])).join("\n")
  const told = [...mail.matchAll(/^Agent \w+ \(code: (\d+)\):$/gm)].map(([, label]) => Number(label))
  assert.deepEqual(
    told.toSorted((a, b) => a - b),
    all,
    "each has its result, and each once",
  )
})

test("one that is stopped takes nothing from the others: they do their work to the end", async (t) => {
  const nap = napOf()
  await using server = await serve((asked) => {
    const label = labelOf(asked)
    if (label === "2") return [call("bash", { command: stubborn(nap(2)) })]
    return turnsIn(asked) > 0 ? `found ${label}` : [call("bash", { command: "until [ -e go ]; do sleep 0.01; done" })]
  })
  await using place = await library(t, server, { options: { permissionMode: "bypass" } })
  const { session, work } = place
  const results = ["0", "1", "2", "3"].map((prompt) => session.task({ prompt, label: prompt, agent: "code" }))
  await seen(() => asleep(nap(2)) === 2)
  await session.cancel([...session.view.values()].find(({ label }) => label === "2")!.id)
  assert.equal((await results[2]!).status, "cancelled")
  await writeFile(join(work, "go"), "")
  assert.deepEqual(
    (await Promise.all(results)).map(({ status, content }) => `${status} ${content}`),
    ["completed found 0", "completed found 1", "cancelled ", "completed found 3"],
  )
})

const files = { "../config/legwork/settings.json": JSON.stringify(settings) }
const args = ["-p", "go", "--model", "anthropic/any", "--permission-mode", "bypass"]

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal} with 64 children in shells that heed no signal leaves nothing after two seconds, and each has its result`, async (t) => {
    const nap = napOf()
    await using server = await serve(busy(nap))
    const { start } = await home(t, files)
    const running = start([...args, "--output-format", "json"], { env: server.env })
    await seen(() => asleep(nap("")) === many * 2)
    await checkGone(nap(""), () => running.child.kill(signal))
    const ran = await running.done
    assert.equal(ran.code, 130, ran.stderr)
    const { runs } = JSON.parse(ran.stdout) as { runs: { agent: string; status: string }[] }
    assert.deepEqual(
      runs.map(({ agent, status }) => `${agent} ${status}`),
      ["main completed", ...all.map(() => "code cancelled")],
    )
  })
}

test("ctrl-c at a terminal leaves nothing of 64 such children after two seconds", async (t) => {
  const nap = napOf()
  await using server = await serve(busy(nap))
  const place = await home(t, files)
  const screen = terminal(t, place, server.env, args)
  await seen(() => asleep(nap("")) === many * 2)
  await checkGone(nap(""), () => screen.type("\u0003"))
  assert.equal(await screen.exit, 130)
})
