import http from "node:http"
import { urlToHttpOptions } from "node:url"
import { createParser } from "eventsource-parser"
import { reasonOf } from "../core/error.ts"
import type { Failure } from "../core/event.ts"

/** One request whose answer comes as a stream of events. */
export type Exchange = {
  url: string
  headers: Record<string, string>
  /** Text, or bytes in pieces. */
  body: string | readonly Buffer[]
  signal: AbortSignal
  /** Milliseconds without a byte before the answer counts as stalled. */
  idle: number
  /** `done` ends the exchange well: nothing that may still follow matters. */
  event(event: { event?: string; data: string }, done: () => void): void
  /** What an answer other than 2xx means, in the provider's own terms. */
  explain(status: number, body: string): Failure
}

export type Ended = { ok: true } | { ok: false; error: Failure; retry: boolean; retryAfter?: number }

export type Pool = {
  http: http.Agent
  /** An address taken apart, which is done once. */
  placeOf(url: string): Place
  /** Made when first needed: encryption is a third of what it takes to start. */
  https(): { request: typeof http.request; agent: http.Agent }
  close(): void
}

type Place = { isSecure: boolean; options: http.RequestOptions }

const errorBodyKept = 64 * 1024
const eventKept = 32 * 1024 * 1024
/** How many idle limits may pass with signs of life and no event. */
const patience = 5
/** How long a server may take to end a body that we need no more, so that its socket can be used again. */
const drain = 1_000

export function createPool(options: { env?: NodeJS.ProcessEnv } = {}): Pool {
  const proxyEnv = options.env ?? process.env
  const kept = { keepAlive: true, maxFreeSockets: 4_096, proxyEnv }
  const plain = new http.Agent(kept)
  let secure: ReturnType<Pool["https"]> | undefined
  const places = new Map<string, Place>()
  return {
    http: plain,
    placeOf(url) {
      const place = places.get(url) ?? takenApart(url)
      places.set(url, place)
      return place
    },
    https() {
      if (secure) return secure
      const { request, Agent } = process.getBuiltinModule("node:https")
      secure = { request, agent: new Agent(kept) }
      return secure
    },
    close() {
      plain.destroy()
      secure?.agent.destroy()
    },
  }
}

type Shared = { pool: Pool; users: number; ending?: NodeJS.Timeout }
const shared = new Map<string, Shared>()
/** How long connections stay when nobody uses them any more, in milliseconds: the next session may be about to begin. */
const lingering = 1_000

/** The pool of all sessions in this process that go through the same proxies. Closing it gives it back. */
export function sharedPool(env: NodeJS.ProcessEnv): Pool {
  const key = JSON.stringify(Object.entries(env).filter(([name]) => /_proxy$/i.test(name)))
  const one = shared.get(key) ?? { pool: createPool({ env }), users: 0 }
  shared.set(key, one)
  one.users++
  clearTimeout(one.ending)
  let isOpen = true
  const close = () => {
    if (!isOpen) return
    isOpen = false
    if (--one.users > 0) return
    one.ending = setTimeout(() => {
      shared.delete(key)
      one.pool.close()
    }, lingering).unref()
  }
  return { ...one.pool, close }
}

function takenApart(address: string): Place {
  const url = new URL(address)
  const { protocol, hostname, port, path, auth } = urlToHttpOptions(url)
  return { isSecure: protocol === "https:", options: { method: "POST", protocol, hostname, port, path, auth } }
}

/** Never rejects: what goes wrong is how it ended. */
export function exchange(pool: Pool, exchange: Exchange): Promise<Ended> {
  return new Promise((resolve) => new Flight(pool, exchange, resolve).start())
}

/** One exchange under way. It lands once, however many of its socket's events say that it is over. */
class Flight {
  #pool: Pool
  #exchange: Exchange
  #resolve: (ended: Ended) => void
  #request: http.ClientRequest | undefined
  #timer: NodeJS.Timeout | undefined
  #landed = false
  #answered = false
  #resent = false
  /** Set while the body is one whose beginning is enough. */
  #settle: (() => void) | undefined

  constructor(pool: Pool, exchange: Exchange, resolve: (ended: Ended) => void) {
    this.#pool = pool
    this.#exchange = exchange
    this.#resolve = resolve
  }

