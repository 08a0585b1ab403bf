import { randomBytes } from "node:crypto"
import type { Runtime } from "./agent/runtime.ts"
import type { Registry } from "./agents/registry.ts"
import type { Outcome, RunId } from "./core/event.ts"
import type { Log } from "./core/log.ts"
import { SessionError } from "./folders.ts"
import type { Resolver } from "./model/resolve.ts"
import type { Moments } from "./moments.ts"
import { type Report, reporting } from "./report.ts"
import type { Session } from "./session.ts"
import type { Held } from "./store/store.ts"
import { streamOf } from "./stream.ts"
import type { Waiting } from "./waiting.ts"

type Inside = {
  log: Log
  runtime: Runtime
  agents: Registry
  questions: Waiting
  held: Held
  models: Resolver
  moments: Moments
  mainRun: RunId
  model: string
}

/** What programs see of a session. */
export function faceOf({ log, runtime, agents, questions, held, models, moments, mainRun, model }: Inside): Session {
  const streams = new Set<() => void>()
  const closing = new AbortController()
  /** Ends what hooks still have to say to a prompt. */
  let stopping = new AbortController()
  const reported = async (work: () => Promise<Outcome>): Promise<Report> => {
    await agents.look()
    const report = reporting(log, mainRun, () => performance.now())
    return report(held.header.id, await work())
  }
  return {
    id: held.header.id,
    main: mainRun,
    model,
    view: log.view,
    prompt: (text, { images } = {}) =>
      reported(async () => {
        stopping = new AbortController()
        const said = await moments.prompt(text, AbortSignal.any([closing.signal, stopping.signal]))
        if ("refused" in said) return said.refused
        return runtime.prompt(mainRun, { text: withMentions(said.text, agents), ...(images && { images }) })
      }),
    proceed: () =>
      reported(async () => {
        await moments.begin(closing.signal)
        await runtime.resume()
        return runtime.wake(mainRun)
      }),
    task: (task) => runtime.task(mainRun, `program-${randomBytes(8).toString("hex")}`, task, closing.signal),
    register: (given) => agents.register(given),
    events() {
      const { events, close } = streamOf(log)
      if (closing.signal.aborted) close()
      else streams.add(close)
      return events
    },
    listen: (listener) => log.listen(listener),
    cancel(run = mainRun) {
      if (run === mainRun) stopping.abort()
      return runtime.cancel(run)
    },
    answer: questions.answer,
    synced: () => log.synced(),
    async close() {
      closing.abort(new SessionError("the session is closed; open it again to go on"))
      try {
        await runtime.cancel(mainRun)
        await moments.end()
      } finally {
        for (const close of streams) close()
        await held.close().finally(() => models.close())
      }
    },
  }
}

/** Whoever writes `@name` wants that agent and no other. */
function withMentions(text: string, agents: Registry): string {
  const named = agents.mentioned(text)
  return named.length === 0
    ? text
    : `${text}\n\n(The user asks for ${named.join(" and ")} by name: hand the work over with the task tool.)`
}
