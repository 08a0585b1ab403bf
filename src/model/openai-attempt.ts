import type { Failure } from "../core/event.ts"
import type { Part, Stop } from "../core/message.ts"
import type { Usage } from "../core/usage.ts"
import { type Body, bodies } from "./body.ts"
import { exchange, type Pool } from "./http.ts"
import { parsed } from "./input.ts"
import type { Delta, Request } from "./model.ts"
import { type Asked, brokeOff, refused, type Trouble } from "./openai-failure.ts"
import type { Attempt } from "./retry.ts"

export type OpenaiOptions = Asked & {
  /** Ends before `/chat/completions` or `/responses`. */
  baseURL: string
  headers?: Record<string, string>
  pool: Pool
  maxTokens?: number
  /** Milliseconds without a byte before an answer counts as stalled. */
  idle?: number
}

/** Where a read event leaves the answer. */
export type Progress = { state: "open" } | { state: "whole" } | { state: "failed"; error: unknown }

/** One answer as it is read, event by event. */
export type Reading = {
  /** Of what was read so far, also when the rest never comes. */
  usage: Usage
  take(event: object): Progress
  /** The server said that nothing follows. */
  close(): void
  /** The answer; nothing as long as its end has not come. */
  answer(): { parts: Part[]; stop: Stop } | undefined
}

export type Format = {
  path: string
  body(request: Request): Body
  read(request: Request, delta: (delta: Delta) => void): Reading
}

/** What Chat Completions and Responses have in common: how a request is sent, and how an answer comes to its end. */
export function attempt(options: OpenaiOptions, format: Format): Attempt {
  const url = options.baseURL.replace(/\/+$/, "") + format.path
  const headers = {
    "content-type": "application/json",
    ...(options.key && { authorization: `Bearer ${options.key}` }),
    ...options.headers,
  }
  const sent = bodies()
  return async (request, { signal, delta }) => {
    const reading = format.read(request, delta)
    const written = encoded(format, request)
    if ("kind" in written) return { ok: false, error: written, retry: false, usage: reading.usage }
    const body = sent(written, request.memo)
    let trouble: Trouble | undefined
    const ended = await exchange(options.pool, {
      url,
      headers,
      body,
      signal,
      idle: options.idle ?? 120_000,
      event({ data }, done) {
        if (data === "[DONE]") {
          reading.close()
          done()
          return
        }
        const progress = progressOf(reading, data)
        if (progress?.state === "open") return
        if (!progress) trouble = garbled(options.provider)
        else if (progress.state === "failed") trouble = brokeOff(options, progress.error)
        done()
      },
      explain(status, body) {
        trouble = refused(options, status, body)
        return trouble.error
      },
    })
    const { usage } = reading
    if (!ended.ok) return { ...ended, retry: ended.retry && !trouble?.final, usage }
    if (trouble) return { ok: false, error: trouble.error, retry: !trouble.final, usage }
    const answer = wholeOf(reading)
    if (answer) return { ok: true, ...answer, usage }
    const message = `the answer of ${options.provider} ended before it was whole`
    return { ok: false, error: { kind: "truncated", message }, retry: true, usage }
  }
}

/** What cannot be written as JSON is a mistake of ours or of a library's user: told, not thrown. */
function encoded(format: Format, request: Request): Body | Failure {
  try {
    return format.body(request)
  } catch (error) {
    return { kind: "internal", message: `the request cannot be written as JSON: ${String(error)}` }
  }
}

function progressOf(reading: Reading, data: string): Progress | undefined {
  const event = parsed(data)
  if (typeof event !== "object" || event === null) return undefined
  try {
    return reading.take(event)
  } catch {
    return undefined
  }
}

/** A server that leaves out what the format demands has not answered. */
function wholeOf(reading: Reading): ReturnType<Reading["answer"]> {
  try {
    return reading.answer()
  } catch {
    return undefined
  }
}

const garbled = (provider: string): Trouble => ({
  error: { kind: "truncated", message: `${provider} sent an event that makes no sense` },
  final: false,
})
