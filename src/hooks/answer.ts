import type { HookEvent, Said } from "../core/hook.ts"
import { seconds } from "../core/numbers.ts"
import { capped, meaning } from "./meaning.ts"
import type { Ended } from "./process.ts"
import { readReply } from "./reply.ts"
import { nothing } from "./said.ts"
import { type Hook, nameOf } from "./settings.ts"

/** Where plain words of a hook are meant for the model. */
const listening = new Set<HookEvent>(["UserPromptSubmit", "SessionStart"])

/** What a hook says by the way in which it ended. */
export function answer(hook: Hook, ended: Ended): Said {
  switch (ended.by) {
    case "itself":
      return finished(hook, ended)
    case "signal":
      return failed(hook, `was killed by ${ended.signal}`)
    case "timeout":
      return failed(hook, `did not end within ${seconds(hook.timeout)} and was stopped`)
    case "output":
      return failed(hook, "printed over 1 MB and was stopped")
    case "abort":
      return failed(hook, "was stopped")
    case "nothing":
      return failed(hook, `could not be started: ${ended.why}`)
    default:
      return ended satisfies never
  }
}

/** Before a tool, a hook that fails denies: it may have been about to. Elsewhere people are told. */
export function failed(hook: Hook, what: string): Said {
  const note = `the ${nameOf(hook)} ${what}`
  if (hook.event !== "PreToolUse") return { notes: [note] }
  return { decision: "deny", reason: `not done, because ${note}; the user has to mend or remove it`, notes: [note] }
}

function finished(hook: Hook, { exit, stdout, stderr }: Extract<Ended, { by: "itself" }>): Said {
  if (exit === 0) return printed(hook, stdout.trim())
  if (exit === 2) return meaning(hook, { decision: "block", reason: stderr.trim() })
  const line = stderr.trim().split("\n", 1)[0]!.slice(0, 300)
  return failed(hook, `exited with code ${exit}${line && `: ${line}`}`)
}

function printed(hook: Hook, text: string): Said {
  if (text.startsWith("{")) {
    const reply = readReply(text, hook.event)
    return typeof reply === "string" ? failed(hook, reply) : meaning(hook, reply)
  }
  if (listening.has(hook.event)) return text === "" ? nothing : { context: capped(text), notes: [] }
  // A line printed by something else in front of it must not turn a no into words for nobody.
  const isMuffled = /"(?:permissionDecision|decision|continue)"\s*:/.test(text)
  return isMuffled ? failed(hook, "printed something before its JSON") : nothing
}
