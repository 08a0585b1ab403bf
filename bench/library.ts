import { open } from "legwork"

/** Our engine on the same work, with its permissions, its session on disk and everything else that it always has. */
const { BENCH_URL: url, BENCH_FOLDER: folder = "", BENCH_PROMPT: prompt = "", BENCH_TIMES: repeats = "7" } = process.env
const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }

async function run(): Promise<number> {
  const session = await open({ cwd: folder, model: "anthropic/any", maxTurns: 1_000, env })
  const began = performance.now()
  const { text, status } = await session.prompt(prompt)
  const ms = performance.now() - began
  if (status !== "completed" || !/^I (read|led) \d+/.test(text)) throw new Error(`${status}: ${text}`)
  await session.close()
  return ms
}

// The median of several in one process: what the work costs once the code is warm.
await run()
const times: number[] = []
for (let n = 0; n < Number(repeats); n++) times.push(await run())
const ms = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]
console.log(JSON.stringify({ ms, mb: process.resourceUsage().maxRSS / 1_000 }))
