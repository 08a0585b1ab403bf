import type { Entry, Note } from "./entry.ts"
import { ownName } from "./names.ts"

type Rule = { tool: string; pattern: string; do: "allow" | "ask" | "deny" }

/** An agent's own rules. The last rule that matches counts; what they allow, a ceiling may still forbid. */
export type Permission = { mode?: "plan" | "default" | "acceptEdits" | "bypass"; rules?: Rule[] }

const modes: Record<string, NonNullable<Permission["mode"]>> = {
  plan: "plan",
  default: "default",
  acceptedits: "acceptEdits",
  autoedit: "acceptEdits",
  auto: "default",
  delegate: "default",
  dontask: "default",
  bypass: "bypass",
  bypasspermissions: "bypass",
  yolo: "bypass",
}

export type Permitted = { permission: Permission; denied: string[]; left: string[]; notes: Note[]; broken: boolean }

/** Reads modes and rules. `denied`: tools of which no call can be made; `*` among them leaves only `left`. */
export function permitted(mode: Entry | undefined, rules: Entry | undefined): Permitted {
  const permission: Permission = {}
  const notes: Note[] = []
  if (mode && mode.value !== null) {
    const known = modes[String(mode.value).toLowerCase().replaceAll(/[-_]/g, "")]
    // A mode that nobody knows may have been meant to restrict.
    permission.mode = known ?? "plan"
    if (!known)
      notes.push({
        severity: "warning",
        line: mode.line,
        message: `${mode.key}: no mode is named ${JSON.stringify(mode.text)}, so it is read-only; there are plan, default, acceptEdits, bypass`,
      })
  }
  const read = rules && rules.value !== null ? (rules.broken ? undefined : rulesOf(rules.value)) : []
  if (!read && rules) notes.push(unreadable(rules))
  if (read?.length) permission.rules = read
  const [denied, left] = blanket(read ?? [])
  return { permission, denied, left, notes, broken: !read }
}

/** In the order in which they stand; undefined if any of it cannot be made out. */
function rulesOf(value: unknown): Rule[] | undefined {
  const verdict = verdictOf(value)
  if (verdict) return [{ tool: "*", pattern: "*", do: verdict }]
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
  const rules = Object.entries(value).map(([tool, said]) => toolRules(tool, said))
  return rules.every((each) => each !== undefined) ? rules.flat() : undefined
}

function toolRules(name: string, said: unknown): Rule[] | undefined {
  // Elsewhere the one word covers every way to change a file.
  const tools = name === "edit" ? ["edit", "write"] : (ownName(name) ?? [name])
  const verdict = verdictOf(said)
  if (verdict) return tools.map((tool) => ({ tool, pattern: "*", do: verdict }))
  if (typeof said !== "object" || said === null || Array.isArray(said)) return undefined
  const rules = Object.entries(said).map(([pattern, each]) => {
    const what = verdictOf(each)
    return what ? tools.map((tool) => ({ tool, pattern, do: what })) : undefined
  })
  return rules.every((each) => each !== undefined) ? rules.flat() : undefined
}

function verdictOf(value: unknown): Rule["do"] | undefined {
  if (value === true) return "allow"
  if (value === false) return "deny"
  const word = typeof value === "string" ? value.toLowerCase() : undefined
  return word === "allow" || word === "ask" || word === "deny" ? word : undefined
}

/** The tools named, in two parts: those whose last rule is a plain deny, and the others. */
function blanket(rules: readonly Rule[]): [string[], string[]] {
  const tools = [...new Set(rules.map(({ tool }) => tool))]
  const isClosed = (tool: string) => {
    const last = rules.findLast((rule) => rule.tool === tool || rule.tool === "*")
    return last?.do === "deny" && last.pattern === "*"
  }
  return [tools.filter(isClosed), tools.filter((tool) => !isClosed(tool))]
}

const unreadable = ({ key, line }: Entry): Note => ({
  severity: "error",
  line,
  message: `${key} cannot be read, so the agent gets no tools; write allow, ask or deny for each tool`,
})
