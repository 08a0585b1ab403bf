import { noUsage, type Usage } from "../core/usage.ts"
import { cut, type Fail, type Fault, type Place, type Reply, stall } from "./reply.ts"
import { type Asked, turnsOf } from "./script.ts"
import type { Shape } from "./shape.ts"
import { isFail, type Speech, type SpokenPart, speech } from "./speech.ts"
import { type Exchange, type Frame, type Trouble, troubleOf, type Wire } from "./wire.ts"

/** All that will happen on the wire. `chunks` are events where there are any, each with its weight in pacing. */
export type Plan = {
  status: number
  headers: Record<string, string>
  chunks: { bytes: Buffer; paced: boolean }[]
  ending: { do: "end" } | { do: "destroy" } | { do: "drop" } | { do: "stall"; ping: string; every: number }
  shape: Shape
}

export type Context = { wire: Wire; asked: Asked; shape: Shape }

export function plan(reply: Reply | Fault, context: Context): Plan {
  if (typeof reply !== "object" || !("type" in reply)) return answer(reply, context)
  switch (reply.type) {
    case "fail":
      return failed(reply, context)
    case "shaped":
      return plan(reply.reply, { ...context, shape: { ...context.shape, ...reply.shape } })
    case "status":
      return statusPlan(reply, context)
    case "raw": {
      const bytes = Buffer.from(reply.bytes)
      const headers = { "content-type": reply.contentType }
      return {
        status: reply.status,
        headers,
        chunks: [{ bytes, paced: false }],
        ending: { do: reply.how },
        shape: context.shape,
      }
    }
    case "cut":
      return { ...upTo(answer(reply.of, context), reply.at), ending: { do: reply.how } }
    case "stall": {
      const ping = { ping: context.wire.ping, every: reply.pings }
      return { ...upTo(answer(reply.of, context), reply.at), ending: { do: "stall", ...ping } }
    }
    case "error":
      return errorPlan(reply, context)
    default:
      return reply satisfies never
  }
}

/** An error in the provider's own shape. */
export function troublePlan(wire: Wire, trouble: Trouble, shape: Shape): Plan {
  const bytes = Buffer.from(JSON.stringify(wire.error(trouble)))
  return { status: trouble.status, headers: json, chunks: [{ bytes, paced: false }], ending: { do: "end" }, shape }
}

const json = { "content-type": "application/json" }
const eventStream = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }

type Streamed = Plan & { frames: Frame[] }

function answer(reply: Reply, context: Context): Streamed {
  if (isFail(reply)) throw new Error("a failure has no answer that could be cut, stalled or broken off")
  const { wire, asked, shape } = context
  const turn = turnsOf(asked.messages) + 1
  const taken = new Set(asked.messages.flatMap(({ calls = [] }) => calls.map(({ id }) => id)))
  const counted = (parts: SpokenPart[]): Usage => ({
    ...noUsage(),
    input: tokens(asked.raw),
    output: tokens(JSON.stringify(parts)),
  })
  const spoken: Speech = speech(reply, { turn, taken, counted })
  const exchange: Exchange = { turn, model: asked.model, body: asked.body, shape }
  const base = { status: 200, ending: { do: "end" }, shape } as const
  if (asked.body.stream !== true) {
    const bytes = Buffer.from(JSON.stringify(wire.whole(spoken, exchange)))
    return { ...base, headers: json, frames: [], chunks: [{ bytes, paced: false }] }
  }
  const frames = wire.frames(spoken, exchange)
  const chunks = frames.map((frame) => ({
    bytes: render(frame, shape),
    paced: frame.mark === "text" || frame.mark === "call",
  }))
  return { ...base, headers: eventStream, frames, chunks }
}

const tokens = (text: string): number => Math.ceil(text.length / 4)

function render({ name, data }: Frame, { newline = "\n", comments }: Shape): Buffer {
  const lines = [...(comments ? [": a comment"] : []), ...(name ? [`event: ${name}`] : []), `data: ${data}`, "", ""]
  return Buffer.from(lines.join(newline))
}

