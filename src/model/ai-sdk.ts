import type { LanguageModelV2, LanguageModelV3, LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import { answerOf, hear, nothingHeard, type StreamPart } from "./ai-sdk-decode.ts"
import { callOptions } from "./ai-sdk-encode.ts"
import { type Failed, failedBy } from "./ai-sdk-failure.ts"
import type { Attempt } from "./retry.ts"

type Known = LanguageModelV2 | LanguageModelV3 | LanguageModelV4

/** What makes an object a model of the AI SDK; said without its types, so that ours need no package of theirs. */
export type AiSdkModel = {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doStream(options: never): PromiseLike<unknown>
}

export type AiSdkOptions = {
  model: AiSdkModel
  provider: string
  maxTokens?: number
  /** Milliseconds without a sign of life before an answer counts as stalled. */
  idle?: number
}

/** The three versions differ in what we hand over, which the encoder sees to, and agree in how they are called. */
type Streaming = {
  doStream(options: LanguageModelV4CallOptions): PromiseLike<{ stream: ReadableStream<StreamPart> }>
}

/** Any model that speaks the AI SDK's provider interface. */
export function aiSdk({ model, provider, maxTokens, idle = 120_000 }: AiSdkOptions): Attempt {
  const source = model as unknown as Streaming
  return async (request, { signal, delta }) => {
    const heard = nothingHeard()
    const stop = new AbortController()
    const halt = () => stop.abort(stopped)
    const timer = setTimeout(() => stop.abort(stalled(provider, idle)), idle)
    if (signal.aborted) halt()
    signal.addEventListener("abort", halt, { once: true })
    try {
      const options = callOptions(request, {
        version: model.specificationVersion as Known["specificationVersion"],
        provider,
        maxTokens,
      })
      const start = async () => source.doStream({ ...options, abortSignal: stop.signal })
      const { stream } = await unless(stop.signal, start)
      for await (const part of partsOf(stream, stop.signal)) {
        timer.refresh()
        hear(heard, part, delta)
      }
      stop.signal.throwIfAborted()
      return answerOf(heard, provider)
    } catch (error) {
      const failed = stop.signal.aborted ? (stop.signal.reason as Failed) : failedBy(error, provider, heard.begun)
      return { ok: false, ...failed, usage: heard.usage }
    } finally {
      clearTimeout(timer)
      signal.removeEventListener("abort", halt)
    }
  }
}

/** Some models take their time to notice an abort, so nobody waits for them. */
function unless<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(signal.reason)
    if (signal.aborted) {
      give()
      return
    }
    signal.addEventListener("abort", give, { once: true })
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", give))
  })
}

/** Ends early on abort; whoever leaves early ends the stream. */
async function* partsOf(stream: ReadableStream<StreamPart>, signal: AbortSignal): AsyncGenerator<StreamPart> {
  const reader = stream.getReader()
  const cancel = () => void reader.cancel(signal.reason).catch(() => {})
  signal.addEventListener("abort", cancel, { once: true })
  if (signal.aborted) cancel()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    signal.removeEventListener("abort", cancel)
    cancel()
  }
}

const stopped: Failed = { error: { kind: "network", message: "the request was stopped" }, retry: false }

const stalled = (provider: string, idle: number): Failed => ({
  error: { kind: "stalled", message: `${provider} sent nothing for ${Math.round(idle / 1000)} s` },
  retry: true,
})
