import type { Asked } from "../agent/scope.ts"
import type { Access, Rule } from "../core/access.ts"
import { type Place, pathFits, type Reach } from "./path.ts"
import { urlFits } from "./url.ts"
import { fits, piecesOf } from "./wildcard.ts"

/** Of each kind of access: the tools whose rules count for it, and our own tools that these rules cover. */
const kinds: Record<Access["kind"], { by: readonly string[]; covers: readonly string[] }> = {
  none: { by: [], covers: [] },
  read: { by: ["read"], covers: ["read", "grep", "glob", "ls"] },
  write: { by: ["edit", "write"], covers: ["edit", "write"] },
  run: { by: ["bash"], covers: ["bash"] },
  fetch: { by: ["web_fetch"], covers: ["web_fetch"] },
  agent: { by: ["task"], covers: ["task"] },
}

/** A rule that denies or asks is read as widely as it can be meant. */
const reachOf = (rule: Rule): Reach => (rule.do === "allow" ? "narrow" : "wide")

/** Whether a rule is about the tool, or about what it does. */
export function isAbout(rule: Rule, { tool, access }: Asked): boolean {
  const isWide = reachOf(rule) === "wide"
  const same = isWide ? fits(piecesOf(rule.tool.toLowerCase()), tool.toLowerCase()) : fits(piecesOf(rule.tool), tool)
  const { by, covers } = kinds[access.kind]
  // A search is no visit: what may be read of its server says nothing about it.
  const counts = tool !== "web_search" && (covers.includes(tool) || isWide)
  return same || (counts && by.includes(rule.tool))
}

/** The tool that a rule about such a call would name. */
export function toolOf({ tool, access }: Asked): string {
  const { by, covers } = kinds[access.kind]
  return covers.includes(tool) ? (by[0] ?? tool) : tool
}

/** Whether a rule counts for a call. What commands consist of is looked at elsewhere. */
export async function ruleFits(rule: Rule, asked: Asked, place: Place): Promise<boolean> {
  if (!isAbout(rule, asked)) return false
  if (rule.pattern === "*") return true
  const { access } = asked
  const reach = reachOf(rule)
  switch (access.kind) {
    case "read":
    case "write":
      return pathFits(rule.pattern, access.path, place, reach)
    case "fetch":
      return urlFits(rule.pattern, access.url, reach)
    case "agent":
      return fits(piecesOf(rule.pattern), access.name)
    case "none":
    case "run":
      // A pattern says nothing about such a call: whoever wrote it to restrict restricts all of them.
      return reach === "wide"
    default:
      return access satisfies never
  }
}
