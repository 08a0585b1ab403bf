import assert from "node:assert/strict"
import { test } from "node:test"
import { progress } from "../../src/cli/plain/progress.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { world } from "../agent/world.ts"

type Seen = { isTTY: boolean; columns?: number; verbose?: boolean; background?: boolean }

/** Three children that read one thing each, one after the other, seen by somebody with this screen. */
async function watched({ verbose = false, background = false, ...screen }: Seen): Promise<string> {
  const model = scripted(({ system, messages }) => {
    if (messages.length > 1) return "done"
    if (system !== "MAIN") return [call("look", { on: "x" })]
    return ["a", "b", "c"].map((label) => call("task", { agent: "explore", prompt: "p", label, background }))
  })
  const each = world(model, { bounds: { parallel: 1 } })
  let text = ""
  const seen = progress({ ...screen, write: (more) => (text += more) }, { verbose, now: () => 0, view: each.log.view })
  each.log.listen(seen.event)
  await each.runtime.prompt(each.open(), { text: "go" })
  await each.runtime.idle()
  seen.end()
  return text
}

const labels = ["a", "b", "c"]
const ends = (label: string) => `  [explore] ${label} - done (1 tool, 0.0s)\n`
const starts = (label: string) => `  [explore] ${label}\n`
const queued = "  [explore] b (queued)\n  [explore] c (queued)\n"

test("what is no terminal has a line when a child starts and one when it ends, and one for each that must wait", async () => {
  const text = await watched({ isTTY: false })
  assert.equal(text.replace(queued, ""), labels.map((label) => starts(label) + ends(label)).join(""))
  assert.ok(text.includes(queued))
})

test("verbose adds a line for every call, and marks those of children", async () => {
  const text = await watched({ isTTY: false, verbose: true })
  const calls = "  task p\n".repeat(3)
  const each = labels.map((label) => `${starts(label)}  [sub] look\n${ends(label)}`)
  assert.equal(text.replace(queued, ""), calls + each.join(""))
})

test("a child that nobody waits for says so where it starts", async () => {
  const lines = (await watched({ isTTY: false, background: true })).split("\n")
  assert.deepEqual(
    lines.filter((line) => line.includes("[explore] c")),
    ["  [explore] c (background, queued)", "  [explore] c (background)", "  [explore] c - done (1 tool, 0.0s)"],
  )
})

test("a terminal has only the ends as lasting lines", async () => {
  const text = await watched({ isTTY: true, columns: 80 })
  const lasting = text.replaceAll(/\r|\u001b\[\d*[A-Z]/g, "")
  assert.equal(lasting, labels.map(ends).join(""))
})
