// One child answers a question; its reading stays out of everybody else's way.
import { open } from "legwork"

const session = await open({ cwd: process.argv[2] ?? "." })
const result = await session.task({
  agent: "explore",
  label: "find the tests",
  prompt: "Which test framework does this project use? Quick.",
})
console.log(result.content)
console.log(`${result.status}: ${result.toolCalls} tools, ${result.receipt.filesRead.length} files read`)
await session.close()
