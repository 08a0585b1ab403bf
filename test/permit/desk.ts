import type { Verdict } from "../../src/agent/scope.ts"
import { ownName } from "../../src/agents/names.ts"
import type { Rule } from "../../src/core/access.ts"
import { judge, type Setting } from "../../src/permit/judge.ts"
import { readRule } from "../../src/permit/rule.ts"
import { allOf, type Part, partsOf } from "../../src/permit/shell.ts"
import { hole } from "../../src/permit/word.ts"

export const place = { root: "/w", home: "/home/me" }

/** Rules as people write them, each after its verdict. */
export const rules = (...texts: string[]): Rule[] =>
  texts.flatMap((text) => {
    const [, verdict, rule] = /^(allow|ask|deny) (.*)$/s.exec(text)!
    return readRule(rule!, verdict as Rule["do"], ownName)!
  })

export const setting = (over: Partial<Setting> = {}): Setting => ({
  ...place,
  mode: "default",
  rules: [],
  canFence: async () => true,
  ...over,
})

export const run = (command: string, over: Partial<Setting> = {}): Promise<Verdict> =>
  judge({ tool: "bash", access: { kind: "run", command } }, setting(over))

export const allow: Verdict = { do: "allow" }
export const fenced: Verdict = { do: "allow", fence: { level: "read-only", network: false } }
export const denied = (rule: string): Verdict => ({
  do: "deny",
  why: `the rule ${rule} denies it; go on without it, and say so`,
})
/** `always`: patterns for bash, or whole rules. */
export const ask = (parts: string[], always?: string[]): Verdict => ({
  do: "ask",
  ...(always && {
    always: rules(...always.map((rule) => `allow ${/^(edit|bash|read)\(/.test(rule) ? rule : `bash(${rule})`}`)),
  }),
  ...(parts.length > 0 && { parts }),
})

/** Because a rule says so, or may. */
export const ruled = (parts: string[]): Verdict => ({ do: "ask", ruled: true, ...(parts.length > 0 && { parts }) })

/** A part in a line: `=` in front if it is bare, `?` if nobody can tell, what it runs in braces. */
export function line({ words, set, targets, runs, bare, doubt }: Part): string {
  const text = [
    ...set.map(({ name }) => `${name}=`),
    ...words.map((word) => word.text.replaceAll(hole, "…") || "''"),
    ...targets.map(({ way, word }) => `${way === "read" ? "<" : ">"}${word.text.replaceAll(hole, "…")}`),
  ].join(" ")
  const inner = runs.length > 0 ? ` {${runs.map(line).join("; ")}}` : ""
  return `${bare ? "=" : ""}${doubt === undefined ? "" : "?"}${text}${inner}`
}

/** The parts of a command, a line each, or why there are none. */
export async function lines(command: string): Promise<string[]> {
  const parsed = await partsOf(command)
  return parsed.ok ? parsed.parts.map(line) : [`unreadable: ${parsed.why}`]
}

export const texts = async (command: string): Promise<string[]> => {
  const parsed = await partsOf(command)
  return parsed.ok ? allOf(parsed.parts).map(line) : []
}
