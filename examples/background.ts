// Two tasks in the background. Whoever asked for them is told of each in a sentence or two when it is done.
import { open } from "legwork"

const session = await open({ cwd: process.argv[2] ?? "." })
const origin = { channel: "cli", chatId: "user123" }
const tasks = {
  "code structure": "Describe how the code of this project is laid out.",
  "best practices": "Which habits of testing does this project have, and which are missing?",
}
for (const [label, task] of Object.entries(tasks)) {
  const id = await session.spawn(task, { label, agent: "explore", ...origin })
  console.log(`${label} has started as ${id}; at work: ${session.runningCount()}`)
}

const stop = new AbortController()
const serving = session.serve({ signal: stop.signal })
let told = 0
for await (const { text } of session.bus.out.consume({ channel: "cli" })) {
  console.log(text)
  if (++told === Object.keys(tasks).length) break
}
stop.abort()
await serving
console.log(`at work: ${session.runningCount()}`)
await session.close()
