import type { Fence } from "../core/access.ts"
import type { Asking, RunId } from "../core/event.ts"
import { abortable } from "./abortable.ts"
import { describe } from "./describe.ts"
import { type Permission, type Scope, tighter, type Verdict, type Wish } from "./scope.ts"

/** A question that only a person can answer. `path` names the agents from the main one down to the asker. */
export type Question = { run: RunId; call: string; tool: string; input: unknown; path: string[] } & Asking

/** `always`: also whatever the question says that this would allow, in the whole session. */
export type Reply = { allow: true; always?: boolean } | { allow: false; word?: string }
export type Answerer = (asked: Omit<Question, "path">, signal: AbortSignal) => Promise<Reply>

/** Fails closed: with nobody there to answer, the answer is no. One given before a crash counts while the gate still asks. */
export async function permit(scope: Scope, wish: Wish, answer: Answerer | undefined): Promise<Permission> {
  const { call, access, hook } = wish
  const verdict = await judged(scope, wish)
  const answered = { type: "gate.answered", call, access } as const
  if (verdict.do === "deny") {
    scope.emit({ ...answered, allow: false, by: "rule", word: verdict.why })
    return refusal(verdict.why)
  }
  if (verdict.do === "allow") return granted(scope, verdict)
  const open = scope.view.calls.get(call)
  if (open?.answer) return open.answer.allow ? granted(scope) : refusal(open.answer.word)
  if (hook === "allow" && !verdict.ruled) {
    scope.emit({ ...answered, allow: true, by: "hook" })
    return granted(scope)
  }
  return abortable(scope.signal, ask(scope, wish, verdict, answer))
}

/** What the gate says, and a hook that wants a person to be asked. */
async function judged(scope: Scope, { tool, access, hook }: Wish): Promise<Verdict> {
  const { fence } = scope
  const said = scope.gate({ tool, access, ...(fence && { fence }) })
  const verdict = "then" in said ? await abortable(scope.signal, said) : said
  return verdict.do === "allow" && hook === "ask" ? { do: "ask" } : verdict
}

async function ask(
  scope: Scope,
  wish: Wish,
  { always, parts }: Extract<Verdict, { do: "ask" }>,
  answer: Answerer | undefined,
): Promise<Permission> {
  const { call, tool, input, access } = wish
  const answered = { type: "gate.answered", call, access } as const
  const details = answer && (await wish.preview?.())
  scope.signal.throwIfAborted()
  const asking: Asking = { access, ...(parts && { parts }), ...(always && { always }), ...(details && { details }) }
  const withdrawn = new AbortController()
  const signal = AbortSignal.any([scope.signal, withdrawn.signal])
  // Whoever answers is asked before the event tells of the question, so that a listener may answer at once.
  const reply = answer?.({ run: scope.run, call, tool, input, ...asking }, signal)
  if (scope.view.calls.get(call)?.state !== "asking") scope.emit({ type: "gate.asked", call, ...asking })
  if (!reply) {
    const word = `nobody is there to permit it (${describe(access)}); go on without it and say so`
    scope.emit({ ...answered, allow: false, by: "nobody", word })
    return refusal(word)
  }
  const said = await Promise.race([reply, permittedMeanwhile(scope, wish, signal)])
  scope.signal.throwIfAborted()
  if (!said.allow) {
    const word = said.word ? `the user said no: ${said.word}` : "the user said no"
    scope.emit({ ...answered, allow: false, by: "user", word })
    return refusal(word)
  }
  if ("fence" in said) {
    withdrawn.abort(new Error("another answer settled this"))
    scope.emit({ ...answered, allow: true, by: "rule" })
    return granted(scope, said)
  }
  const rules = said.always && always?.length ? { always } : {}
  scope.emit({ ...answered, allow: true, by: "user", ...rules })
  return granted(scope)
}

/** What a person allows for good may settle questions that already wait. Never resolves if nothing does. */
async function permittedMeanwhile(scope: Scope, wish: Wish, signal: AbortSignal): Promise<Settled> {
  while (!signal.aborted) {
    await scope.loosened()
    const verdict = await judged(scope, wish)
    if (verdict.do === "allow") return { allow: true, fence: verdict.fence }
  }
  return new Promise(() => {})
}

type Settled = { allow: true; fence: Fence | undefined }

function granted(scope: Scope, allowed: { fence?: Fence | undefined } = {}): Permission {
  const fence = tighter(scope.fence, allowed.fence)
  const { hidden } = scope
  return { allow: true, ...(fence && { fence: hidden ? { ...fence, hidden } : fence }) }
}

const refusal = (word = "not permitted"): Permission => ({ allow: false, why: `not permitted: ${word}` })
