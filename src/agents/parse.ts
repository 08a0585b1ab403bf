import {
  type Definition,
  type Diagnostic,
  type Dialect,
  oneLine,
  type Source,
  shortened,
  slug,
  stem,
} from "./definition.ts"
import { guessed } from "./dialects.ts"
import type { Entry, Note } from "./entry.ts"
import { textOf } from "./entry.ts"
import { Fields } from "./fields.ts"
import { frontMatter } from "./front-matter.ts"
import { limitsOf, mapOf } from "./limits.ts"
import { permitted } from "./permission.ts"
import { tooling } from "./tools.ts"

/** Where an agent comes from. Without a dialect, it is guessed. `name`: what it is called if it does not say itself. */
export type From = Pick<Source, "path" | "scope"> & { dialect?: Dialect; name?: string; plugin?: string }

const notAgents = /^(?:readme|changelog|licen[sc]e|contributing|agents|claude|gemini|index)(?:[._-].*)?$/i

/** Reads one agent file; null if it is none. */
export async function parseAgent(text: string, from: From, told: readonly Note[] = []): Promise<Definition | null> {
  const read = await frontMatter(text)
  const named = from.path ? stem(from.path) : (from.name ?? "")
  if (!read) return notAgents.test(named) || text.trim() === "" ? null : withoutFrontMatter(text, from, told)
  const fields = new Fields(read.entries, [...told, ...read.notes])
  if (notAgents.test(named) && !fields.one("name") && !fields.one("description")) return null
  return define(fields, read.body, from)
}

/** Makes a definition of an object, as programs and the command line give it. */
export function defineAgent(object: Record<string, unknown>, from: From): Definition {
  const entries = Object.entries(object).flatMap(([key, value]): Entry[] =>
    value === undefined ? [] : [{ key, value, text: typeof value === "object" ? "" : String(value), line: 1 }],
  )
  return define(new Fields(entries, []), "", { dialect: "json", ...from })
}

function withoutFrontMatter(text: string, from: From, told: readonly Note[]): Definition {
  const message = "there is no front matter, so models are not told of it; begin the file with name and description"
  const fields = new Fields([], [...told, { severity: "warning", line: 1, message }])
  return { ...define(fields, text, from, { quiet: true }), degraded: true }
}

function define(fields: Fields, body: string, from: From, { quiet = false } = {}): Definition {
  const dialect = from.dialect ?? guessed(from.path ?? "", fields.keys())
  const { id, name } = identity(fields, from)
  const prompt = body.replace(/^\s*\n/, "").trimEnd() || (fields.text("prompt") ?? "")
  const { description, told } = describing(fields, prompt)
  const powers = powersOf(fields)
  const remote = fields.text("kind")?.toLowerCase() === "remote"
  if (!told && !quiet) fields.notes.push(needed("description", "so models are not told of it; say when to use it"))
  if (!prompt) fields.notes.push(needed("prompt", "so it knows only its task; write it below the front matter"))
  if (remote) fields.warn(fields.one("kind")!, "agents on other machines are not supported; it is not offered")
  const rest: Omit<Definition, "extra" | "source" | "diagnostics"> = {
    id,
    name,
    description,
    shortDescription: shortened(description),
    prompt,
    tools: powers.tools,
    disallowedTools: powers.disallowedTools,
    offered: powers.offered,
    model: modelOf(fields, dialect),
    ...limitsOf(fields),
    ...conductOf(fields),
    readonly: powers.readonly,
    ...(powers.sandbox && { sandbox: powers.sandbox }),
    permission: powers.permission,
    ...showing(fields),
    ...keptWhole(fields),
    degraded: !told || powers.broken || remote,
  }
  const source = { path: from.path, scope: from.scope, dialect, lines: fields.lines() }
  return { ...rest, extra: fields.rest(), source, diagnostics: diagnosticsOf(fields.notes, from) }
}

const needed = (what: string, why: string): Note => ({
  severity: "warning",
  line: 1,
  message: `there is no ${what}, ${why}`,
})

const diagnosticsOf = (notes: readonly Note[], { path, scope }: From): Diagnostic[] =>
  notes.map(({ severity, line, message }) => ({
    severity,
    file: path ?? (scope === "flag" ? "--agents" : scope),
    line,
    message,
  }))

const mostName = 200

function identity(fields: Fields, from: From): { id: string; name: string } {
  const fallback = from.name ?? (from.path ? stem(from.path) : "agent")
  const name = oneLine((fields.text("name") ?? fallback).slice(0, mostName))
  const id = slug(name) || slug(fallback) || [...name].map((letter) => letter.codePointAt(0)!.toString(16)).join("-")
  return { id: from.plugin ? `${from.plugin}:${id}` : id, name }
}

function describing(fields: Fields, prompt: string): { description: string; told: boolean } {
  const description = proseOf(fields.one("description")) ?? proseOf(fields.one("whenToUse"))
  return description ? { description, told: true } : { description: firstParagraph(prompt), told: false }
}

