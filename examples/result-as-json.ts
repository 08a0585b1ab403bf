// All that a program gets of a task: its numbers, its cost, and a receipt of what was really done.
import { open } from "legwork"

const session = await open({ cwd: process.argv[2] ?? "." })
const result = await session.task({ prompt: "Say what this folder is for.", limits: { turns: 5, timeout: 60_000 } })
console.log(JSON.stringify(result, null, 2))
await session.close()
