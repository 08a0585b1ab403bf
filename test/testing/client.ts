import { request } from "node:http"
import type { Format } from "../../src/testing.ts"

export type Got = {
  status: number
  headers: Record<string, unknown>
  bytes: Buffer
  text: string
  /** How many pieces the body came in. */
  pieces: number
  /** What broke the connection, if anything did. */
  broken?: string
}

export const paths: Record<Format, string> = {
  anthropic: "/v1/messages",
  chat: "/v1/chat/completions",
  responses: "/v1/responses",
}

export const formats = Object.keys(paths) as Format[]

export const bodies: Record<Format, Record<string, unknown>> = {
  anthropic: { model: "m", max_tokens: 10, stream: true, messages: [{ role: "user", content: "hello" }] },
  chat: { model: "m", stream: true, messages: [{ role: "user", content: "hello" }] },
  responses: { model: "m", stream: true, input: [{ role: "user", content: "hello" }] },
}

const defaults = { "x-api-key": "k", authorization: "Bearer k", "anthropic-version": "2023-06-01" }

type Post = {
  path?: string
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
  /** Called with all bytes so far. */
  seen?: (text: string) => void
}

/** Posts with nothing but node:http, and tells exactly what came back. */
export function post(url: string, format: Format, options: Post = {}): Promise<Got> {
  const { path = paths[format], method = "POST", headers = defaults, body = bodies[format], signal, seen } = options
  return new Promise((resolve, reject) => {
    let lost: (error: NodeJS.ErrnoException) => void = reject
    const sent = request(url + path, { method, headers, agent: false, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = []
      const finish = (broken?: string) => {
        const bytes = Buffer.concat(chunks)
        const got = { status: response.statusCode ?? 0, headers: response.headers, bytes, text: bytes.toString() }
        resolve({ ...got, pieces: chunks.length, ...(broken && { broken }) })
      }
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk)
        seen?.(Buffer.concat(chunks).toString())
      })
      response.on("end", () => finish())
      lost = (error) => finish(error.code ?? error.message)
      response.on("error", lost)
    })
    sent.on("error", (error) => lost(error))
    sent.end(typeof body === "string" ? body : JSON.stringify(body))
  })
}
