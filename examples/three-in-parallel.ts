// Three children at the same time. One that fails does not disturb the others.
import { open } from "legwork"

const session = await open({ cwd: process.argv[2] ?? "." })
const questions = ["How is it configured?", "How is it tested?", "How is it documented?"]
const results = await Promise.all(questions.map((prompt) => session.task({ agent: "explore", prompt })))
for (const [n, { status, content }] of results.entries()) console.log(`${questions[n]} (${status})\n${content}\n`)
await session.close()