function upTo({ frames, chunks, ...rest }: Streamed, place: Place): Plan {
  const { chunk, bytes } = find(frames, chunks, place)
  const partial = chunks[chunk]
  const kept = chunks.slice(0, chunk)
  if (partial && bytes > 0) kept.push({ ...partial, bytes: partial.bytes.subarray(0, bytes) })
  return { ...rest, chunks: kept }
}

/** Where a place is: so many bytes into one of the chunks. */
function find(frames: Frame[], chunks: Plan["chunks"], place: Place): { chunk: number; bytes: number } {
  const half = (chunk: number) => ({ chunk, bytes: (chunks[chunk]?.bytes.length ?? 0) >> 1 })
  const marked = (mark: Frame["mark"]) => frames.flatMap((frame, index) => (frame.mark === mark ? [index] : []))
  if (typeof place === "number") return offset(chunks, place)
  if (place === "headers") return { chunk: 0, bytes: 0 }
  if (frames.length === 0) return half(0)
  switch (place) {
    case "mid-event": {
      const said = [...marked("text"), ...marked("call")]
      return half(said[said.length >> 1] ?? 0)
    }
    case "mid-utf8": {
      const chunk = chunks.findIndex(({ bytes }) => bytes.some((byte) => byte >= 0xc0))
      const at = chunks[chunk]?.bytes.findIndex((byte) => byte >= 0xc0)
      if (at === undefined) throw new Error('a cut at "mid-utf8" needs a reply with a character beyond ASCII')
      return { chunk, bytes: at + 1 }
    }
    case "mid-call": {
      const [first, second] = marked("call")
      if (first === undefined) throw new Error('a cut at "mid-call" needs a reply with a call that has arguments')
      return second === undefined ? half(first) : { chunk: second, bytes: 0 }
    }
    case "before-stop":
      return { chunk: marked("stop")[0] ?? chunks.length, bytes: 0 }
    case "before-last":
      return { chunk: chunks.length - 1, bytes: 0 }
    default:
      return place satisfies never
  }
}

function offset(chunks: Plan["chunks"], bytes: number): { chunk: number; bytes: number } {
  let left = bytes
  for (const [chunk, each] of chunks.entries()) {
    if (left < each.bytes.length) return { chunk, bytes: left }
    left -= each.bytes.length
  }
  return { chunk: chunks.length, bytes: 0 }
}

function failed(reply: Fail, context: Context): Plan {
  switch (reply.error.kind) {
    case "network":
      return { status: 200, headers: {}, chunks: [], ending: { do: "drop" }, shape: context.shape }
    case "truncated":
      return plan(cut("before-stop"), context)
    case "stalled":
      return plan(stall(), context)
    case "refused":
      return plan({ text: reply.error.message, stop: "refusal" }, context)
    default: {
      const answer = troublePlan(context.wire, troubleOf(reply.error, context.wire), context.shape)
      if (reply.retryAfter !== undefined)
        answer.headers = { ...answer.headers, "retry-after": `${Math.ceil(reply.retryAfter / 1000)}` }
      return answer
    }
  }
}

function statusPlan(fault: Extract<Fault, { type: "status" }>, { wire, shape }: Context): Plan {
  const { status, message = `status ${status}, as the script says`, code, retryAfter, headers, body } = fault
  const answer = troublePlan(wire, { status, message, ...(code !== undefined && { code }) }, shape)
  return {
    ...answer,
    headers: { ...answer.headers, ...(retryAfter !== undefined && { "retry-after": retryAfter }), ...headers },
    ...(body !== undefined && { chunks: [{ bytes: Buffer.from(body), paced: false }] }),
  }
}

function errorPlan({ kind, message, at, of }: Extract<Fault, { type: "error" }>, context: Context): Plan {
  const trouble = troubleOf({ kind, message }, context.wire)
  const whole = answer(of, context)
  if (whole.frames.length === 0) return troublePlan(context.wire, trouble, context.shape)
  const { chunk, bytes } = find(whole.frames, whole.chunks, at)
  const kept = whole.chunks.slice(0, bytes > 0 ? chunk + 1 : chunk)
  const event = render(context.wire.errorFrame(trouble, kept.length), context.shape)
  return { ...whole, chunks: [...kept, { bytes: event, paced: false }] }
}
