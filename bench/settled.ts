import { open } from "legwork"

/** What one finished conversation leaves in memory while its session lives: the prompt is repeated in one session. */
const { BENCH_URL: url, BENCH_FOLDER: folder = "", BENCH_PROMPT: prompt = "" } = process.env
const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
const sessions = 40

async function settled() {
  const session = await open({ cwd: folder, model: "anthropic/any", env })
  await session.prompt(prompt)
  return session
}

const used = () => {
  for (let n = 0; n < 4; n++) global.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
for (let n = 0; n < 5; n++) await (await settled()).close()
const before = used()
const kept = []
for (let n = 0; n < sessions; n++) kept.push(await settled())
const kb = (used() - before) / sessions / 1024
for (const session of kept) await session.close()
console.log(JSON.stringify({ kb }))
