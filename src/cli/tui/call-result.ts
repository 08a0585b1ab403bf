import type { Details } from "../../core/access.ts"
import type { Result } from "../../core/message.ts"
import { diffLines } from "./diff-lines.ts"
import { mostLines, type Setting } from "./setting.ts"
import { cutTo, firsts, lasts, safe, spoken, wrapped } from "./text-lines.ts"
import { todoLines } from "./todo-lines.ts"

/** How a call ended. Of one from before the session was opened again there are no details. */
export type Ended = Pick<Result, "ok" | "text" | "images"> & {
  details?: Details
  /** The child that it started, as it was then: the same may be sent for more later. */
  child?: string
}

const mostBrief = 3
const mostOfDiff = 12

/** What came of a call, for the lines below it. */
export function resultLines(ended: Ended, setting: Setting, width: number): string[] {
  const { ok, details } = ended
  const room = { width, theme: setting.theme }
  const pictures = ended.images?.map(({ mediaType }) => `(an image, ${safe(mediaType)})`) ?? []
  const text = ok ? ended.text : `failed: ${reasonIn(ended)}`
  switch (details?.kind) {
    case "diff":
      if (!ok) break
      return diffLines(details, { ...room, most: setting.detail === "all" ? mostLines : mostOfDiff })
    case "todo":
      return todoLines(details.items, room)
    case "command": {
      const lines = shown(ok ? ended.text : reasonIn(ended), setting, width, lasts)
      return [setting.theme.dim(fateOf(details)), ...lines]
    }
    case "task": {
      const line = cutTo(ended.child ?? safe(details.run), width)
      return setting.detail === "all" ? [line, ...shown(ended.text, setting, width, firsts)] : [line]
    }
    case "page": {
      const line = `status ${details.status}, ${details.bytes} bytes`
      return setting.detail === "all" ? [line, ...shown(text, setting, width, firsts)] : [line]
    }
    default:
  }
  return [...shown(text, setting, width, firsts), ...pictures]
}

function shown(text: string, { detail, theme }: Setting, width: number, few: typeof firsts): string[] {
  if (detail === "all") return wrapped(safe(text).trimEnd(), width, mostLines).map(theme.dim)
  const lines = spoken(safe(text))
  return few(lines, mostBrief).map((line) => theme.dim(cutTo(line, width)))
}

/** The last paragraph of a failed command's text says again how it ended. */
const reasonIn = ({ text, details }: Ended): string =>
  details?.kind === "command" ? text.slice(0, Math.max(0, text.lastIndexOf("\n\n"))) : text

function fateOf({ exit, signal, timedOut }: Extract<Details, { kind: "command" }>): string {
  if (timedOut) return "timed out"
  if (signal !== null) return `killed by ${safe(signal)}`
  return exit === null ? "stopped before it ended" : `exit code ${exit}`
}
