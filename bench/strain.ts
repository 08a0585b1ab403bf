import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { interleaved, program } from "./compare.ts"
import type { Result } from "./result.ts"

const [children, words, wanted] = [500, 150, 50]

/** Many children that stream at once: whether one core keeps up, and how long the event loop makes others wait. */
export async function streaming(env: NodeJS.ProcessEnv): Promise<Result[]> {
  const asked = { ...env, BENCH_PROMPT: `flow ${children} ${words}`, BENCH_TIMES: "0", BENCH_MARKS: "yes" }
  const { floor, ours } = await interleaved({
    floor: () => program("floor", { ...asked, BENCH_CLIENT: "http" }),
    ours: () => program("library", asked),
  })
  const perSecond = ours("perSecond") / children
  return [
    {
      // Where a bare loop gets no more either, it is the server or the machine that cannot.
      name: `${children} children stream at ${wanted} words a second, a bare loop's rate against ours`,
      value: floor("perSecond") / children / perSecond,
      bar: 1.1,
      detail: {
        "words a second, each": perSecond,
        "node:http floor, words a second, each": floor("perSecond") / children,
        "CPU, %": ours("cpu"),
        "peak MB": ours("mb"),
      },
    },
    {
      name: `${children} children stream, event-loop delay p99`,
      value: ours("delayed"),
      unit: "ms",
      bar: 50,
      detail: { "longest, ms": ours("longest") },
    },
  ]
}

/** What turn 200 costs against turn 20 in a conversation of large results, without what it takes to send its bytes. */
export async function grown(env: NodeJS.ProcessEnv): Promise<Result> {
  for (let n = 0; n < 200; n++)
    await writeFile(join(env.BENCH_FOLDER!, `large-${n}.txt`), `line of file ${n}\n`.repeat(500))
  // A model whose window holds all of it: a conversation that is made shorter would be other work.
  const model = { BENCH_MARKS: "yes", BENCH_MODEL: "anthropic/claude-sonnet-4-6" }
  const asked = { ...env, ...model, BENCH_PROMPT: "study 200", BENCH_TIMES: "1" }
  const last = 2_600_000
  const { floor, ours, bytes } = await interleaved({
    floor: () => program("floor", { ...asked, BENCH_CLIENT: "http" }),
    ours: () => program("library", asked),
    bytes: () => program("send", { ...env, BENCH_SIZES: `${last / 10},${last}` }),
  })
  if (ours("bytes") < floor("bytes")) throw new Error(`${ours("bytes")} bytes were sent, less than by the bare loop`)
  const [early, late] = [bytes(`${last / 10}`), (bytes(`${last}`) * ours("bytes")) / last]
  return {
    name: "turn 200 against turn 20, CPU, without what the bytes take",
    value: (ours("late") - (late - early)) / ours("early"),
    bar: 1.5,
    detail: {
      "turn 20, ms": ours("early") / 1_000,
      "turn 200, ms": ours("late") / 1_000,
      "last request, KB": ours("bytes") / 1_000,
      "sending the bytes of turn 20, ms": early / 1_000,
      "sending those of turn 200, ms": late / 1_000,
      "node:http floor, turn 20, ms": floor("early") / 1_000,
      "node:http floor, turn 200, ms": floor("late") / 1_000,
      "node:http floor, last request, KB": floor("bytes") / 1_000,
    },
  }
}
