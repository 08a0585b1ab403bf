import { open } from "legwork"

/** What children leave in memory when they have settled: ten thousand of one session, a thousand at a time. */
const { BENCH_URL: url, BENCH_FOLDER: folder = "" } = process.env
const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
const [rounds, each] = [10, 1_000]

const used = () => {
  for (let n = 0; n < 4; n++) global.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const session = await open({ cwd: folder, model: "anthropic/any", env })
const before = used()
const times: number[] = []
for (let n = 0; n < rounds; n++) {
  const began = performance.now()
  const tasks = Array.from({ length: each }, () =>
    session.task({ agent: "explore", prompt: "read 1 files", label: "read" }),
  )
  for (const { status } of await Promise.all(tasks)) if (status !== "completed") throw new Error(status)
  times.push(performance.now() - began)
}
const children = session.view.size - 1
if (children !== rounds * each) throw new Error(`${children} children`)
const kb = (used() - before) / children / 1024
await session.close()
const mb = process.resourceUsage().maxRSS / 1_000
console.log(JSON.stringify({ kb, children, early: times[1], late: times.at(-1), mb }))
