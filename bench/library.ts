import { open } from "legwork"

/** Our engine on the same work, with its permissions, its session on disk and everything else that it always has. */
const [url, folder, turns] = [process.env.BENCH_URL!, process.env.BENCH_FOLDER!, Number(process.env.BENCH_TURNS)]
const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
const session = () => open({ cwd: folder, model: "anthropic/any", maxTurns: 1_000, env })

async function run(): Promise<number> {
  const each = await session()
  const began = performance.now()
  const { text, status } = await each.prompt(`read ${turns} files`)
  const ms = performance.now() - began
  if (status !== "completed" || !text.startsWith(`I read ${turns}`)) throw new Error(`${status}: ${text}`)
  await each.close()
  return ms
}

// The median of several in one process: what the work costs once the code is warm.
await run()
const times: number[] = []
for (let n = 0; n < 7; n++) {
  times.push(await run())
}
console.log(JSON.stringify({ ms: times.toSorted((a, b) => a - b)[3], mb: process.memoryUsage().rss / 1e6 }))
