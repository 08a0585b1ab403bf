import assert from "node:assert/strict"
import { test } from "node:test"
import { type Asked, call, type Script, serve } from "../../src/testing.ts"
import { isChild, turnsIn } from "./behind.ts"
import { home } from "./binary.ts"
import { done, keys, screen, talk } from "./screen.ts"

const large = { columns: 120, rows: 50 }
const echo = ({ last }: Asked): string => `heard ${last.split("\n")[0]}`
const task = call("task", { description: "look", prompt: "look", subagent_type: "explore" })

/** One agent is sent and says what it found; then the main agent says so. */
const once: Script = (asked) => (isChild(asked) ? "found it" : turnsIn(asked) === 0 ? [task] : "that was all")

test("/agents lists who can be sent, and says more of the one that is chosen", async (t) => {
  const { type, see } = await talk(t, echo, large)
  type("/agents\r")
  await see(/→ .*built-in/)
  await see(/explore/)
  type("\r")
  await see(/^ *from +built-in/m)
  await see(/^ *tools +/m)
  type("/agents explor\r")
  await see('there is no agent named "explor"; did you mean explore?')
})

test("/agents tells what is wrong with agent files", async (t) => {
  const files = { "../config/legwork/agents/bad.md": "---\nname: bad\ndescription: d\ntools: [Nonsense]\n---\nx\n" }
  const { type, see } = await talk(t, echo, { ...large, files })
  type("/agents\r")
  await see(/bad\.md:\d+: .*Nonsense/)
})

test("/tasks lists all runs of the session and opens one", async (t) => {
  const { type, see } = await talk(t, once, large)
  type("/tasks\r")
  await see("no agent was started yet")
  type("go\r")
  await see("that was all")
  type("/tasks\r")
  await see("agents of this session")
  await see(/look.*done · 0 tools/)
  type("\r")
  await see("transcript of explore")
  await see("found it")
})

test("/tasks stops one that is at work", async (t) => {
  const script: Script = (asked) => (isChild(asked) ? new Promise(() => {}) : once(asked, 0))
  const { type, see } = await talk(t, script, large)
  type("go\r")
  await see(/thinking +explore look/)
  type("/tasks\r")
  await see("agents of this session")
  type("\r")
  await see("it and those below it")
  type(keys.down)
  await see(/→ stop/)
  type("\r")
  await see("that was all")
  await see("1 stopped")
})

test("/cost tells what was spent by agent and by model", async (t) => {
  const settings = { prices: { "anthropic/any": { input: 1, output: 1 } } }
  const { type, see } = await talk(t, once, { ...large, settings })
  type("go\r")
  await see("that was all")
  type("/cost\r")
  const text = await see(/^ *total +2 runs · 3 requests · .* in, .* out · \$0\.\d+/m)
  assert.match(text, /^ *by agent\n *main +1 run · 2 requests · .*\n *explore +1 run · 1 request · /m)
  assert.match(text, /^ *by model\n *anthropic\/any +2 runs · 3 requests · /m)
})

test("/model shows the model and sets another, which answers from then on", async (t) => {
  const { type, see, miss } = await talk(t, ({ model }) => `I am ${model}`, large)
  type("/model\r")
  await see("model: anthropic/any")
  await see("now in use")
  type(keys.escape)
  await miss("now in use")
  type("/model anthropic/other\r")
  await see("the model is now anthropic/other")
  type("who?\r")
  await see("I am other")
})

test("/resume goes on with another session of the folder", async (t) => {
  await using server = await serve(({ messages }) => `answer ${messages.length}`)
  const place = await home(t)
  const args = ["--model", "anthropic/any"]
  const first = screen(t, place, server.env, args)
  await first.see("ready")
  first.type("the older talk\r")
  await first.see("answer 1")
  first.type("/exit\r")
  assert.equal(await first.exit, 0)
  const second = screen(t, place, server.env, args)
  await second.see("ready")
  second.type("/resume\r")
  await second.see("go on with which session?")
  await second.see("the older talk")
  second.type("\r")
  await second.see(/^> the older talk/m)
  await second.see("answer 1")
  second.type("more\r")
  await second.see("answer 3")
})

test("/context tells what fills the window", async (t) => {
  const { type, see } = await talk(t, echo, large)
  type("hello there\r")
  await see("heard hello there")
  type("/context\r")
  const text = await see(/ of 128k tokens|of [\d.]+k tokens/)
  for (const part of ["S system prompt", "T tools", "U said to it", "A answers", ". free"])
    assert.ok(text.includes(part), text)
})

test("/compact makes the conversation shorter, and says from what to what", async (t) => {
  const { type, see } = await talk(t, ({ messages }) => `answer ${messages.length} ${"word ".repeat(300)}`, large)
  type("/compact\r")
  await see("there is nothing that could be made shorter")
  for (const n of [1, 3, 5]) {
    type(`question ${n}\r`)
    await see(`answer ${n}`)
    await see(done)
  }
  type("/compact\r")
  await see(/the conversation was made shorter: from .* to about .* tokens/)
})

test("/init has the agent write AGENTS.md", async (t) => {
  const { type, see, server } = await talk(t, () => "wrote it", large)
  type("/init\r")
  await see("wrote it")
  assert.match(server.requests[0]!.last, /^Write AGENTS\.md/)
})

test("/help shows every key and every command, the user's own too", async (t) => {
  const files = {
    "../config/legwork/commands/greet.md": "---\ndescription: says hello\n---\nSay hello to $ARGUMENTS.\n",
  }
  const { type, see } = await talk(t, echo, { ...large, files })
  type("/help\r")
  const text = await see(/\/greet +says hello/)
  for (const name of [
    "tasks",
    "stop",
    "behind",
    "agents",
    "cost",
    "context",
    "compact",
    "model",
    "resume",
    "init",
    "help",
    "exit",
  ])
    assert.match(text, new RegExp(`/${name}( |$)`, "m"))
  type("/greet the world\r")
  await see("heard Say hello to the world.")
})

test("commands of the project's folders work as those of the user do", async (t) => {
  const files = {
    ".legwork/commands/one.md": "First of $1.\n",
    ".claude/commands/git/two.md": "Second of $ARGUMENTS.\n",
  }
  const { type, see } = await talk(t, echo, { ...large, files })
  type("/one a\r")
  await see("heard First of a.")
  type("/git:two b\r")
  await see("heard Second of b.")
})

test("a command that is not there says which is near; a path is no command", async (t) => {
  const { type, see } = await talk(t, echo, large)
  type("/taks\r")
  await see("there is no /taks; did you mean /tasks?")
  type("/etc/hosts says what?\r")
  await see("heard /etc/hosts says what?")
})

test("/exit leaves with a line of numbers and how to go on", async (t) => {
  const { type, see, exit, past } = await talk(t, once)
  type("go\r")
  await see("that was all")
  type("/exit\r")
  assert.equal(await exit, 0)
  assert.match(
    past(),
    /^ {2}1 agent · 1 tool · .* tokens · cost unknown · [\d.]+s\n {2}to go on: legwork -r \d{8}-\d{6}-[0-9a-f]{16}$/m,
  )
})
