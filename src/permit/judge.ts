import type { Asked, Verdict } from "../agent/scope.ts"
import type { Fence, Rule } from "../core/access.ts"
import { weighCall } from "./call.ts"
import type { Ground } from "./opened.ts"
import { weighCommand } from "./run.ts"
import { partsOf } from "./shell.ts"
import { suggestCall, suggestCommand } from "./suggest.ts"
import { shownParts, takeApart } from "./taken.ts"

export type Mode = "default" | "acceptEdits" | "plan" | "bypass"

/** What a call is judged by. `fence`: what the run's commands are kept to anyway. */
export type Setting = Ground & {
  mode: Mode
  rules: readonly Rule[]
  fence?: Fence
  canFence(): Promise<boolean>
}

/** What the user's rules and the mode say to a call. Deny beats ask beats allow; where no rule counts, the mode decides. */
export async function judge(asked: Asked, setting: Setting): Promise<Verdict> {
  const { access } = asked
  if (access.kind !== "run") {
    const verdict = await weighCall(asked, setting)
    if (verdict.do !== "ask") return verdict
    const always = [suggestCall(asked, setting)]
    return (await weighCall(asked, widened(setting, always))).do === "allow" ? { ...verdict, always } : verdict
  }
  const taken = takeApart(access.command, await partsOf(access.command), setting)
  const verdict = await weighCommand(asked, taken, setting)
  if (verdict.do !== "ask") return verdict
  const parts = shownParts(taken)
  const always = await suggestCommand(asked, taken, setting)
  // Where a rule asks, or nobody can tell what runs, no other rule would help.
  const helps = always && (await weighCommand(asked, taken, widened(setting, always))).do === "allow"
  return { ...verdict, ...(helps && { always }), ...(parts.length > 0 && { parts }) }
}

const widened = (setting: Setting, more: readonly Rule[]): Setting => ({
  ...setting,
  rules: [...setting.rules, ...more],
})
