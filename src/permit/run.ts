import type { Asked, Verdict } from "../agent/scope.ts"
import type { Fence, Rule } from "../core/access.ts"
import { denial, isReadOnly } from "./call.ts"
import { programOf } from "./form.ts"
import { hits } from "./hit.ts"
import type { Setting } from "./judge.ts"
import { looksReading } from "./reading.ts"
import { ruleText } from "./rule.ts"
import { standOf } from "./standing.ts"
import type { Taken } from "./taken.ts"

/** The tightest fence there is. */
const shut: Fence = { level: "read-only", network: false }

/** What rules and mode say to a command, part by part. */
export async function weighCommand(asked: Asked, taken: Taken, setting: Setting): Promise<Verdict> {
  const denying = await found("deny", asked, taken, setting)
  if (denying.sure) return { do: "deny", why: denial(denying.sure) }
  const fence = setting.mode === "plan" ? shut : setting.fence
  if (fence && !(await setting.canFence())) return { do: "deny", why: missing }
  const allow: Verdict = { do: "allow", ...(fence && { fence }) }
  if (setting.mode === "bypass") {
    const rule = denying.unsure.find((each) => isSaid(each, taken))
    return rule
      ? { do: "deny", why: `the rule ${ruleText(rule)} may deny it: spell it out, or go on without it` }
      : allow
  }
  const asking = await found("ask", asked, taken, setting)
  if (asking.sure || asking.unsure.length > 0 || denying.unsure.length > 0) return { do: "ask", ruled: true }
  if (isReadOnly(setting)) return allow
  if (await isAllowed(asked, taken, setting)) return allow
  // A wrong guess does no harm behind a fence.
  const isReading = taken.parts.every(looksReading) && (await setting.canFence())
  return isReading ? { do: "allow", fence: shut } : { do: "ask" }
}

const missing =
  "commands of this run may only run inside a sandbox, and there is none here; use read, grep, glob and ls, or go on without"

type Found = { sure: Rule | undefined; unsure: Rule[] }

/** The rules of one kind that count for a command, and those of which nobody can tell. */
async function found(verdict: Rule["do"], asked: Asked, taken: Taken, setting: Setting): Promise<Found> {
  const rules = setting.rules.filter((rule) => rule.do === verdict)
  const matches = await Promise.all(rules.map((rule) => hits(rule, asked, taken, setting)))
  return { sure: rules.find((_, n) => matches[n] === "yes"), unsure: rules.filter((_, n) => matches[n] === "maybe") }
}

async function isAllowed(asked: Asked, taken: Taken, setting: Setting): Promise<boolean> {
  const stand = await standOf(asked, taken, setting)
  if (stand.everything) return true
  const standings = taken.parts.map(stand.of)
  return !standings.includes("open") && standings.includes("ruled")
}

/** Whether what a rule is about stands anywhere in a command, however it is quoted. */
function isSaid({ tool, pattern }: Rule, { text, all }: Taken): boolean {
  const words = all.flatMap((part) => part.words.map((word) => word.text))
  const said = [text, ...words]
    .join("\n")
    .replaceAll(/\\\n|["'\\]/g, "")
    .toLowerCase()
  const program = tool === "bash" ? programOf(pattern) : undefined
  if (program !== undefined) return said.split(/[^\w.+-]+/).includes(program)
  const pieces = pattern.toLowerCase().split(/[*?[\]{}/~\s]+/)
  return said.includes(pieces.reduce((longest, piece) => (piece.length > longest.length ? piece : longest)))
}
