import type { HookEvent, Said } from "../core/hook.ts"
import type { Reply } from "./reply.ts"
import { type Decision, strictest } from "./said.ts"
import { type Hook, nameOf } from "./settings.ts"

/** Where there is nothing that a hook could refuse. */
const settled = new Set<HookEvent>(["SubagentStart", "SessionStart", "SessionEnd"])

/** The most characters of one text of a hook that a model or a person is shown. */
const most = 10_000

/** What an answer comes to at the moment that its hook was run for. */
export function meaning(hook: Hook, reply: Reply): Said {
  const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } = specificTo(hook, reply)
  const stop = reply.continue === false ? reply.stopReason || `the ${nameOf(hook)} ended the run` : undefined
  const decision = strictest([
    permissionDecision,
    reply.decision && (reply.decision === "block" ? "deny" : "allow"),
    stop && hook.event === "PreToolUse" ? "deny" : undefined,
  ])
  const reason = permissionDecisionReason || reply.reason || stop
  const notes = [
    ...(reply.systemMessage ? [capped(reply.systemMessage)] : []),
    ...vain(hook, reply).map((what) => `the ${nameOf(hook)} ${what}, which has no effect at ${hook.event}`),
  ]
  return {
    ...decided(hook, decision, reason),
    ...(updatedInput && { input: updatedInput }),
    ...(additionalContext && { context: capped(additionalContext) }),
    ...(stop && { stop: capped(stop) }),
    notes,
  }
}

type Specific = NonNullable<Reply["hookSpecificOutput"]>

/** Only before a tool is there a permission to give or an input to change. */
function specificTo({ event }: Hook, { hookSpecificOutput = {} }: Reply): Specific {
  if (event === "PreToolUse") return hookSpecificOutput
  const { additionalContext } = hookSpecificOutput
  return additionalContext === undefined ? {} : { additionalContext }
}

function decided(
  hook: Hook,
  decision: Decision | undefined,
  reason: string | undefined,
): Pick<Said, "decision" | "reason"> {
  if (!decision || settled.has(hook.event)) return {}
  if (reason) return { decision, reason: capped(reason) }
  return decision === "deny" ? { decision, reason: `the ${nameOf(hook)} said no and gave no reason` } : { decision }
}

/** What a hook said in vain. */
function vain(
  { event }: Hook,
  { decision, reason, hookSpecificOutput: { permissionDecision, updatedInput } = {} }: Reply,
): string[] {
  if (event === "PreToolUse") return []
  return [
    ...(decision === "block" && settled.has(event) ? [`said no${reason ? ` (${capped(reason)})` : ""}`] : []),
    ...(permissionDecision ? ["gave a permissionDecision"] : []),
    ...(updatedInput ? ["gave an updatedInput"] : []),
  ]
}

export function capped(text: string): string {
  if (text.length <= most) return text
  const cut = text.slice(0, most).toWellFormed()
  return `${cut}\n[the hook said ${text.length} characters, and only the first ${most} are shown]`
}
