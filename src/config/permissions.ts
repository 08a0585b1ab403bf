import type { Rule } from "../core/access.ts"
import type { Mode } from "./settings.ts"

/** A rule as somebody wrote it, and in which file. */
export type Stated = { text: string; do: Rule["do"]; file: string }

/** Rules in Claude's form, and its word for the mode. */
export type Permissions = { allow?: string[]; ask?: string[]; deny?: string[]; defaultMode?: ModeWord }

/** What each of Claude's modes is here; ours mean themselves. Those that let a program decide ask a person instead. */
export const modeWords = {
  plan: "plan",
  default: "default",
  acceptEdits: "acceptEdits",
  bypass: "bypass",
  bypassPermissions: "bypass",
  dontAsk: "default",
  auto: "default",
  delegate: "default",
} as const satisfies Record<string, Mode>

type ModeWord = keyof typeof modeWords

export const verdicts = ["allow", "ask", "deny"] as const satisfies Rule["do"][]

export const rulesIn = (permissions: Permissions | undefined, file: string): Stated[] =>
  verdicts.flatMap((verdict) => permissions?.[verdict]?.map((text) => ({ text, do: verdict, file })) ?? [])

/** Nothing that a layer states is taken back by another. Of rules that are the same, the first stays. */
export function joined(below: readonly Stated[], above: readonly Stated[]): Stated[] {
  const rules = new Map<string, Stated>()
  for (const rule of [...below, ...above]) {
    const key = `${rule.do} ${rule.text}`
    if (!rules.has(key)) rules.set(key, rule)
  }
  return [...rules.values()]
}
