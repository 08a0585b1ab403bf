import { count, numbers } from "../../core/numbers.ts"
import type { View } from "../../core/view.ts"
import type { Session } from "../../face.ts"
import { isUnfinished } from "../unfinished.ts"

/** What is said when a conversation is left: what it came to, and how to go on. */
export function farewell({ id, main }: Pick<Session, "id" | "main">, view: View, durationMs: number): string[] {
  const run = view.get(main)
  const agents = view.size - 1
  const { toolCalls, usage, cost } = run?.family ?? { toolCalls: 0, usage: undefined, cost: 0 }
  const spent = usage ? [`${count(agents, "agent")} · ${numbers({ toolCalls, usage, cost, durationMs })}`] : []
  const aside = isUnfinished(view) ? ["what was under way is put aside"] : []
  const wasAsked = run !== undefined && run.messages.length + run.mail.length > 0
  return wasAsked ? [...spent, ...aside, `to go on: legwork -r ${id}`] : []
}
