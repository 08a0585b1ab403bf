import { monitorEventLoopDelay } from "node:perf_hooks"
import { open } from "legwork"
import { bytesIn, growthOf } from "./growth.ts"
import { median } from "./result.ts"

/** Our engine on the same work, with its permissions, its session on disk and everything else that it always has. */
const {
  BENCH_URL: url,
  BENCH_FOLDER: folder = "",
  BENCH_PROMPT: prompt = "",
  BENCH_PAD: pad = "0",
  BENCH_TIMES: repeats = "7",
  BENCH_MODEL: model = "anthropic/any",
} = process.env
const env = { ...process.env, ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url }
/** Figures that themselves cost time are taken only where they are wanted. */
const marking = process.env.BENCH_MARKS === "yes"
const whole = prompt + " pad".repeat(Number(pad))

/** The processor time taken when each answer had come, in microseconds. */
let marks: number[] = []
let bytes = 0
/** Pieces of answers that came, and when the first and the last did. */
const came = { pieces: 0, first: Number.NaN, last: Number.NaN }
const delay = monitorEventLoopDelay({ resolution: 1 })

/** The time that the work took, and the same with all that comes before and after it. */
async function run(): Promise<{ ms: number; all: number }> {
  marks = []
  const opening = performance.now()
  const session = await open({ cwd: folder, model, maxTurns: 1_000, env })
  session.listen(({ type }) => {
    if (type === "turn.delta") {
      came.last = performance.now()
      if (came.pieces++ === 0) came.first = came.last
    }
    if (type !== "turn.ended" || !marking) return
    const { user, system } = process.cpuUsage()
    marks.push(user + system)
  })
  const began = performance.now()
  const { text, status } = await session.prompt(whole)
  const ms = performance.now() - began
  if (status !== "completed" || !/^I (read|led) \d+/.test(text)) throw new Error(`${status}: ${text}`)
  bytes = bytesIn(text)
  await session.close()
  return { ms, all: performance.now() - opening }
}

// The median of several in one process: what the work costs once the code is warm.
if (Number(repeats) > 0) await run()
if (marking) delay.enable()
const began = { cpu: process.cpuUsage(), at: performance.now() }
const times: { ms: number; all: number }[] = []
for (let n = 0; n < Math.max(1, Number(repeats)); n++) times.push(await run())
const { user, system } = process.cpuUsage(began.cpu)
console.log(
  JSON.stringify({
    ms: median(times.map(({ ms }) => ms)),
    all: median(times.map(({ all }) => all)),
    mb: process.resourceUsage().maxRSS / 1_000,
    cpu: (user + system) / 10 / (performance.now() - began.at),
    delayed: delay.percentile(99) / 1e6,
    longest: delay.max / 1e6,
    bytes,
    perSecond: (1_000 * came.pieces) / (came.last - came.first),
    ...growthOf(marks),
  }),
)
