import { nearest } from "../core/nearest.ts"
import type { Offered } from "./definition.ts"
import type { Entry, Note } from "./entry.ts"
import { ownName, ownNames } from "./names.ts"

/** Names as written. `all`: nothing is said, or all; `denied`: what a map or "all tools except" takes out again. */
type Names = { names: string[]; all: boolean; denied: string[] }

export type Tooling = {
  tools: string[] | null
  disallowedTools: string[]
  offered: Offered
  notes: Note[]
  broken: boolean
}

/** What the fields on tools come to. A line that cannot be read gives no tools at all. */
export function tooling(fields: {
  tools?: Entry | undefined
  denied: readonly Entry[]
  agents?: Entry | undefined
}): Tooling {
  const allowed = fields.tools ? read(fields.tools) : { names: [], all: true, denied: [] }
  const denials = fields.denied.map((entry) => ({ entry, said: read(entry) }))
  const unread = [
    ...(fields.tools && !allowed ? [fields.tools] : []),
    ...denials.flatMap(({ entry, said }) => (said ? [] : [entry])),
  ]
  const disallowedTools = [...(allowed?.denied ?? []), ...denials.flatMap(({ entry, said }) => denialsOf(entry, said))]
  if (!allowed || unread.length > 0)
    return {
      tools: [],
      disallowedTools,
      offered: { allow: [], deny: own(disallowedTools) },
      notes: unread.map(unreadable),
      broken: true,
    }
  const { names, all } = allowed
  const mayStart = startable(names) ?? (fields.agents && listed(fields.agents))
  return {
    tools: all ? null : names,
    disallowedTools,
    offered: {
      allow: disallowedTools.includes("*") ? [] : all ? "*" : own(names.map(whole)),
      deny: own(disallowedTools.map((name) => name.replace(/\(.*$/s, ""))),
      ...(mayStart && { mayStart }),
    },
    notes: [
      ...about(names, fields.tools?.line ?? 1),
      ...denials.flatMap(({ entry, said }) => about(said?.names ?? [], entry.line)),
    ],
    broken: false,
  }
}

/** Whatever a list of denials names is denied, and all of it where it says all. */
function denialsOf({ value }: Entry, said: Names | undefined): string[] {
  if (!said) return []
  return said.all && value !== null && value !== "" ? ["*"] : [...said.names, ...said.denied]
}

const own = (names: readonly string[]): string[] => [...new Set(names.flatMap((name) => ownName(name) ?? [name]))]

/** `Agent(a, b)` is the task tool; a limit on any other tool's arguments is nothing that we can keep, so that tool is out. */
const whole = (name: string): string => {
  const tool = /^([^(]+)\(/.exec(name)?.[1]
  return tool && ownName(tool)?.includes("task") ? tool : name
}

/** The agents that `Agent(a, b)` names; undefined where nothing narrows the choice. */
function startable(names: readonly string[]): string[] | undefined {
  const starting = names.filter((name) => ownName(whole(name))?.includes("task"))
  if (!starting.length || starting.some((name) => !name.includes("("))) return undefined
  return starting
    .flatMap((name) => name.slice(name.indexOf("(") + 1, name.lastIndexOf(")")).split(","))
    .map((name) => name.trim())
}

function listed(entry: Entry): string[] | undefined {
  const said = read(entry)
  return said?.all ? undefined : (said?.names ?? [])
}

/** Undefined if it cannot be made out. */
function read({ value, broken }: Entry): Names | undefined {
  if (broken) return undefined
  if (value === null) return { names: [], all: true, denied: [] }
  if (value === false) return { names: [], all: false, denied: [] }
  if (typeof value === "string") return fromText(value)
  if (Array.isArray(value)) return fromList(value)
  return typeof value === "object" ? fromMap(value as Record<string, unknown>) : undefined
}

function fromText(text: string): Names | undefined {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/s, "$1")
    .trim()
  if (bare === "")
    return text.trim() === "" ? { names: [], all: true, denied: [] } : { names: [], all: false, denied: [] }
  if (/^none$/i.test(bare)) return { names: [], all: false, denied: [] }
  const except = /^all(?: tools)?,? (?:except|but|minus|excluding|without)(?: for)?:? /i.exec(bare)?.[0]
  const items = cutUp(bare.slice(except?.length ?? 0))
  if (items.some((item) => /[[\]{}"`|<>&!%@]|^\*./.test(item)) || !balanced(bare)) return undefined
  // A star on a line of its own below other names is a slip, not a wish for everything.
  if (bare.includes("\n") && items.length > 1 && items.some(isAll)) return undefined
  return except ? { names: [], all: true, denied: items } : collected(items)
}

const isAll = (name: string): boolean => /^(?:\*|all(?: tools)?)$/i.test(name)
const collected = (names: string[]): Names =>
  names.some(isAll) ? { names: [], all: true, denied: [] } : { names, all: false, denied: [] }

function fromList(list: unknown[]): Names | undefined {
  if (!list.every((item) => typeof item === "string" || typeof item === "number")) return undefined
  const items = list.map((item) => fromText(String(item)))
  if (!items.every((item) => item !== undefined)) return undefined
  return {
    names: items.flatMap(({ names }) => names),
    all: items.some(({ all }, at) => all && String(list[at]).trim() !== ""),
    denied: items.flatMap(({ denied }) => denied),
  }
}

/** What is true is allowed and what is false denied; a map that only takes away leaves the rest. */
function fromMap(map: Record<string, unknown>): Names | undefined {
  const said = Object.entries(map).map(([name, value]) => [name, verdict(value)] as const)
  if (said.some(([, value]) => value === undefined)) return undefined
  const named = (wanted: boolean) => said.flatMap(([name, value]) => (value === wanted && !isAll(name) ? [name] : []))
  const every = said.findLast(([name]) => isAll(name))?.[1]
  const [names, denied] = [named(true), named(false)]
  const all = every ?? names.length === 0
  return { names: all ? [] : names, all, denied }
}

function verdict(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value
  if (typeof value !== "string") return undefined
  if (/^(?:true|yes|on|allow|ask)$/i.test(value)) return true
  return /^(?:false|no|off|deny)$/i.test(value) ? false : undefined
}

/** Cuts at commas and line ends that stand outside of brackets; names that are all known may also stand apart by spaces. */
function cutUp(text: string): string[] {
  const items: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (text[at] === "(") depth++
    if (text[at] === ")") depth--
    if (at < text.length && !(depth === 0 && /[,;\n]/.test(text[at]!))) continue
    items.push(text.slice(start, at))
    start = at + 1
  }
  return items.map(clean).filter(Boolean).flatMap(apart)
}

const clean = (item: string): string =>
  item
    .trim()
    .replace(/^[-*•] /, "")
    .replace(/^(["'`])(.*)\1$/, "$2")
    .trim()

function apart(item: string): string[] {
  const words = item.split(/\s+/)
  return words.length > 1 && words.every((word) => ownName(word)) ? words : [item]
}

function balanced(text: string): boolean {
  let depth = 0
  for (const letter of text) {
    if (letter === "(") depth++
    if (letter === ")" && --depth < 0) return false
  }
  return depth === 0
}

function about(names: readonly string[], line: number): Note[] {
  return names.flatMap((name) => {
    if (ownName(whole(name))) return []
    if (/^[^(]+\(.*\)$/s.test(name) && ownName(name.slice(0, name.indexOf("("))))
      return [
        {
          severity: "warning",
          line,
          message: `${shown(name)}: limits on a tool's arguments are not supported here; the tool is left out`,
        },
      ]
    const meant = nearest(name, ownNames)
    const hint = meant ? `did you mean ${meant}?` : "it counts only if a tool of that name is added"
    return [{ severity: "warning", line, message: `${shown(name)} is no tool that is known here; ${hint}` }]
  })
}

const shown = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name)

const unreadable = ({ key, line, broken }: Entry): Note => ({
  severity: "error",
  line,
  message: broken ?? `${key} cannot be read, so the agent gets no tools; write names with commas between them`,
})
