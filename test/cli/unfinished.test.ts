import assert from "node:assert/strict"
import { test } from "node:test"
import { agentsAtWork, isUnfinished } from "../../src/cli/unfinished.ts"
import type { Fact } from "../../src/core/event.ts"
import { Log, nowhere } from "../../src/core/log.ts"
import type { View } from "../../src/core/view.ts"

const outcome = { status: "completed", text: "" } as const
const opening = { type: "run.opened", agent: "x", model: "m", root: "/", system: "", limits: { turns: 1 } } as const
const opened = (depth: number, behind: boolean): Fact => ({
  ...opening,
  depth,
  role: { tools: "*", denied: [] },
  ...(depth > 0 && { origin: { run: "main", call: "1" } }),
  ...(behind && { behind: true }),
})
const asked: Fact[] = [{ type: "mail.sent", text: "go" }, { type: "mail.read" }]
const settled: Fact = { type: "run.settled", outcome, ms: 1 }
const told = (key: string, quiet: boolean): Fact => ({
  type: "mail.sent",
  text: "r",
  key,
  from: "child",
  ...(quiet && { quiet }),
})

/** Facts of the main run and of its child, in this order. */
function viewOf(...facts: ["main" | "child", ...Fact[]][]): View {
  const log = new Log(
    nowhere,
    () => 0,
    () => {},
  )
  for (const [run, ...each] of facts) for (const fact of each) log.emit(run, fact)
  return log.view
}
const resting: ["main", ...Fact[]] = ["main", opened(0, false), ...asked, settled]
/** Its result has the number of its last fact: four of the main run, and four of its own. */
const result = "result/child/8"

for (const [name, view, left, atWork] of [
  ["a session that was asked nothing", viewOf(["main", opened(0, false)]), false, 0],
  ["a main run at work", viewOf(["main", opened(0, false), ...asked]), true, 0],
  ["a prompt that was not read", viewOf([...resting, { type: "mail.sent", text: "more" }]), true, 0],
  ["a main run at rest", viewOf(resting), false, 0],
  ["an agent behind that is at work", viewOf(resting, ["child", opened(1, true), ...asked]), true, 1],
  ["an agent behind that was not told its task yet", viewOf(resting, ["child", opened(1, true)]), false, 0],
  ["an agent that waits for a place", viewOf(resting, ["child", opened(1, true), asked[0]!]), true, 1],
  ["a result that was not sent", viewOf(resting, ["child", opened(1, true), ...asked, settled]), true, 0],
  [
    "a result that was sent and not read",
    viewOf(resting, ["child", opened(1, true), ...asked, settled], ["main", told(result, false)]),
    true,
    0,
  ],
  [
    "a result of one that was stopped from above",
    viewOf(resting, ["child", opened(1, true), ...asked, settled], ["main", told(result, true)]),
    false,
    0,
  ],
  [
    "an agent whose end was lost with the end of its parent",
    viewOf(resting, ["child", opened(1, false), ...asked]),
    false,
    0,
  ],
  [
    "an agent that is being stopped",
    viewOf(resting, ["child", opened(1, true), ...asked, { type: "run.stopped", status: "cancelled", why: "" }]),
    true,
    0,
  ],
] as const) {
  test(`${name} is ${left ? "" : "not "}unfinished work`, () => {
    assert.deepEqual([isUnfinished(view), agentsAtWork(view).length], [left, atWork])
  })
}
