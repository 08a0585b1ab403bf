import type { Event, Failure, Outcome } from "../../core/event.ts"
import { count } from "../../core/numbers.ts"
import { oneLine, printable } from "../../core/one-line.ts"
import { noteOn } from "../plain/note.ts"
import { type Block, fixed } from "./block.ts"
import { mostLines, type Setting } from "./setting.ts"
import { cutTo, safe, wrapped } from "./text-lines.ts"
import type { Paint, Theme } from "./theme.ts"

/** A line of the program's own, wrapped below its mark. */
export const noteBlock = (mark: string, text: string, paint: Paint, most = mostLines): Block =>
  fixed("note", (width) => marked(`${mark} `, safe(text), { width, most, paint }))

type Room = { width: number; most: number; paint: Paint }

export function marked(mark: string, text: string, { width, most, paint }: Room): string[] {
  const rows = wrapped(text, Math.max(1, width - mark.length), most)
  return rows.map((row, at) => paint(`${at === 0 ? mark : " ".repeat(mark.length)}${row}`))
}

/** What somebody said to the run. */
export const wordsBlock = (text: string, { theme, detail }: Setting, images = 0): Block => {
  const said = images > 0 ? `${text.trimEnd()}\n(with ${count(images, "image")})` : text.trimEnd()
  const most = detail === "all" ? mostLines : 40
  return fixed("words", (width) => marked("> ", safe(said), { width, most, paint: theme.bold }))
}

/** A long text that is there to be known of: one line with its size. */
export const foldedBlock = (name: string, text: string, { dim }: Theme): Block =>
  fixed("note", (width) => [
    dim(cutTo(`+ ${name} (${count(text.split("\n").length, "line")}, ${count(text.length, "character")})`, width)),
  ])

/** What an event is to people beside words, answers and calls; undefined if nothing. */
export function eventNote(event: Event, { theme, detail }: Setting): Block | undefined {
  const { dim, warning } = theme
  const note = noteOn(event)
  if (note !== undefined) {
    const isTrouble = event.type === "turn.failed" || event.type === "run.retried"
    if (!isTrouble) return noteBlock("·", note, dim)
    const isLimit = event.error.kind === "rate_limit" && !/rate.?limit/i.test(note)
    return noteBlock("↻", isLimit ? `rate limited: ${note}` : note, warning)
  }
  if (event.type === "run.told")
    return noteBlock("·", `told: ${detail === "all" ? event.text : oneLine(event.text, 200)}`, dim)
  if (event.type === "model.chosen") return noteBlock("·", `from here on with the model ${event.model}`, dim)
  if (event.type === "run.moved")
    return noteBlock("·", event.behind ? "goes on in the background" : "is waited for from here on", dim)
  // What others post is said to the run as words, and shown as such.
  if (event.type === "bus.posted" && event.way === "in" && event.channel === "system")
    return noteBlock("◂", `${event.sender}: ${oneLine(event.plain ?? event.text, 200)}`, dim)
  return undefined
}

/** How a run came to rest, with what to do about it; undefined where its answer says all. */
export function endBlock(outcome: Outcome, { theme }: Setting, why?: string): Block | undefined {
  const said = why === undefined || why === "" ? "" : `: ${printable(why)}`
  switch (outcome.status) {
    case "completed":
      return undefined
    case "failed":
      return noteBlock("✗", `failed: ${outcome.error.message}\n${advice[outcome.error.kind]}`, theme.bad)
    case "cancelled":
      return noteBlock("■", `stopped${said}; say what to do instead, or that it may go on`, theme.warning)
    case "max_turns":
      return noteBlock("■", "its turns are used up; a word from you gives it as many again", theme.warning)
    case "timeout":
      return noteBlock("■", `its time is up${said}; a word from you gives it as much again`, theme.warning)
    case "budget":
      return noteBlock("■", `its budget is used up${said}; a word from you gives it as much again`, theme.warning)
    default:
      return outcome satisfies never
  }
}

const again = "say anything to try once more"
const advice: Record<Failure["kind"], string> = {
  authentication: "set the key of this provider and start again, or take another model with /model",
  rate_limit: `wait a little, then ${again}; or take another model with /model`,
  overloaded: `wait a little, then ${again}; or take another model with /model`,
  network: `look at the connection, then ${again}`,
  truncated: again,
  stalled: again,
  context_overflow: "make the conversation shorter with /compact, then ask again",
  refused: "ask in other words, or take another model with /model",
  bad_request: "take another model with /model, or start a new session",
  not_found: "see that the name of the model is right, or take another with /model",
  bad_calls: "say what it should do otherwise, or take another model with /model",
  store: "make room on the disk; what came last is not stored",
  internal: `this is a fault of the program; ${again}, and please report it`,
}
