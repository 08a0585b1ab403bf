import { test } from "node:test"
import { type Asked, call, type Reply, type Said, type Script } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { pictured } from "./gallery.ts"
import { done, keys, talk } from "./screen.ts"

const model = "anthropic/claude-sonnet-5-5"
const settings = {
  limits: { depth: 2 },
  prices: { [model]: { input: 2, output: 10 } },
  permissions: { allow: ["edit(src/*)"] },
}
const files = { "src/gate.ts": "export const most = 3\n\nexport const isOpen = () => true\n", "src/retry.ts": "" }
const common = { settings, files, args: ["--model", model] }

const used = (said: Said): Said => ({ usage: { input: 9_000, output: 300, cacheRead: 0, cacheWrite: 0 }, ...said })
const nameIn = ({ messages }: Asked): string => messages[0]!.text.split("\n")[0]!
const never = () => new Promise<Reply>(() => {})
const task = (name: string, agent: string, more: object = {}) =>
  call("task", { description: name, prompt: name, subagent_type: agent, ...more })
const behind = { run_in_background: true }

/** Tells the main agent's turns and each child's by name; beyond the last turn, one waits for ever. */
const told =
  (main: Said[], children: Record<string, Said[]> = {}): Script =>
  (asked) => {
    const turns = isChild(asked) ? children[nameIn(asked)] : main
    const said = turns?.[turnsIn(asked)]
    return said ? used(said) : never()
  }

const answer = `The gate opens **three** times at most. See [the guide](https://example.org/gate).

| file         | what it does |
|--------------|--------------|
| src/gate.ts  | counts       |
| src/retry.ts | 再试一次 🚀  |

\`\`\`ts
export const most = 5
\`\`\`
`

test("gallery: the beginning", async (t) => {
  const { see, place } = await talk(t, never, common)
  await pictured("start", await see("window 0%"), place)
})

test("gallery: a conversation with tools, a change, a list of things to do and an answer", async (t) => {
  const todos = [
    { content: "read the gate", status: "completed" },
    { content: "let it open five times", status: "in_progress" },
    { content: "run the tests", status: "pending" },
  ]
  const script = told([
    { calls: [call("read", { path: "src/gate.ts" })] },
    { calls: [call("todo_write", { todos })] },
    { calls: [call("edit", { path: "src/gate.ts", old_string: "most = 3", new_string: "most = 5" })] },
    { text: answer },
  ])
  const { type, see, place } = await talk(t, script, { ...common, rows: 44 })
  type("let the gate open five times\r")
  await see("再试一次")
  await pictured("conversation", await see(done), place)
})

/** Two behind, one with a child of its own, and one that is waited for. */
const crew = (last: Said[]) =>
  told(
    [
      { calls: [task("find the callers", "explore", behind)] },
      { calls: [task("mend the gate", "general", behind)] },
      { text: "Two are on their way; a third looks at the tests.", calls: [task("look at the tests", "explore")] },
    ],
    {
      "find the callers": [{ calls: [call("grep", { pattern: "isOpen" })] }, { calls: [call("ls", { path: "src" })] }],
      "mend the gate": [{ calls: [task("count anew", "code")] }],
      "count anew": last,
    },
  )

const editing = { calls: [call("read", { path: "src/gate.ts" })] }

test("gallery: agents at work, and one of them chosen", async (t) => {
  const { type, see, place } = await talk(t, crew([editing]), { ...common, columns: 110, rows: 34 })
  type("let the gate open five times\r")
  await see(/explore find the callers .*2 tools/)
  await see(/code count anew .*1 tool /)
  await see(/thinking +explore look at the tests/)
  await pictured("agents", await see("Two are on their way"), place)
  type(keys.down)
  await see("chosen: explore (thinking)")
  type(keys.enter)
  await pictured("transcript", await see("what you type here steers it"), place)
})

test("gallery: a question from two levels down", async (t) => {
  const change = call("write", { path: "notes.md", content: "# Gate\n\nIt opens five times.\n" })
  const { type, see, place } = await talk(t, crew([{ calls: [change] }]), { ...common, rows: 36 })
  type("let the gate open five times\r")
  await see(/explore find the callers .*2 tools/)
  await see(/thinking +explore look at the tests/)
  await see("+It opens five times.")
  await pictured("question", await see("main > general > code wants to write"), place)
})

test("gallery: commands are offered, and two of them", async (t) => {
  const { type, see, miss, place } = await talk(t, told([{ text: "All is well." }]), {
    ...common,
    columns: 100,
    rows: 34,
  })
  type("is all well?\r")
  await see(done)
  type("/co")
  await miss(/tasks +/)
  await pictured("commands", await see(/context +what fills/), place)
  type("\u0003")
  await miss(/context +what fills/)
  type("/cost\r")
  await pictured("cost", await see(/^ *total/m), place)
})

test("gallery: the help", async (t) => {
  const { type, see, place } = await talk(t, never, { ...common, columns: 110, rows: 34 })
  type("?")
  await pictured("help", await see(/\/exit +leaves/), place)
})

test("gallery: the end", async (t) => {
  const { type, see, exit, past, place } = await talk(t, told([{ text: "All is well." }]), { ...common, columns: 100 })
  type("is all well?\r")
  await see(done)
  type("/exit\r")
  await exit
  await pictured("end", past(), place)
})
