import type { Rule } from "../core/access.ts"
import { isUrlPattern } from "./url.ts"

const longest = 4_096

/**
 * Reads one rule as people write it, in our spelling or Claude's. `names` gives our names for a tool of any system: none
 * for one that means nothing here, undefined for one that nobody knows. Undefined: it cannot be read.
 */
export function readRule(
  text: string,
  verdict: Rule["do"],
  names: (tool: string) => readonly string[] | undefined,
): Rule[] | undefined {
  const [, name = "", inside] = /^\s*([^\s()]+)\s*(?:\((.*)\))?\s*$/s.exec(text) ?? []
  if (name === "" || text.length > longest || text.includes("\0")) return undefined
  const tools = toolsOf(name, names) ?? (inside === undefined && /^[\w.-]+$/.test(name) ? [name] : undefined)
  const rules = tools?.map((tool) => readable(tool, inside?.trim() ?? "*"))
  if (!rules?.every((each) => each !== undefined)) return undefined
  return rules.flat().map((rule) => ({ ...rule, do: verdict }))
}

/** A rule as people write it. */
export const ruleText = ({ tool, pattern }: Rule): string => (pattern === "*" ? tool : `${tool}(${pattern})`)

function toolsOf(name: string, names: (tool: string) => readonly string[] | undefined): readonly string[] | undefined {
  if (name === "*") return ["*"]
  // A server's name alone means all its tools.
  if (name.startsWith("mcp__")) return [name.indexOf("__", 5) > 0 || name.endsWith("*") ? name : `${name}__*`]
  return names(name)
}

function readable(tool: string, pattern: string): Omit<Rule, "do">[] | undefined {
  if (pattern === "*") return [{ tool, pattern }]
  if (pattern === "" || pattern === ":*") return undefined
  if (tool === "web_fetch") {
    const full = /^(\*\.)?[\w-]+(\.[\w-]+)+$/.test(pattern) ? `domain:${pattern}` : pattern
    return isUrlPattern(full) ? [{ tool, pattern: full }] : undefined
  }
  if (tool !== "task") return [{ tool, pattern }]
  const agents = pattern.split(",").map((agent) => agent.trim())
  return agents.includes("") ? undefined : agents.map((agent) => ({ tool, pattern: agent }))
}
