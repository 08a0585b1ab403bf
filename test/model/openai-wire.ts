import http from "node:http"
import type { AddressInfo } from "node:net"
import fc from "fast-check"
import type { Message, Part } from "../../src/core/message.ts"
import { createPool, type Pool } from "../../src/model/http.ts"
import type { Answer, Delta, Request } from "../../src/model/model.ts"
import type { Attempt } from "../../src/model/retry.ts"

export type Reply = { status?: number; headers?: Record<string, string>; chunks: (string | Uint8Array)[]; cut?: true }

export type Server = {
  url: string
  pool: Pool
  /** Every body received, oldest first. */
  bodies: string[]
  heads: http.IncomingHttpHeaders[]
  paths: string[]
  reply(request: { body: string; path: string }): Reply
  [Symbol.asyncDispose](): Promise<void>
}

/** A real server that answers with whatever `reply` is at the moment. */
export async function serve(reply: Server["reply"] = () => ({ chunks: [] })): Promise<Server> {
  const pool = createPool({ env: {} })
  const node = http.createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += chunk
    server.bodies.push(body)
    server.heads.push(request.headers)
    server.paths.push(request.url ?? "")
    const { status = 200, headers, chunks, cut } = server.reply({ body, path: request.url ?? "" })
    response.writeHead(status, {
      "content-type": status === 200 ? "text/event-stream" : "application/json",
      ...headers,
    })
    for (const chunk of chunks) {
      response.write(chunk)
      // Leaves the loop, so that chunks arrive as chunks.
      await new Promise((resolve) => setImmediate(resolve))
    }
    if (cut) response.destroy()
    else response.end()
  })
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve))
  const server: Server = {
    url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    pool,
    bodies: [],
    heads: [],
    paths: [],
    reply,
    async [Symbol.asyncDispose]() {
      pool.close()
      node.closeAllConnections()
      await new Promise((resolve) => node.close(resolve))
    },
  }
  return server
}

export const sse = (...events: (object | string)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")

export type Typed = { type: string; [field: string]: unknown }

/** Events as Responses sends them: each named by its type. */
export const named = (...events: Typed[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

/** Cuts bytes where the numbers say, also inside of an event or a letter. */
export function cutAt(text: string, places: number[]): Uint8Array[] {
  const bytes = Buffer.from(text)
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...ends].map((start, i) => bytes.subarray(start, ends[i] ?? bytes.length))
}

export const places = fc.array(fc.nat(), { maxLength: 6 })

export const request = (over: Partial<Request> = {}): Request => ({
  system: "Be brief.",
  tools: [],
  messages: [{ role: "user", text: "hello" }],
  toolChoice: "auto",
  memo: {},
  ...over,
})

export const reader = {
  name: "read",
  description: "Reads a file.",
  schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
}

export async function ask(
  attempt: Attempt,
  over: Partial<Request> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<{ answer: Answer; deltas: Delta[] }> {
  const deltas: Delta[] = []
  const answer = await attempt(request(over), { signal, delta: (delta) => deltas.push(delta) })
  return { answer, deltas }
}

/** Any list of messages: calls without results, results without calls, doubled ids, all in any order. */
export const messages: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant("user" as const), text: fc.string({ unit: "binary" }) }),
    fc.record({ role: fc.constant("assistant" as const), parts: fc.array(part(), { maxLength: 4 }) }),
    fc.record({
      role: fc.constant("result" as const),
      call: id(),
      name: fc.constant("read"),
      ok: fc.boolean(),
      text: fc.string(),
    }),
  ),
  { maxLength: 12 },
)

/** What a run grows by: a user's words, or an answer with all its results. */
export const turns: fc.Arbitrary<Message[][]> = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant("user" as const), text: fc.string() }).map((user): Message[] => [user]),
    fc.tuple(fc.string(), fc.uniqueArray(id()), fc.boolean(), fc.string()).map(([text, ids, ok, said]): Message[] => [
      {
        role: "assistant",
        parts: [
          { type: "text", text },
          ...ids.map((id): Part => ({ type: "call", id, name: "read", input: { path: id } })),
        ],
      },
      ...ids.map((call): Message => ({ role: "result", call, name: "read", ok, text: said })),
    ]),
  ),
  { maxLength: 8 },
)

function part(): fc.Arbitrary<Part> {
  return fc.oneof(
    fc.record({ type: fc.constant("text" as const), text: fc.string() }),
    fc.record({
      type: fc.constant("reasoning" as const),
      text: fc.string(),
      by: fc.constantFrom("openai", "other"),
      proof: fc.constantFrom({ field: "reasoning_content" }, { id: "rs_1", summary: [], encrypted_content: "x" }, 7),
    }),
    fc.record({ type: fc.constant("call" as const), id: id(), name: fc.constant("read"), input: fc.jsonValue() }),
  )
}

function id(): fc.Arbitrary<string> {
  return fc.constantFrom("a", "b", "c")
}
