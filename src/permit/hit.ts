import type { Asked } from "../agent/scope.ts"
import type { Rule } from "../core/access.ts"
import { mayName } from "./argument.ts"
import { type Match, wideMatch } from "./command.ts"
import { evened } from "./form.ts"
import { isAbout, ruleFits } from "./match.ts"
import type { Opened } from "./opened.ts"
import type { Place } from "./path.ts"
import type { Taken } from "./taken.ts"
import { fits, piecesOf } from "./wildcard.ts"
import { isSure } from "./word.ts"

/** Whether a rule that denies or asks counts for a command, for a part of it, or for a file that it opens. */
export async function hits(rule: Rule, asked: Asked, { text, all, opened }: Taken, place: Place): Promise<Match> {
  const matches = await Promise.all(opened.map((each) => opens(rule, each, place)))
  if (isAbout(rule, asked)) {
    if (rule.pattern === "*") return "yes"
    // A pattern with such a sign in it can only be about several commands at once.
    if (/[|;&\n]/.test(rule.pattern) && fits(piecesOf(evened(rule.pattern)), evened(text))) return "yes"
    matches.push(...all.map((part) => wideMatch(rule.pattern, part)))
  }
  return matches.includes("yes") ? "yes" : matches.includes("maybe") ? "maybe" : "no"
}

/** Rules about reading and writing count for what a command opens by name. A file that nobody can name may be any. */
export async function opens(rule: Rule, { way, word, asked, by }: Opened, place: Place): Promise<Match> {
  const tools = way === "read" ? ["read"] : ["edit", "write"]
  if (!tools.includes(rule.tool) || (by === "guess" && rule.pattern === "*")) return "no"
  if (by !== "shell" && !isSure(word)) return mayName(rule.pattern, word) ? "maybe" : "no"
  if (asked.length === 0) return rule.pattern === "*" ? "yes" : "maybe"
  const fit = await Promise.all(asked.map((each) => ruleFits(rule, each, place)))
  return fit.includes(true) ? (by === "guess" ? "maybe" : "yes") : "no"
}
