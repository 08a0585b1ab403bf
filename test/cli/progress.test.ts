import assert from "node:assert/strict"
import { test } from "node:test"
import { progress } from "../../src/cli/plain/progress.ts"
import { scripted } from "../../src/testing/model.ts"
import { call } from "../../src/testing/reply.ts"
import { world } from "../agent/world.ts"

/** Three children that read one thing each, seen by somebody with this screen. */
async function watched(screen: { isTTY: boolean; columns?: number }, verbose: boolean): Promise<string> {
  const model = scripted(({ system, messages }) => {
    if (messages.length > 1) return "done"
    if (system !== "MAIN") return [call("look", { on: "x" })]
    return ["a", "b", "c"].map((label) => call("task", { agent: "explore", prompt: "p", label }))
  })
  const each = world(model, { bounds: { parallel: 1 } })
  let text = ""
  const seen = progress({ ...screen, write: (more) => (text += more) }, { verbose, now: () => 0 })
  each.log.listen(seen.event)
  await each.runtime.prompt(each.open(), { text: "go" })
  seen.end()
  return text
}

const ends = (label: string) => `  [explore] ${label} - done (1 tool, 0.0s)\n`
const starts = (label: string) => `  [explore] ${label}\n`

test("what is no terminal has a line when a child starts and one when it ends", async () => {
  const text = await watched({ isTTY: false }, false)
  assert.equal(text, ["a", "b", "c"].map((label) => starts(label) + ends(label)).join(""))
})

test("verbose adds a line for every call, and marks those of children", async () => {
  const text = await watched({ isTTY: false }, true)
  const calls = "  task p\n".repeat(3)
  assert.equal(text, calls + ["a", "b", "c"].map((label) => `${starts(label)}  [sub] look\n${ends(label)}`).join(""))
})

test("a terminal has only the ends as lasting lines", async () => {
  const text = await watched({ isTTY: true, columns: 80 }, false)
  const lasting = text.replaceAll(/\r|\u001b\[\d*[A-Z]/g, "")
  assert.equal(lasting, ["a", "b", "c"].map(ends).join(""))
})
