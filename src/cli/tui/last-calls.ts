import type { Call } from "../../core/message.ts"
import { callLine } from "../../core/one-line.ts"
import type { CallView, RunView } from "../../core/view.ts"

/** A call in one line, and how it went so far. */
export type LastCall = { line: string; state: "running" | "asking" | "good" | "bad" }

/** So far back a frame looks for calls that have ended. */
const mostMessages = 100

/** The last calls of the work at hand that have begun, oldest first, but for the one that is told of as `tool`. */
export function lastCalls(run: RunView, most: number, tool?: string): LastCall[] {
  const open = [...run.calls.values()].flatMap(begun)
  const told = open.findIndex(({ line, state }) => line === tool && (state === "running" || state === "asking"))
  const beside = open.filter((_, at) => at !== told)
  return [...ended(run, most - beside.length), ...beside].slice(-most)
}

function begun({ call, state, result }: CallView): LastCall[] {
  if (state === "waiting") return []
  if (state === "ended") return [{ line: lineOf(call), state: result?.ok ? "good" : "bad" }]
  return [{ line: lineOf(call), state: state === "asking" ? "asking" : "running" }]
}

/** Calls of turns before this one, from the conversation itself. */
function ended({ messages, task }: RunView, most: number): LastCall[] {
  const found: LastCall[] = []
  const results = new Map<string, boolean>()
  const first = Math.max(task, messages.length - mostMessages)
  for (let at = messages.length - 1; at >= first && found.length < most; at--) {
    const message = messages[at]!
    if (message.role === "result") results.set(message.call, message.ok)
    if (message.role !== "assistant") continue
    for (const part of message.parts.toReversed()) {
      const ok = part.type === "call" ? results.get(part.id) : undefined
      if (part.type === "call" && ok !== undefined) found.push({ line: lineOf(part), state: ok ? "good" : "bad" })
    }
  }
  return found.slice(0, Math.max(0, most)).reverse()
}

/** What a call is about may be long, and is shown in every frame. */
const lines = new WeakMap<Call, string>()

function lineOf(call: Call): string {
  const line = lines.get(call) ?? callLine(call)
  lines.set(call, line)
  return line
}
