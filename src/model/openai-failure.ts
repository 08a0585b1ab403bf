import type { Failure } from "../core/event.ts"
import { failureOf, retriable, short } from "./http.ts"
import { parsed } from "./input.ts"
import { soundsFull } from "./overflow.ts"

/** Who was asked, in the words that a person needs to put things right. `keyVariable` names the key, never its value. */
export type Asked = { provider: string; name: string; keyVariable: string; key?: string }

/** `final`: no other try can help, whatever the status says. */
export type Trouble = { error: Failure; final: boolean }

/** What an answer other than 2xx means. */
export function refused(asked: Asked, status: number, body: string): Trouble {
  const said = saidOf(parsed(body) ?? body)
  if (status === 401 || status === 403) return { error: locked(asked, status, said.message), final: true }
  if (status === 413 || (status >= 400 && status < 500 && overflows(said)))
    return { error: full(said, status), final: true }
  if (spent(said)) return { error: unpaid(asked, status), final: true }
  const failure = failureOf(status, said.message)
  if (status === 404) {
    const message = `${asked.provider} has no model ${asked.name} or no such address (${failure.message}); check the model's name and the base URL`
    return { error: { ...failure, message }, final: true }
  }
  return { error: { ...failure, message: `${asked.provider} said ${failure.message}` }, final: !retriable(status) }
}

/** What an error means that came inside of a stream which had begun well. Most are the server's own and may pass. */
export function brokeOff(asked: Asked, error: unknown): Trouble {
  const said = saidOf(error)
  if (overflows(said)) return { error: full(said), final: true }
  if (spent(said)) return { error: unpaid(asked), final: true }
  const status = Number(said.code)
  if (status >= 400 && status <= 599) return refused(asked, status, said.message)
  const message = `${asked.provider} broke off its answer: ${short(said.message) || said.code || "no reason given"}`
  if (/rate_limit/.test(said.code)) return { error: { kind: "rate_limit", message }, final: false }
  if (/authentication|invalid_api_key/.test(said.code)) return { error: locked(asked, 401, said.message), final: true }
  if (/invalid/.test(said.code)) return { error: { kind: "bad_request", message }, final: true }
  return { error: { kind: "overloaded", message }, final: false }
}

type Said = { message: string; code: string }

/** Errors come as an object, an object in an object, or bare words; servers do not agree. */
function saidOf(error: unknown): Said {
  if (typeof error === "string") return { message: error, code: "" }
  if (typeof error !== "object" || error === null) return { message: "", code: "" }
  const { error: inner, message, detail, code, type } = error as Record<string, unknown>
  if (inner !== undefined && inner !== null) return saidOf(inner)
  const words = message ?? detail
  return {
    message: typeof words === "string" ? words : JSON.stringify(words ?? error),
    code: String(code ?? type ?? ""),
  }
}

const overflows = ({ message, code }: Said): boolean => code === "context_length_exceeded" || soundsFull(message)

const spent = ({ code }: Said): boolean => code === "insufficient_quota" || code === "billing_hard_limit_reached"

const full = ({ message }: Said, status?: number): Failure => ({
  kind: "context_overflow",
  message: `the conversation is too long for the model: ${short(message) || "the request is too large"}`,
  ...(status !== undefined && { status }),
})

const unpaid = ({ provider }: Asked, status?: number): Failure => ({
  kind: "rate_limit",
  message: `the account at ${provider} has no credit left; see to its plan and billing, or choose another model`,
  ...(status !== undefined && { status }),
})

function locked({ provider, keyVariable, key }: Asked, status: number, said: string): Failure {
  const why = status === 403 && said ? `: ${short(said)}` : ""
  const message = key
    ? `${provider} refused the key in ${keyVariable}${why}; set one that is valid for this model`
    : `${provider} wants a key; set ${keyVariable}`
  return { kind: "authentication", message, status }
}
