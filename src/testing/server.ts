import {
  createServer,
  type Server as HttpServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { reasonOf } from "../core/error.ts"
import { illegal, wires } from "./illegal.ts"
import { isObject, parse, string } from "./json.ts"
import { type Plan, plan, troublePlan } from "./plan.ts"
import type { Asked, Format, Script } from "./script.ts"
import { send, type Wait } from "./send.ts"
import type { Shape } from "./shape.ts"

export type ServeOptions = Shape & {
  port?: number
  /** How many of the latest requests to keep in `requests`; all if not given. */
  keep?: number
  /** How to wait for `ms` milliseconds; rejects when the signal is aborted. */
  wait?: Wait
}

/** A request that was turned down before the script saw it, or whose script threw. */
export type Refused = { path: string; status: number; message: string; raw: string }

export type Server = {
  /** Without a slash at its end and without `/v1`. */
  url: string
  /** Every request that the script answered, in order. */
  requests: Asked[]
  /** A well-behaved client leaves this empty. */
  refused: Refused[]
  /** Connections taken so far. */
  readonly connections: number
  /** Requests that wait for their answer's end. */
  readonly pending: number
  /** What a program needs in its environment to talk to this server. */
  env: { ANTHROPIC_API_KEY: string; ANTHROPIC_BASE_URL: string; OPENAI_API_KEY: string; OPENAI_BASE_URL: string }
  /** Breaks every connection and resolves when the port is free. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** A model provider on 127.0.0.1 that says what the script says, in the format in which it is asked. */
export async function serve(script: Script, options: ServeOptions = {}): Promise<Server> {
  const { port = 0, keep = Number.POSITIVE_INFINITY, wait = sleep, ...shape } = options
  const { requests, refused, answer } = answerer({ script, keep, shape })
  const open = new Set<AbortController>()
  let connections = 0
  const server = createServer((request, response) => {
    const control = new AbortController()
    open.add(control)
    response.on("close", () => {
      open.delete(control)
      control.abort()
    })
    respond(request, response, { answer, wait, signal: control.signal }).catch(() => response.destroy())
  })
  server.on("connection", () => connections++)
  server.keepAliveTimeout = 60_000
  const url = await listen(server, port)
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url,
    requests,
    refused,
    get connections() {
      return connections
    },
    get pending() {
      return open.size
    },
    env: { ANTHROPIC_API_KEY: "test", ANTHROPIC_BASE_URL: url, OPENAI_API_KEY: "test", OPENAI_BASE_URL: `${url}/v1` },
    close,
    [Symbol.asyncDispose]: close,
  }
}

type Answer = (taken: Taken, signal: AbortSignal) => Promise<Plan>

/** Everything but the network: what came goes in, what is to happen comes out. */
function answerer({ script, keep, shape }: { script: Script; keep: number; shape: Shape }) {
  const requests: Asked[] = []
  const refused: Refused[] = []
  let count = 0
  const answer: Answer = async (taken, signal) => {
    const wire = wires[taken.format ?? "anthropic"]
    const refuse = (status: number, message: string): Plan => {
      refused.push({ path: taken.path, status, message, raw: taken.raw })
      return troublePlan(wire, { status, message }, shape)
    }
    const asked = examine(taken, signal)
    if ("status" in asked) return refuse(asked.status, asked.message)
    const n = count++
    requests.push(asked)
    if (requests.length > keep) requests.shift()
    try {
      return plan(await script(asked, n), { wire, asked, shape })
    } catch (error) {
      // 400, so that no client tries a broken script again.
      return refuse(400, `the script threw: ${reasonOf(error)}`)
    }
  }
  return { requests, refused, answer }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { answer, signal, wait }: { answer: Answer; signal: AbortSignal; wait: Wait },
): Promise<void> {
  const made = await answer(await take(request), signal)
  if (!signal.aborted) await send(made, response, { signal, wait })
}

function listen(server: HttpServer, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    })
  })
}

const sleep: Wait = (ms, signal) => setTimeout(ms, undefined, { signal })

const paths: Record<string, Format> = {
  "/messages": "anthropic",
  "/chat/completions": "chat",
  "/responses": "responses",
}

type Taken = { format: Format | undefined; path: string; raw: string; headers: IncomingHttpHeaders }

function take(request: IncomingMessage): Promise<Taken> {
  const path = string(request.url).replace(/\?.*$/, "")
  const format = request.method === "POST" ? paths[path.replace(/^\/v1(?=\/)/, "")] : undefined
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => resolve({ format, path, raw: Buffer.concat(chunks).toString(), headers: request.headers }))
    request.on("error", reject)
  })
}

/** Turns down what the real servers turn down. */
function examine(
  { format, path, raw, headers }: Taken,
  signal: AbortSignal,
): Asked | { status: number; message: string } {
  if (!format)
    return {
      status: 404,
      message: `there is nothing at ${path}; post to /v1/messages, /v1/chat/completions or /v1/responses`,
    }
  if (!hasKey(format, headers))
    return { status: 401, message: "no key was sent: set x-api-key or authorization: Bearer" }
  if (format === "anthropic" && !headers["anthropic-version"])
    return { status: 400, message: "anthropic-version: header is required" }
  const body = parse(raw)
  const fault = illegal(format, body)
  if (fault !== undefined || !isObject(body)) return { status: 400, message: fault ?? "the body is not a JSON object" }
  const heard = wires[format].read(body)
  const last = heard.messages.at(-1)?.text ?? ""
  return { format, model: string(body.model), ...heard, last, body, raw, headers, signal }
}

const hasKey = (format: Format, { authorization, "x-api-key": key }: IncomingHttpHeaders): boolean =>
  /^Bearer \S/i.test(authorization ?? "") || (format === "anthropic" && string(key) !== "")
