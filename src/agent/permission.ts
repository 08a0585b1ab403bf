import type { Access } from "../core/access.ts"
import type { RunId } from "../core/event.ts"
import { describe } from "./permit.ts"
import type { Permission, Scope } from "./scope.ts"

/** A question that only a person can answer. `path` names the agents from the main one down to the asker. */
export type Question = { run: RunId; call: string; tool: string; input: unknown; access: Access; path: string[] }
export type Reply = { allow: true } | { allow: false; word?: string }
export type Answerer = (asked: Omit<Question, "path">, signal: AbortSignal) => Promise<Reply>

/** Fails closed: with nobody there to answer, the answer is no. One given before a crash counts while the gate still asks. */
export async function permit(
  scope: Scope,
  call: string,
  access: Access,
  answer: Answerer | undefined,
): Promise<Permission> {
  const open = scope.view.calls.get(call)
  const verdict = scope.gate(access)
  const answered = { type: "gate.answered", call, access, allow: false } as const
  if (verdict.do === "allow") return { allow: true }
  if (verdict.do === "deny") {
    scope.emit({ ...answered, by: "rule", word: verdict.why })
    return refusal(verdict.why)
  }
  if (open?.answer) return open.answer.allow ? { allow: true } : refusal(open.answer.word)
  const { name: tool = "", input } = open?.call ?? {}
  // Whoever answers is asked before the event tells of the question, so that a listener may answer at once.
  const asking = answer?.({ run: scope.run, call, tool, input, access }, scope.signal)
  if (open?.state !== "asking") scope.emit({ type: "gate.asked", call, access })
  if (!asking) {
    const word = `nobody is there to permit it (${describe(access)}); go on without it and say so`
    scope.emit({ ...answered, by: "nobody", word })
    return refusal(word)
  }
  const reply = await asking
  scope.signal.throwIfAborted()
  if (reply.allow) {
    scope.emit({ ...answered, allow: true, by: "user" })
    return { allow: true }
  }
  const word = reply.word ? `the user said no: ${reply.word}` : "the user said no"
  scope.emit({ ...answered, by: "user", word })
  return refusal(word)
}

const refusal = (word = "not permitted"): Permission => ({ allow: false, why: `not permitted: ${word}` })
