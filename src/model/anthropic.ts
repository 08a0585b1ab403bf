import { type Progress, Reading } from "./anthropic-decode.ts"
import { createBody } from "./anthropic-encode.ts"
import { brokeOff, refused, type Trouble } from "./anthropic-failure.ts"
import { bodies } from "./body.ts"
import { exchange, mask, type Pool } from "./http.ts"
import type { Attempt } from "./retry.ts"

export type AnthropicOptions = {
  provider: string
  name: string
  /** With or without `/v1`. */
  baseURL: string
  key?: string
  /** Names the key, to tell people which one to check. */
  keyVariable?: string
  headers?: Record<string, string>
  pool: Pool
  maxTokens: number
  /** Milliseconds without a byte before an answer counts as stalled. */
  idle?: number
  /** Milliseconds on a clock that never jumps. */
  now?(): number
}

/** How many times the idle limit a stream may show signs of life and nothing else. */
const patience = 5

/** Anthropic's Messages, as a stream. Each call is one request, and never rejects but for a bug. */
export function anthropic(options: AnthropicOptions): Attempt {
  const { idle = 120_000, now = () => performance.now() } = options
  const url = `${options.baseURL.replace(/\/+$/, "").replace(/\/v1$/, "")}/v1/messages`
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "anthropic-version": "2023-06-01",
    ...(options.key && { "x-api-key": options.key }),
    ...options.headers,
  }
  const bodyOf = createBody(options)
  const sent = bodies()
  return async (request, { signal, delta }) => {
    const reading = new Reading({ delta, now, patience: patience * idle })
    const { usage } = reading
    let trouble: Trouble | undefined
    const ended = await exchange(options.pool, {
      url,
      headers,
      body: sent(bodyOf(request), request.memo),
      signal,
      idle,
      event({ event, data }, done) {
        const progress = reading.take(data, event)
        if (progress.state === "open") return
        trouble = troubleOf(options, progress)
        done()
      },
      explain: (status, body) => refused(options, status, body),
    })
    if (!ended.ok) return { ...ended, usage }
    if (trouble) {
      const message = mask(trouble.error.message, headers)
      return { ok: false, error: { ...trouble.error, message }, retry: trouble.retry, usage }
    }
    const answer = reading.answer()
    if (answer) return { ok: true, ...answer, usage }
    return { ok: false, ...cut(`the answer of ${options.provider} ended before it was whole`), usage }
  }
}

function troubleOf(options: AnthropicOptions, progress: Progress): Trouble | undefined {
  switch (progress.state) {
    case "open":
    case "whole":
      return undefined
    case "garbled":
      return cut(`${options.provider} sent an event that is not JSON`)
    case "silent":
      return {
        error: { kind: "stalled", message: `${options.provider} gave signs of life for minutes, and no answer` },
        retry: true,
      }
    case "failed":
      return brokeOff(options, progress.error)
    default:
      return progress satisfies never
  }
}

const cut = (message: string): Trouble => ({ error: { kind: "truncated", message }, retry: true })
