import type { Asked, Verdict } from "../agent/scope.ts"
import type { Rule } from "../core/access.ts"
import { type Match, narrowMatch, wideMatch } from "./command.ts"
import { opens } from "./hit.ts"
import { isAbout, ruleFits } from "./match.ts"
import type { Opened } from "./opened.ts"
import type { Place } from "./path.ts"
import { ruleText } from "./rule.ts"
import { type Part, partsOf } from "./shell.ts"
import { shownParts, takeApart } from "./taken.ts"
import { setsRisky } from "./variable.ts"

/** What an agent's own rules say: the last rule that counts for a call decides, and where none does it is allowed. */
export async function judgeOwn(asked: Asked, written: readonly Rule[], place: Place): Promise<Verdict> {
  const rules = written.map(deepened)
  if (asked.access.kind !== "run") {
    return last(rules, async (rule) => ((await ruleFits(rule, asked, place)) ? "yes" : "no"))
  }
  const { command } = asked.access
  const taken = takeApart(command, await partsOf(command), place)
  const about = rules.filter((rule) => isAbout(rule, asked))
  // What only runs something else, or only moves there, is no deed of its own.
  const deeds = taken.all.filter(
    ({ words, bare, runs }) => words.length > 0 && words[0]?.text !== "cd" && !(bare && runs.length > 0),
  )
  const verdict = strictest([
    ...(await Promise.all(deeds.map((part) => last(about, async (rule) => matches(rule, part))))),
    ...(await Promise.all(taken.opened.map((each) => last(rules, (rule) => touches(rule, each, place))))),
  ])
  const parts = shownParts(taken)
  return verdict.do === "ask" && parts.length > 0 ? { ...verdict, parts } : verdict
}

const paths = new Set(["read", "edit", "write", "grep", "glob", "ls"])

/** In such rules a star also stands for folders: `docs/*` is all below, `*.md` at any depth. */
const deepened = (rule: Rule): Rule =>
  paths.has(rule.tool) && rule.pattern !== "*"
    ? { ...rule, pattern: rule.pattern.replaceAll(/(^|\/)\*(?!\*)/g, "$1**/*") }
    : rule

/** From the last rule up to the first that surely counts. Of those that may count on the way, what restricts is kept. */
async function last(rules: readonly Rule[], match: (rule: Rule) => Promise<Match>): Promise<Verdict> {
  let isUnsure = false
  for (const rule of rules.toReversed()) {
    const found = await match(rule)
    isUnsure ||= found === "maybe"
    if (found !== "yes") continue
    if (rule.do === "deny")
      return { do: "deny", why: `this agent's rule ${ruleText(rule)} denies it; go on without it, and say so` }
    return isUnsure || rule.do === "ask" ? { do: "ask", ruled: true } : { do: "allow" }
  }
  return isUnsure ? { do: "ask", ruled: true } : { do: "allow" }
}

function matches(rule: Rule, part: Part): Match {
  if (rule.do !== "allow") return wideMatch(rule.pattern, part)
  if (rule.pattern === "*") return "yes"
  const isStuck = part.doubt !== undefined || setsRisky(part)
  return !isStuck && narrowMatch(rule.pattern, part) ? "yes" : "no"
}

/** What may be opened where nobody can tell is not allowed by a rule about one place. */
const touches = async (rule: Rule, opened: Opened, place: Place): Promise<Match> => {
  const found = await opens(rule, opened, place)
  return rule.do === "allow" && found === "maybe" ? "no" : found
}

const order = { allow: 0, ask: 1, deny: 2 }
const strictest = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.reduce<Verdict>((one, other) => (order[other.do] > order[one.do] ? other : one), { do: "allow" })