  start(): void {
    const { signal, idle } = this.#exchange
    if (signal.aborted) {
      this.#stop()
      return
    }
    signal.addEventListener("abort", this.#stop, { once: true })
    this.#timer = setTimeout(() => this.#stall(), idle)
    this.#send()
  }

  #send(): void {
    try {
      this.#request = this.#open()
    } catch (error) {
      // A bad URL or a header with a line break: nothing that another try would cure.
      this.#fail({ kind: "bad_request", message: `the request cannot be sent: ${reasonOf(error)}` }, false)
      return
    }
    this.#request.on("error", this.#lost)
    this.#request.on("response", (response) => this.#hear(response))
    const { body } = this.#exchange
    if (typeof body !== "string") {
      for (const piece of body) this.#request.write(piece)
      this.#request.end()
      return
    }
    // Text without anything but ASCII is the same bytes either way, and the short way is faster.
    this.#request.end(body, Buffer.byteLength(body) === body.length ? "latin1" : "utf8")
  }

  #open(): http.ClientRequest {
    const { isSecure, options } = this.#pool.placeOf(this.#exchange.url)
    const { request, agent } = isSecure ? this.#pool.https() : { request: http.request, agent: this.#pool.http }
    const { body } = this.#exchange
    const length = typeof body === "string" ? undefined : body.reduce((sum, piece) => sum + piece.length, 0)
    const headers = {
      "accept-encoding": "identity",
      ...this.#exchange.headers,
      ...(length !== undefined && { "content-length": length }),
    }
    return request({ ...options, headers, agent })
  }

  #hear(response: http.IncomingMessage): void {
    this.#answered = true
    response.setEncoding("utf8")
    response.on("error", this.#lost)
    const status = response.statusCode ?? 0
    const type = response.headers["content-type"] ?? "text/event-stream"
    if (status < 200 || status > 299) this.#refused(response, status)
    else if (type.toLowerCase().startsWith("text/event-stream")) this.#stream(response)
    else this.#mistaken(response, type)
  }

  #stream(response: http.IncomingMessage): void {
    const done = () => this.#done()
    let heard = performance.now()
    const parser = createParser({
      maxBufferSize: eventKept,
      onEvent: (event) => {
        heard = performance.now()
        if (!this.#landed) this.#exchange.event(event as { event?: string; data: string }, done)
      },
      onError: ({ type }) => {
        if (type === "max-buffer-size-exceeded")
          this.#fail({ kind: "network", message: `the answer has an event over ${eventKept >> 20} MB` }, false)
      },
    })
    response.on("data", (chunk: string) => {
      if (this.#landed) return
      this.#timer?.refresh()
      // Comments keep a line open, but not for ever.
      if (performance.now() - heard > patience * this.#exchange.idle) return this.#stall()
      try {
        parser.feed(chunk)
      } catch (error) {
        this.#fail({ kind: "internal", message: `reading the answer failed: ${reasonOf(error)}` }, false)
      }
    })
    response.on("end", () => this.#land({ ok: true }))
  }

  #refused(response: http.IncomingMessage, status: number): void {
    const retryAfter = retryAfterOf(response.headers, Date.now())
    const retry = retriable(status) && response.headers["x-should-retry"] !== "false"
    this.#collect(response, (body) => {
      this.#land({
        ok: false,
        error: this.#explain(status, body),
        retry,
        ...(retryAfter !== undefined && { retryAfter }),
      })
    })
  }

  #explain(status: number, body: string): Failure {
    try {
      return this.#exchange.explain(status, body)
    } catch {
      return failureOf(status, body)
    }
  }

  #mistaken(response: http.IncomingMessage, type: string): void {
    this.#collect(response, (body) => {
      const message = `${this.#host()} answered with ${type} instead of an event stream; check the base URL and any proxy. It said: ${short(body)}`
      this.#fail({ kind: "bad_request", message, status: response.statusCode ?? 0 }, false)
    })
  }

  /** Gives `then` the beginning of the body, also when the rest of it never comes. */
  #collect(response: http.IncomingMessage, then: (body: string) => void): void {
    let body = ""
    this.#settle = () => {
      if (!this.#landed) then(mask(body.slice(0, errorBodyKept), this.#exchange.headers))
      if (!response.complete) this.#request?.destroy()
    }
    response.on("data", (chunk: string) => {
      body += chunk
      if (body.length >= errorBodyKept) this.#settle?.()
    })
    response.on("end", this.#settle)
  }

  #lost = (error: NodeJS.ErrnoException): void => {
    if (this.#landed) return
    const code = error.code ?? error.message
    const { reusedSocket } = this.#request ?? {}
    if (this.#settle) this.#settle()
    else if (this.#answered) {
      this.#fail({ kind: "truncated", message: `the answer of ${this.#host()} broke off (${code})` }, true)
    } else if (reusedSocket && !this.#resent && (code === "ECONNRESET" || code === "EPIPE")) {
      // The server closed a kept socket just as we took it: it has not seen the request.
      this.#resent = true
      this.#send()
    } else this.#fail({ kind: "network", message: networkMessage(this.#host(), code) }, true)
  }

  #stop = (): void => {
    this.#fail({ kind: "network", message: "the request was stopped" }, false)
  }

  #stall(): void {
    const seconds = Math.round(this.#exchange.idle / 1000)
    if (this.#settle) this.#settle()
    else this.#fail({ kind: "stalled", message: `${this.#host()} sent nothing for ${seconds} s` }, true)
  }

  #done(): void {
    this.#land({ ok: true })
    // Nobody waits for the rest; whoever takes the socket again waits with it.
    this.#request?.socket?.unref()
    this.#timer = setTimeout(() => this.#request?.destroy(), drain).unref()
    this.#request?.once("close", () => clearTimeout(this.#timer))
  }

  #fail(error: Failure, retry: boolean): void {
    this.#land({ ok: false, error, retry })
    this.#request?.destroy()
  }

  #land(ended: Ended): void {
    if (this.#landed) return
    this.#landed = true
    clearTimeout(this.#timer)
    this.#exchange.signal.removeEventListener("abort", this.#stop)
    this.#resolve(ended)
  }

  #host(): string {
    return new URL(this.#exchange.url).host
  }
}

