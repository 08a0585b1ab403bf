import type { Failure } from "../core/event.ts"
import { failureOf, retriable, retryAfterOf, short } from "./http.ts"
import { soundsFull } from "./overflow.ts"

export type Failed = { error: Failure; retry: boolean; retryAfter?: number }

/** What the errors of the AI SDK carry, by shape: their classes belong to packages that we do not have. */
type Thrown = {
  name?: string
  message?: string
  statusCode?: number
  isRetryable?: boolean
  responseHeaders?: Record<string, string>
}

/** `begun`: the answer had started to come, so what broke it may well pass. */
export function failedBy(error: unknown, provider: string, begun: boolean): Failed {
  const thrown = (typeof error === "object" && error !== null ? error : { message: String(error) }) as Thrown
  const said = short(thrown.message ?? "") || "no reason given"
  const retryAfter = thrown.responseHeaders && retryAfterOf(thrown.responseHeaders, Date.now())
  const status = statusOf(thrown)
  return {
    error: { ...errorOf({ thrown, said, provider, begun }), ...(status !== undefined && { status }) },
    retry: thrown.isRetryable ?? (status === undefined ? begun : retriable(status)),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

type Told = { thrown: Thrown; said: string; provider: string; begun: boolean }

function errorOf({ thrown, said, provider, begun }: Told): Failure {
  const { name } = thrown
  const status = statusOf(thrown)
  if (isKey(thrown, said)) {
    return { kind: "authentication", message: `${provider} refused the key or has none: ${said}; set a valid one` }
  }
  if (status === 413 || (!retriable(status ?? 0) && soundsFull(said))) {
    return { kind: "context_overflow", message: `the conversation is too long for the model: ${said}` }
  }
  if (status === 404 || name === "AI_NoSuchModelError") {
    return { kind: "not_found", message: `${provider} has no such model or address: ${said}; check the model's name` }
  }
  const message = `${provider} said: ${said}`
  if (status !== undefined) return { kind: failureOf(status, said).kind, message }
  if (begun) return { kind: "truncated", message: `the answer of ${provider} broke off: ${said}` }
  if (thrown.isRetryable) return { kind: "network", message: `${provider} cannot be reached: ${said}` }
  return { kind: "bad_request", message }
}

/** An answer that could not be read is reported with the status of the answer, which was fine. */
const statusOf = ({ statusCode }: Thrown): number | undefined =>
  statusCode !== undefined && statusCode >= 400 ? statusCode : undefined

const isKey = ({ name, statusCode }: Thrown, said: string): boolean =>
  statusCode === 401 || statusCode === 403 || name === "AI_LoadAPIKeyError" || /api key not valid/i.test(said)
