import type { Asked } from "../agent/scope.ts"
import type { Rule } from "../core/access.ts"
import { weighCall } from "./call.ts"
import { narrowMatch, spelledOut } from "./command.ts"
import type { Setting } from "./judge.ts"
import { isAbout } from "./match.ts"
import type { Opened } from "./opened.ts"
import { isQuiet } from "./quiet.ts"
import { isNowhere } from "./reading.ts"
import { allOf, type Part } from "./shell.ts"
import type { Taken } from "./taken.ts"
import { setsRisky } from "./variable.ts"

/** How a part stands: a rule allows it, it needs none, or neither. */
type Standing = "ruled" | "quiet" | "open"

/** What the rules that allow make of a command. `closed`: the files that the shell may not open for it unasked. */
export type Stand = { everything: boolean; of(part: Part): Standing; closed: Opened[] }

export async function standOf(asked: Asked, taken: Taken, setting: Setting): Promise<Stand> {
  const rules = setting.rules.filter((rule) => rule.do === "allow" && isAbout(rule, asked))
  const closed = await closedIn(taken, setting)
  const words = new Set(closed.map(({ word }) => word))
  const isStuck = (part: Part): boolean =>
    part.doubt !== undefined || setsRisky(part) || part.targets.some(({ word }) => words.has(word))

  const of = (part: Part): Standing => {
    if (isStuck(part)) return "open"
    const inner = part.runs.map(of)
    const isSettled = !inner.includes("open")
    const matching = rules.filter(({ pattern }) => narrowMatch(pattern, part))
    const isClear = isSettled || !allOf(part.runs).some(isStuck)
    if (isClear && matching.some((rule) => isSettled || part.whole || names(rule, part))) return "ruled"
    if (part.bare && inner.length > 0) return isSettled ? (inner.includes("ruled") ? "ruled" : "quiet") : "open"
    if (!isQuiet(part, setting.root)) return "open"
    // Where it writes, a rule or the mode lets it.
    return part.targets.some(({ way, word }) => way === "write" && !isNowhere(word.text)) ? "ruled" : "quiet"
  }
  return { everything: rules.some(({ pattern }) => pattern === "*"), of, closed }
}

/** The files that may not be opened unasked, each with the places where it may not. */
async function closedIn({ opened }: Taken, setting: Setting): Promise<Opened[]> {
  const checked = opened
    .filter(({ way, word, by }) => by === "shell" && (way === "write" || !word.text.startsWith("/dev/")))
    .map(async (file) => {
      const verdicts = await Promise.all(file.asked.map((each) => weighCall(each, setting)))
      return { file, asked: file.asked.filter((_, n) => verdicts[n]?.do !== "allow") }
    })
  return (await Promise.all(checked)).flatMap(({ file, asked }) =>
    asked.length > 0 || file.asked.length === 0 ? [{ ...file, asked }] : [],
  )
}

/** Whether a rule about a wrapper also spells out the program that it leads to. */
function names({ pattern }: Rule, part: Part): boolean {
  const spelled = spelledOut(pattern)
  const reach = (of: Part, from: number): boolean =>
    of.runs.every((run) => {
      const at = from + (run.at ?? Number.POSITIVE_INFINITY)
      return (spelled > at || spelled === Number.POSITIVE_INFINITY) && reach(run, at)
    })
  return reach(part, 0)
}
