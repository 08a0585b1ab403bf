import assert from "node:assert/strict"
import { test } from "node:test"
import { agents, cards } from "../../scripts/cards.ts"
import type { Agent } from "../../src/agent/scope.ts"
import storedAgents from "../../src/agents/built-in.json" with { type: "json" }
import { main } from "../../src/agents/main.ts"
import { systemPrompt } from "../../src/prompt.ts"
import { builtIn } from "../../src/tools/built-in.ts"
import stored from "../../src/tools/cards.json" with { type: "json" }
import { nowhere } from "../../src/tools/world.ts"

test("the cards say what the tools themselves say; if not, run: npm run cards", async () => {
  assert.deepEqual(stored, await cards())
  assert.deepEqual(storedAgents, await agents())
})

test("web_search is offered only to those who have a key", () => {
  const names = (search?: { key: string }) =>
    builtIn({ world: nowhere, environment: [], web: { allowPrivate: false, ...(search && { search }) } }).map(
      ({ name }) => name,
    )
  const usual = ["bash", "read", "write", "edit", "glob", "grep", "ls", "web_fetch"]
  const agents = ["task", "task_status", "task_stop", "task_message", "todo_write", "board"]
  assert.deepEqual(names(), [...usual, ...agents])
  assert.deepEqual(names({ key: "k" }), [...usual, "web_search", ...agents])
})

test("each tool is made once, when first needed", async () => {
  const [bash] = builtIn({ world: nowhere, environment: [], web: { allowPrivate: false } })
  assert.equal(await bash!.load(), await bash!.load())
})

test("the whole tool list stays light", () => {
  const list = Object.values(stored).map(({ name, description, schema }) => ({
    name,
    description,
    input_schema: schema,
  }))
  assert.ok(JSON.stringify(list).length < 7_000, `${JSON.stringify(list).length} bytes`)
})

test("what requests begin with is ASCII, which is sent as it is and takes half the memory of any other text", () => {
  const about = { depth: 1, context: "fresh", cwd: "/work", rules: "" } as const
  const prompts = [main, ...storedAgents].map(({ prompt }) => systemPrompt({ prompt, role: {} } as Agent, about))
  const other = [JSON.stringify(stored), ...prompts].flatMap((text) => text.match(/.{0,20}[^\x00-\x7f].{0,20}/g) ?? [])
  assert.deepEqual(other, [])
})
