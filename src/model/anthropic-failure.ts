import type { Failure } from "../core/event.ts"
import { failureOf, retriable, short } from "./http.ts"
import { parsed } from "./input.ts"
import { soundsFull } from "./overflow.ts"

/** Who was asked, in the words that a person needs to put things right. */
export type Asked = { provider: string; name: string; keyVariable?: string }

export type Trouble = { error: Failure; retry: boolean }

/** Errors inside of a stream have a type where others have a status. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["invalid_request_error", 400],
  ["authentication_error", 401],
  ["billing_error", 402],
  ["permission_error", 403],
  ["not_found_error", 404],
  ["request_too_large", 413],
  ["rate_limit_error", 429],
  ["api_error", 500],
  ["timeout_error", 504],
  ["overloaded_error", 529],
])

/** With this provider, the answer's own limit counts along with what was sent. */
const overflows = (said: string): boolean => soundsFull(said) || /exceed context limit|total text bytes/i.test(said)

/** What an answer other than 2xx means. */
export const refused = (asked: Asked, status: number, body: string): Failure =>
  explain(asked, status, saidOf(parsed(body)).message || body)

/** What an error means that came inside of a stream which had begun well. */
export function brokeOff(asked: Asked, error: unknown): Trouble {
  const { type, message } = saidOf(error)
  const status = statuses.get(type) ?? 500
  return { error: explain(asked, status, message || type), retry: retriable(status) }
}

function explain({ provider, name, keyVariable = variableOf(provider) }: Asked, status: number, said: string): Failure {
  const failure = failureOf(status, said)
  const told = (kind: Failure["kind"], message: string): Failure => ({ kind, message, status })
  if (status === 413 || (status === 400 && overflows(said))) {
    return told(
      "context_overflow",
      `the conversation is too long for ${name}: ${short(said) || "the request is too large"}`,
    )
  }
  switch (failure.kind) {
    case "authentication":
      return told("authentication", `${provider} refused the key (${failure.message}); check ${keyVariable}`)
    case "not_found":
      return told(
        "not_found",
        `${provider} has no model "${name}" (${failure.message}); check its name and the base URL`,
      )
    default:
      return told(failure.kind, `${provider} said ${failure.message}`)
  }
}

/** `{ type: "error", error: { type, message } }`, or the inner part of it alone. */
function saidOf(error: unknown): { type: string; message: string } {
  if (typeof error !== "object" || error === null) return { type: "", message: typeof error === "string" ? error : "" }
  const { error: inner, type, message } = error as { error?: unknown; type?: unknown; message?: unknown }
  if (inner !== undefined) return saidOf(inner)
  return { type: String(type ?? ""), message: typeof message === "string" ? message : "" }
}

const variableOf = (provider: string): string => `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`
