import type { Asked, Verdict } from "../agent/scope.ts"
import type { Access, Rule } from "../core/access.ts"
import type { Mode, Setting } from "./judge.ts"
import { ruleFits } from "./match.ts"
import { isExactly } from "./path.ts"
import { ruleText } from "./rule.ts"

/** What rules and mode say to a call that runs no command. */
export async function weighCall(asked: Asked, setting: Setting): Promise<Verdict> {
  const { access } = asked
  const fitting = await fittingRules(asked, setting)
  const denied = fitting.find((rule) => rule.do === "deny")
  if (denied) return { do: "deny", why: denial(denied) }
  const allowing = fitting.filter((rule) => rule.do === "allow")
  if (access.kind === "write" && isReadOnly(setting))
    return { do: "deny", why: "this run is read-only: describe the change instead of making it" }
  if (access.kind === "write" && !access.inside && !allowing.some(({ pattern }) => pattern !== "*"))
    return { do: "deny", why: `${access.path} is outside the workspace: not written` }
  if (setting.mode === "bypass") return { do: "allow" }
  if (fitting.some((rule) => rule.do === "ask")) return { do: "ask", ruled: true }
  if (allowing.some((rule) => covers(rule, access, setting))) return { do: "allow" }
  return byMode(access, setting.mode)
}

/** Words for the model. */
export const denial = (rule: Rule): string => `the rule ${ruleText(rule)} denies it; go on without it, and say so`

export const isReadOnly = ({ mode, fence }: Setting): boolean => mode === "plan" || fence?.level === "read-only"

async function fittingRules(asked: Asked, setting: Setting): Promise<Rule[]> {
  const fit = await Promise.all(setting.rules.map((rule) => ruleFits(rule, asked, setting)))
  return setting.rules.filter((_, n) => fit[n])
}

/** What is guarded is only allowed by its own name. */
const covers = ({ pattern }: Rule, access: Access, setting: Setting): boolean =>
  access.kind !== "write" || !access.guarded || isExactly(pattern, access.path, setting)

function byMode(access: Access, mode: Mode): Verdict {
  switch (access.kind) {
    case "none":
    case "agent":
      return { do: "allow" }
    case "read":
      return { do: access.inside ? "allow" : "ask" }
    case "write":
      return { do: mode === "acceptEdits" && access.inside && !access.guarded ? "allow" : "ask" }
    case "run":
    case "fetch":
      return { do: "ask" }
    default:
      return access satisfies never
  }
}