/** The meaning of a status that every provider shares. */
export function failureOf(status: number, message: string): Failure {
  return {
    kind: kindOf(status),
    message: `${status}: ${short(message) || http.STATUS_CODES[status] || "no reason given"}`,
    status,
  }
}

function kindOf(status: number): Failure["kind"] {
  if (status === 401 || status === 403) return "authentication"
  if (status === 404) return "not_found"
  if (status === 413) return "context_overflow"
  if (status === 429) return "rate_limit"
  return retriable(status) ? "overloaded" : "bad_request"
}

/** Whether the same request may fare better later. */
export const retriable = (status: number): boolean =>
  status === 408 || status === 409 || status === 429 || status >= 500

/** Milliseconds that a provider asks us to wait, if it says so in a way that can be understood. */
export function retryAfterOf(headers: http.IncomingHttpHeaders, now: number): number | undefined {
  const exact = Number.parseFloat(String(headers["retry-after-ms"]))
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const said = headers["retry-after"]?.trim()
  if (!said) return undefined
  if (/^[+-]?\d+(\.\d+)?$/.test(said)) return Math.max(0, Number(said) * 1000)
  const date = /[a-z]{3}/i.test(said) ? Date.parse(said) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const secretHeaders = /^(authorization|proxy-authorization|x-api-key|api-key|x-goog-api-key)$/i

/** Takes the keys that a request carried out of a text that came back. */
export function mask(text: string, headers: Record<string, string>): string {
  let masked = text
  for (const [name, value] of Object.entries(headers)) {
    if (!secretHeaders.test(name)) continue
    const secret = value.replace(/^\w+ /, "")
    if (secret) masked = masked.replaceAll(secret, "[key]")
  }
  return masked
}

/** A provider's words, on one line and no longer than a person would read. */
export function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

function networkMessage(host: string, code: string): string {
  if (code === "ECONNREFUSED")
    return `nothing listens at ${host} (${code}); check the base URL and that the server runs`
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return `the name of ${host} cannot be resolved (${code}); check the network`
  if (/CERT|SELF_SIGNED|ISSUER|TLS|SSL|EPROTO/.test(code)) {
    return `no trusted connection to ${host} (${code}); if a proxy re-signs traffic, set NODE_EXTRA_CA_CERTS`
  }
  return `the connection to ${host} failed (${code})`
}
