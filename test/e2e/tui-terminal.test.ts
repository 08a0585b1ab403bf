import assert from "node:assert/strict"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { test } from "node:test"
import { type Asked, call, type Script, serve, steps } from "../../src/testing.ts"
import { isChild, turnsIn, until } from "./behind.ts"
import { type Home, home } from "./binary.ts"
import { done, keys, screen, talk } from "./screen.ts"

const never = () => new Promise<never>(() => {})
const task = (name: string) => call("task", { description: name, prompt: name, subagent_type: "explore" })
const echo = ({ last }: Asked): string => `heard ${last}`

/** Two agents at work, and an answer before them. */
const busy: Script = (asked) =>
  isChild(asked) ? never() : { text: "I send **two** of them.", calls: [task("one"), task("two")] }

/** An agent at work with a command. */
const atWork: Script = (asked) => [
  isChild(asked)
    ? call("bash", { command: "sleep 600" })
    : call("task", { description: "one", prompt: "one", subagent_type: "code" }),
]

const isGone = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return false
  } catch {
    return true
  }
}

/** Ids of processes that work in a folder, as Linux tells. */
async function processesIn({ work }: Home): Promise<string[]> {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/environ`, "utf8").catch(() => "")))
  return ids.filter((_, at) => lines[at]!.includes(join(work, "..")))
}

for (const [columns, rows] of [
  [80, 24],
  [200, 60],
  [40, 12],
] as const)
  test(`at ${columns}x${rows} nothing is cut off or runs over, and the input is in sight`, async (t) => {
    const { type, see, rows: shown } = await talk(t, busy, { columns, rows })
    type("go\r")
    await see(/thinking +explore one/)
    await see(/thinking +explore two/)
    assert.ok(shown().every((row) => row.length <= columns))
    const rules = shown().filter((row) => row === "─".repeat(columns))
    assert.equal(rules.length, 2)
    assert.ok(shown().some((row) => row.startsWith(" tool · ")))
  })

test("resizing at any moment leaves one whole screen: while it works, while it asks, in a transcript", async (t) => {
  const script: Script = (asked) => {
    if (isChild(asked)) return turnsIn(asked) === 0 ? [call("bash", { command: "mkdir x" })] : never()
    return [call("task", { description: "one", prompt: "one", subagent_type: "code" })]
  }
  const { type, see, miss, resize, until, rows } = await talk(t, script)
  const sizes = [
    [60, 20],
    [100, 30],
    [41, 15],
    [120, 40],
    [80, 24],
  ] as const
  const resized = async (...marks: string[]) => {
    for (const [columns, height] of sizes) {
      resize(columns, height)
      const isWhole = (text: string) =>
        text.split("\n").filter((row) => row === "─".repeat(columns)).length === 2 &&
        marks.every((mark) => text.split(mark).length === 2)
      await until(isWhole, `${marks} once at ${columns}x${height}`)
      assert.ok(rows().every((row) => row.length <= columns))
    }
  }
  await resized("ready ·")
  type("go\r")
  await see("── permission")
  await resized("── permission")
  type(keys.ctrl("c"))
  await miss("── permission")
  type(keys.ctrl("o"))
  await see("transcript of code")
  await resized("transcript of code")
})

test("many changes of size at once end in a screen that fits the last one", async (t) => {
  const { type, see, resize, rows } = await talk(t, busy)
  type("go\r")
  await see(/thinking +explore one/)
  for (let n = 0; n < 60; n++) resize(40 + ((n * 37) % 120), 12 + ((n * 7) % 40))
  resize(90, 30)
  await see(/^─{90}\n.*\n─{90}\n/m)
  assert.equal(rows().filter((row) => row.startsWith("> go")).length, 1)
})

const styled = /\u001b\[([\d;]*)m/g
/** Every style that was asked for, but the way back and the input's cursor, which is a letter turned round. */
const stylesOf = (sent: string): Set<string> =>
  new Set(
    [...sent.matchAll(styled)].map(([, style]) => style!).filter((style) => !["0", "", "7", "27"].includes(style)),
  )

test("with NO_COLOR there is not one code for a colour or a style, and all is still told", async (t) => {
  const { type, see, sent } = await talk(
    t,
    steps([call("ls"), call("read", { path: "none" })], "# Done\n\n**bold** `code`\n\n```ts\nconst a = 1\n```"),
    {
      env: { NO_COLOR: "1" },
    },
  )
  type("go\r")
  await see(done)
  await see("✗ read none")
  type("/agents\r")
  await see("→")
  assert.deepEqual([...stylesOf(sent())], [])
})

test("light and dark terminals get colours of their own", async (t) => {
  const coloursWith = async (COLORFGBG: string) => {
    const { type, see, sent } = await talk(t, steps([call("ls")], "# Done\n\n`code`"), { env: { COLORFGBG } })
    type("go\r")
    await see(done)
    return [...stylesOf(sent())].filter((style) => style.startsWith("38;5;")).sort()
  }
  assert.deepEqual(await coloursWith("15;0"), ["38;5;114", "38;5;215", "38;5;80"])
  assert.deepEqual(await coloursWith("0;15"), ["38;5;166", "38;5;28", "38;5;30"])
})

test("--plain draws nothing: lines only, as a screen reader wants them", async (t) => {
  await using server = await serve(echo)
  const place = await home(t)
  const { type, see, sent, exit } = screen(t, place, server.env, ["--plain", "--model", "anthropic/any"])
  await see(/^>$/m)
  type("hello\r")
  await see("heard hello")
  type("/exit\r")
  assert.equal(await exit, 0)
  assert.doesNotMatch(sent(), /\u001b\[\?(2026|1049)h|\u001b\[38/)
})

test("a terminal that cannot draw gets lines", async (t) => {
  await using server = await serve(echo)
  const place = await home(t)
  const shown = screen(t, place, { ...server.env, TERM: "dumb" }, ["--model", "anthropic/any"])
  await shown.see("/help says what else")
})

for (const [how, end] of [
  ["the window is closed", "close"],
  ["SIGHUP comes", "SIGHUP"],
  ["SIGTERM comes", "SIGTERM"],
] as const)
  test(`when ${how} no process stays, and the session goes on where it was`, async (t) => {
    let isBack = false
    await using server = await serve((asked) =>
      isBack ? (isChild(asked) ? "found it" : "all are back") : atWork(asked, 0),
    )
    const allowed = JSON.stringify({ permissions: { allow: ["bash(sleep *)"] } })
    const place = await home(t, { "../config/legwork/settings.json": allowed })
    const args = ["--model", "anthropic/any"]
    const first = screen(t, place, server.env, args)
    await first.see("ready")
    first.type("go\r")
    await first.see(/tool +code one .* · bash sleep 600/)
    if (end === "close") first.close()
    else {
      first.kill(end)
      assert.equal(await first.exit, 130)
    }
    await until(() => isGone(first.pid))
    assert.deepEqual(await processesIn(place), [])
    isBack = true
    const again = screen(t, place, server.env, [...args, "-c"])
    await again.see("> go")
    await again.see("all are back")
  })

test("the terminal is given back as it was: cursor, paste and keys", async (t) => {
  const { type, exit, sent } = await talk(t, echo)
  type("/exit\r")
  assert.equal(await exit, 0)
  const last = (on: string, off: string) => sent().lastIndexOf(off) > sent().lastIndexOf(on)
  assert.ok(last("\u001b[?25l", "\u001b[?25h"), "the cursor is shown")
  assert.ok(last("\u001b[?2004h", "\u001b[?2004l"), "pastes are not marked")
  assert.ok(last("\u001b[?2026h", "\u001b[?2026l"), "nothing is held back")
})

test("what is at work when one leaves is put aside, and the last lines say so", async (t) => {
  const { type, see, exit, past } = await talk(t, busy)
  type("go\r")
  await see(/thinking +explore two/)
  type("/exit\r")
  assert.equal(await exit, 0)
  const said = past().replaceAll("\n", " ")
  assert.match(
    said,
    / 2 agents · 0 tools · .* tokens · \S+ unknown · .*s +what was under way is put aside +to go on: legwork -r /,
  )
})
