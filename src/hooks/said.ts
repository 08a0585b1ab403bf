import type { Said } from "../core/hook.ts"
import { type Hook, nameOf } from "./settings.ts"

export type Decision = NonNullable<Said["decision"]>

export const nothing: Said = Object.freeze({ notes: Object.freeze([]) })

/** All answers in one. The strictest decision counts, with the reasons of those who made it. */
export function join(answers: readonly { hook: Hook; said: Said }[]): Said {
  const all = answers.map(({ said }) => said)
  const decision = strictest(all.map((said) => said.decision))
  const reason = lines(all.map((said) => (said.decision === decision ? said.reason : undefined)))
  const context = lines(all.map((said) => said.context))
  const stop = lines(all.map((said) => said.stop))
  const changes = decision === "deny" ? [] : answers.filter(({ said }) => said.input !== undefined)
  const last = changes.at(-1)
  const clash =
    changes.length > 1 && `several hooks changed the input of one call; what the ${nameOf(last!.hook)} said counts`
  return {
    ...(decision && { decision }),
    ...(decision && reason !== undefined && { reason }),
    ...(last && { input: last.said.input }),
    ...(context !== undefined && { context }),
    ...(stop !== undefined && { stop }),
    notes: [...all.flatMap(({ notes }) => notes), ...(clash ? [clash] : [])],
  }
}

export const strictest = (decisions: readonly (Decision | undefined)[]): Decision | undefined =>
  (["deny", "ask", "allow"] as const).find((decision) => decisions.includes(decision))

function lines(texts: readonly (string | undefined)[]): string | undefined {
  const said = texts.filter((text) => text !== undefined)
  return said.length === 0 ? undefined : said.join("\n")
}