/** Escapes that came through as they were typed are undone. */
function proseOf(entry: Entry | undefined): string | undefined {
  const value = Array.isArray(entry?.value)
    ? entry.value.filter((line) => typeof line === "string").join("\n")
    : undefined
  const text = value ?? (entry && textOf(entry))
  return (
    text
      ?.replaceAll(/\\{1,2}n/g, "\n")
      .replaceAll(/\\{1,2}"/g, '"')
      .trim() || undefined
  )
}

const mostParagraph = 1_000

/** The first paragraph that is prose: no heading, no fence, no comment. */
function firstParagraph(text: string): string {
  const paragraphs = text.slice(0, 20_000).split(/\n[ \t]*\n/)
  const prose = paragraphs.map((each) => each.replaceAll(/^ {0,3}#.*$/gm, "").trim())
  const first = prose.find((each) => each && !/^(?:```|~~~|<!--|---)/.test(each))
  return oneLine(first ?? text.slice(0, mostParagraph).replace(/^[#\s]+/, "")).slice(0, mostParagraph)
}

function modelOf(fields: Fields, dialect: Dialect): Definition["model"] {
  const entry = fields.one("model")
  const own = mapOf(fields.one("modelConfig")).model
  if (!entry || entry.value === null) return typeof own === "string" && own ? own : null
  const list = Array.isArray(entry.value) ? entry.value.map(String) : (textOf(entry) ?? "").split(/[,|]/)
  const names = list.map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2")).filter(Boolean)
  if (!names.length && entry.value !== "") fields.warn(entry, "must name a model or several; it is left out")
  // Cursor's word for its small model.
  const meant = names.map((name) => (dialect === "cursor" && name === "fast" ? "small" : name))
  return meant.length > 1 ? meant : (meant[0] ?? null)
}

type Powers = Pick<Definition, "tools" | "disallowedTools" | "offered" | "readonly" | "sandbox" | "permission"> & {
  broken: boolean
}

function powersOf(fields: Fields): Powers {
  const read = tooling({
    tools: fields.one("tools"),
    denied: fields.all("disallowedTools"),
    agents: fields.one("agents"),
  })
  const { permission, denied, left, notes, broken } = permitted(fields.one("permissionMode"), fields.one("permission"))
  fields.notes.push(...read.notes, ...notes)
  const readonly = restrictedBy(fields)
  const sandbox = sandboxOf(fields)
  const { allow, deny, mayStart } = read.offered
  const kept = denied.includes("*") ? (allow === "*" ? left : allow.filter((name) => left.includes(name))) : allow
  return {
    tools: read.tools,
    disallowedTools: read.disallowedTools,
    offered: {
      allow: broken ? [] : kept,
      deny: [...new Set([...deny, ...denied, ...(readonly ? ["write", "edit"] : [])])].filter((name) => name !== "*"),
      ...(mayStart && { mayStart }),
    },
    readonly,
    ...(sandbox && { sandbox }),
    permission,
    broken: read.broken || broken,
  }
}

/** Read-only also if what is said about it cannot be made out. */
function restrictedBy(fields: Fields): boolean {
  const entry = fields.one("readonly")
  const said = entry && entry.value !== null && entry.value !== ""
  return fields.flag("readonly") ?? Boolean(said)
}

function sandboxOf(fields: Fields): Definition["sandbox"] {
  const sandbox = fields.text("sandbox")
  if (sandbox === undefined || sandbox === "read-only" || sandbox === "workspace-write") return sandbox
  fields.warn(fields.one("sandbox")!, "must be read-only or workspace-write; it counts as read-only")
  return "read-only"
}

function conductOf(fields: Fields): Pick<Definition, "context" | "background" | "isolation"> {
  const context = fields.text("context")?.toLowerCase()
  const known = context === "fresh" || context === "fork" || context === "filtered" ? context : undefined
  if (context && !known) fields.warn(fields.one("context")!, "must be fresh, fork or filtered; it is left out")
  const forks = fields.flag("forkContext")
  const isolation = fields.text("isolation")
  if (isolation && isolation !== "worktree" && isolation !== "none")
    fields.warn(fields.one("isolation")!, "must be worktree; it is left out")
  return {
    context: known ?? (forks === undefined ? null : forks ? "filtered" : "fresh"),
    background: fields.flag("background") ?? false,
    isolation: isolation === "worktree" ? isolation : null,
  }
}

function showing(fields: Fields): Pick<Definition, "color" | "hidden" | "mode"> {
  const color = fields.text("color")
  const word = fields.text("mode")?.toLowerCase()
  const known = word === "primary" || word === "subagent" || word === "all" ? word : undefined
  if (word && !known) fields.warn(fields.one("mode")!, "must be primary, subagent or all; it is left out")
  const mode = known ?? (fields.flag("userInvocable") === false ? "subagent" : undefined)
  const reasons = [fields.flag("hidden"), fields.flag("disable"), fields.flag("disableModelInvocation")]
  const hidden = reasons.includes(true) || fields.flag("infer") === false || mode === "primary"
  return { ...(color && { color }), hidden, ...(mode && { mode }) }
}

/** Kept as they stand, and said to be without effect where they are. */
function keptWhole(fields: Fields): Pick<Definition, "skills" | "mcpServers" | "hooks" | "memory"> {
  const kept = (["skills", "mcpServers", "hooks", "memory"] as const).flatMap((key) => {
    const entry = fields.one(key)
    if (!entry || entry.value === null) return []
    if (key !== "hooks") fields.warn(entry, "is not honoured yet; the agent works without it")
    return [[key, entry.value] as const]
  })
  return Object.fromEntries(kept)
}
