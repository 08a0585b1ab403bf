import type { ServerResponse } from "node:http"
import type { Plan } from "./plan.ts"

export type Wait = (ms: number, signal: AbortSignal) => Promise<void>

/** Shorter waits than this are saved up: timers are too coarse for single words. */
const shortest = 5

/** Does on the wire what was planned. Rejects when the client goes away while it waits. */
export async function send(
  plan: Plan,
  response: ServerResponse,
  { signal, wait }: { signal: AbortSignal; wait: Wait },
): Promise<void> {
  const { shape, chunks, ending } = plan
  if (shape.latency) await wait(shape.latency, signal)
  if (ending.do === "drop") {
    response.socket?.destroySoon()
    return
  }
  response.writeHead(plan.status, plan.headers)
  if (ending.do === "end" && !shape.tokensPerSecond && !shape.chunkBytes) {
    response.end(Buffer.concat(chunks.map(({ bytes }) => bytes)))
    return
  }
  response.flushHeaders()
  await paced(plan, response, { signal, wait })
  switch (ending.do) {
    case "end":
      response.end()
      return
    case "destroy":
      // What was written still arrives; after it comes the end of the connection, not of the body.
      response.socket?.destroySoon()
      return
    case "stall":
      for (;;) {
        await wait(ending.every || 60_000, signal)
        if (ending.every) response.write(ending.ping)
      }
    default:
      ending satisfies never
  }
}

async function paced(
  { shape, chunks }: Plan,
  response: ServerResponse,
  { signal, wait }: { signal: AbortSignal; wait: Wait },
): Promise<void> {
  const gap = shape.tokensPerSecond ? 1_000 / shape.tokensPerSecond : 0
  let owed = 0
  let ready: Buffer[] = []
  const flush = () => {
    if (ready.length > 0) for (const part of parts(Buffer.concat(ready), shape.chunkBytes)) response.write(part)
    ready = []
  }
  for (const { bytes, paced } of chunks) {
    if (paced) owed += gap
    if (owed >= shortest) {
      flush()
      await wait(owed, signal)
      owed = 0
    }
    ready.push(bytes)
  }
  flush()
}

function* parts(bytes: Buffer, size = bytes.length): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
