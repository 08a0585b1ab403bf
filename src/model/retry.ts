import type { Failure } from "../core/event.ts"
import { noUsage } from "../core/usage.ts"
import { type Gate, type Leaving, longestTimer } from "./gate.ts"
import type { Answer, Delta, Listen, Model, Request } from "./model.ts"

/** One try at one answer. Never tries again by itself. */
export type Attempt = (request: Request, listen: { signal: AbortSignal; delta(delta: Delta): void }) => Promise<Answer>

type Failed = Extract<Answer, { ok: false }>

const mostTries = 8
/** A limit that names no time may be a spending cap, which no waiting lifts. */
const mostUntimed = 3
const firstWait = 500
const longestWait = 30_000

const hopeless: ReadonlySet<Failure["kind"]> = new Set<Failure["kind"]>([
  "authentication",
  "bad_request",
  "not_found",
  "context_overflow",
  "refused",
  "bad_calls",
  "store",
  "internal",
])

/** Tries until there is an answer, or a failure that no further try would cure. Never rejects. */
export function retrying(
  attempt: Attempt,
  options: { gate: Gate; sleep(ms: number, signal: AbortSignal): Promise<void>; random(): number },
): Model["stream"] {
  const { gate, sleep, random } = options
  return async (request, listen) => {
    let untimed = 0
    for (let tries = 1; ; tries++) {
      const entry = await gate.enter(listen.signal)
      if (!entry.open) return failed(entry.error)
      const answer = await once(attempt, request, listen)
      if (answer.ok) {
        entry.leave({ how: "well" })
        return answer
      }
      const wait = answer.retryAfter || random() * Math.min(longestWait, firstWait * 2 ** (tries - 1))
      const leaving = leavingOf(answer, wait)
      entry.leave(leaving)
      if (answer.error.kind === "rate_limit" && answer.retryAfter === undefined) untimed++
      if (tries === mostTries || untimed === mostUntimed || !answer.retry || hopeless.has(answer.error.kind))
        return answer
      if (listen.signal.aborted) return { ...answer, retry: false }
      listen.failed({ error: answer.error, wait, usage: answer.usage })
      // A limited gate makes everyone wait, this run too, and lets them in one by one.
      if (leaving.how !== "limited") await sleep(wait, listen.signal)
    }
  }
}

async function once(attempt: Attempt, request: Request, listen: Listen): Promise<Answer> {
  try {
    return await attempt(request, listen)
  } catch (error) {
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return failed({ kind: "internal", message: `a bug in the model's client: ${words}` })
  }
}

function leavingOf({ error, retryAfter }: Failed, wait: number): Leaving {
  if (error.kind === "authentication") return { how: "barred", error }
  return error.kind === "rate_limit" || retryAfter !== undefined ? { how: "limited", wait } : { how: "ill" }
}

const failed = (error: Failure): Failed => ({ ok: false, error, retry: false, usage: noUsage() })

/** Resolves when the time is over or the signal fires, whichever comes first. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, longestTimer))
    if (signal.aborted) end()
    else signal.addEventListener("abort", end, { once: true })
  })
}
