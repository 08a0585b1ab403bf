import type { Event, RunId } from "../../core/event.ts"
import type { RunView, View } from "../../core/view.ts"
import { callLine } from "./call.ts"
import { count, oneLine, seconds } from "./format.ts"

export type Screen = {
  write(text: string): unknown
  isTTY?: boolean | undefined
  columns?: number | undefined
}

export type Progress = { event(event: Event, view: View): void; end(): void }

const beat = 100

/**
 * What the main run is at, for people, on standard error. A terminal has one line that is rewritten in place; anything
 * else has lines only for what goes wrong. `verbose` has a line a call, on both.
 */
export function progress(screen: Screen, { verbose, now }: { verbose: boolean; now(): number }): Progress {
  const live = screen.isTTY === true
  const began = now()
  let shown = false
  let doing = "thinking"
  let tools = 0
  const clear = () => {
    if (shown) screen.write("\r\u001b[K")
    shown = false
  }
  const say = (line: string) => {
    clear()
    screen.write(`${line}\n`)
  }
  const draw = () => {
    const line = `  ${doing} ... ${count(tools, "tool")}, ${seconds(now() - began)}`
    screen.write(`\r${oneLine(line, (screen.columns ?? 80) - 2)}\u001b[K`)
    shown = true
  }
  const timer = live ? setInterval(draw, beat) : undefined
  timer?.unref()
  return {
    event(event, view) {
      const line = noteOf(event, view, verbose)
      if (line) say(line)
      if (event.type === "call.ended") tools++
      doing = doingOf(view, event.run) ?? doing
    },
    end() {
      clearInterval(timer)
      clear()
    },
  }
}

function noteOf(event: Event, view: View, verbose: boolean): string | undefined {
  if (event.type === "turn.failed" && event.wait !== null) {
    return `  ${event.error.message}; trying again in ${seconds(event.wait)}`
  }
  if (verbose && event.type === "call.started") {
    const call = view.get(event.run)?.calls.get(event.id)?.call
    return call && `  ${callLine(call)}`
  }
  return undefined
}

function doingOf(view: View, run: RunId): string | undefined {
  const at = view.get(run)
  if (!at) return undefined
  if (at.failing) return "waiting for the provider"
  const open = openCall(at)
  if (open) return open.state === "asking" ? `asking: ${callLine(open.call)}` : callLine(open.call)
  return at.draft.text ? "answering" : "thinking"
}

const openCall = (run: RunView) =>
  [...run.calls.values()].find(({ state }) => state === "started" || state === "asking")
