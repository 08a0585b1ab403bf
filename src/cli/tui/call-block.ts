import type { Call } from "../../core/message.ts"
import { callLine } from "../../core/one-line.ts"
import type { CallView } from "../../core/view.ts"
import type { Block } from "./block.ts"
import { type Ended, resultLines } from "./call-result.ts"
import { childLine } from "./child-line.ts"
import { mostLines, type Setting } from "./setting.ts"
import { below, cutTo, lasts, roomBelow, safe, spoken, wrapped } from "./text-lines.ts"

const mostLive = { brief: 3, all: 20 }

/** One use of a tool: a line that says what, and below it what comes of it. */
export class CallBlock implements Block {
  readonly kind = "call"
  readonly call: Call
  #setting: Setting
  #ended: Ended | "cut off" | undefined

  constructor(call: Call, setting: Setting) {
    this.call = call
    this.#setting = setting
  }

  get done(): boolean {
    return this.#ended !== undefined
  }

  end({ ok, text, images, details }: Ended): void {
    const child = details?.kind === "task" ? this.#setting.view.get(details.run) : undefined
    this.#ended = {
      ok,
      text,
      ...(images && { images }),
      ...(details && { details }),
      ...(child && { child: childLine(child) }),
    }
  }

  /** Its run came to its end before the call did. */
  cutOff(): void {
    this.#ended ??= "cut off"
  }

  render(width: number): string[] {
    const { theme, detail } = this.#setting
    const room = roomBelow(width)
    const head = `${this.#icon()} ${theme.bold(cutTo(callLine(this.call, Math.max(1, width - 2)), Math.max(1, width - 2)))}`
    const input = detail === "all" ? inputLines(this.call, room).map(theme.dim) : []
    return [head, ...input.map((line) => `    ${line}`), ...below(this.#result(room), theme.dim)]
  }

  #icon(): string {
    const { good, bad, warning, accent, dim } = this.#setting.theme
    if (this.#ended === "cut off") return warning("■")
    if (this.#ended) return this.#ended.ok ? good("●") : bad("✗")
    const state = this.#live()?.state
    if (state === "asking") return warning("?")
    return state === "started" ? accent("◐") : dim("○")
  }

  #result(width: number): string[] {
    if (this.#ended === "cut off") return ["did not come to its end"]
    if (this.#ended) return resultLines(this.#ended, this.#setting, width)
    const { theme, detail } = this.#setting
    const live = this.#live()
    if (live?.state === "asking") return [theme.warning(cutTo("waits for your permission", width))]
    const child = this.#child()
    if (child) return [cutTo(child, width)]
    const output = spoken(safe(overwritten(live?.output ?? "")))
    return lasts(output, mostLive[detail]).map((line) => theme.dim(cutTo(line, width)))
  }

  #live(): CallView | undefined {
    const { view, run } = this.#setting
    return view.get(run)?.calls.get(this.call.id)
  }

  #child(): string | undefined {
    const { view, run } = this.#setting
    const child = view.get(view.get(run)?.children.get(this.call.id) ?? "")
    return child && childLine(child)
  }
}

/** What a command wrote over with a new beginning of the same line is gone. */
const overwritten = (output: string): string => output.replaceAll(/[^\n]*\r(?!\n|$)/g, "")

/** All that a tool was given, an argument a line; texts of several lines as they are. */
function inputLines({ input, broken }: Call, width: number): string[] {
  if (broken !== undefined) return wrapped(`(not JSON) ${safe(broken)}`, width, mostLines)
  if (typeof input !== "object" || input === null) return []
  const given = Object.entries(input).map(([name, value]) => {
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "")
    return text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`
  })
  return given.length === 0 ? [] : wrapped(safe(given.join("\n")), width, mostLines)
}
