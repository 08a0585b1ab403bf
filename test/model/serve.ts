import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import type { TestContext } from "node:test"
import { createPool, type Pool } from "../../src/model/http.ts"

export type Asked = { path: string; headers: http.IncomingHttpHeaders; body: string }
export type Served = { url: string; asked: Asked[]; sockets(): number; server: http.Server }

/** A server that answers the nth request, counted from 0, as `answer` says. */
export async function serve(
  t: TestContext,
  answer: (response: http.ServerResponse, asked: Asked, nth: number) => void,
): Promise<Served> {
  const asked: Asked[] = []
  let sockets = 0
  const server = http.createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(pieces).toString() }
      asked.push(one)
      answer(response, one, asked.length - 1)
    })
  })
  server.on("connection", () => sockets++)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, asked, sockets: () => sockets, server }
}

export function poolFor(t: TestContext, env: NodeJS.ProcessEnv = {}): Pool {
  const pool = createPool({ env })
  t.after(() => pool.close())
  return pool
}

export const stream = { "content-type": "text/event-stream" }

/** Sends a body in the given pieces, each in a packet of its own as far as the system lets us. */
export async function dribble(response: http.ServerResponse, pieces: Iterable<Buffer | string>): Promise<void> {
  response.writeHead(200, stream)
  response.flushHeaders()
  for (const piece of pieces) {
    response.write(piece)
    await new Promise(setImmediate)
  }
  response.end()
}

/** Cuts bytes at the given places, which may lie in the middle of a character. */
export function cutAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i] ?? bytes.length)).filter(({ length }) => length > 0)
}
