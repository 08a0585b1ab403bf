import { basename } from "node:path"
import type { Permission } from "./permission.ts"

/** Where a definition stands in the order of those that win over one another. */
export type Layer = "built-in" | "plugin" | "user" | "project" | "flag" | "library"

/** Whose way of writing agent files it follows. */
export type Dialect =
  | "legwork"
  | "claude"
  | "opencode"
  | "gemini"
  | "qwen"
  | "kimi"
  | "agents"
  | "copilot"
  | "cursor"
  | "json"

export type Diagnostic = { severity: "error" | "warning" | "info"; file: string; line: number; message: string }

export type Source = {
  /** Null for what comes from no file. */
  path: string | null
  scope: Layer
  dialect: Dialect
  /** The line that each field of the definition comes from. */
  lines: Record<string, number>
}

/** The tools an agent's own definition asks for, in our names; an MCP tool may be a pattern such as `mcp__github__*`. */
export type Offered = {
  allow: string[] | "*"
  deny: string[]
  /** The only agents it may start; absent: any. */
  mayStart?: string[]
}

/** An agent as its author wrote it, in one form for all systems. */
export type Definition = {
  id: string
  name: string
  description: string
  /** What a model is told of it. */
  shortDescription: string
  prompt: string
  /** As written; null: all that its ceiling allows. */
  tools: string[] | null
  disallowedTools: string[]
  offered: Offered
  /** As written; several: the first that can be had. */
  model: string | string[] | null
  maxTurns?: number
  timeoutMs?: number
  temperature?: number
  topP?: number
  effort?: "low" | "medium" | "high"
  /** In US dollars and tokens. */
  budget?: { cost?: number; tokens?: number }
  context: "fresh" | "fork" | "filtered" | null
  background: boolean
  isolation: "worktree" | null
  readonly: boolean
  sandbox?: "read-only" | "workspace-write"
  permission: Permission
  color?: string
  /** Not offered to models; people may still start it. */
  hidden: boolean
  mode?: "primary" | "subagent" | "all"
  /** Kept as written: on skills, MCP servers and memory nothing acts yet. */
  skills?: unknown
  mcpServers?: unknown
  hooks?: unknown
  memory?: unknown
  extra: Record<string, unknown>
  source: Source
  /** Not whole: people may look at it and start it, models are not told of it. */
  degraded: boolean
  diagnostics: Diagnostic[]
}

const mostId = 100

/** The name as an id: lower case, letters of any script, digits, dots and dashes. Empty if nothing of it is left. */
export const slug = (name: string): string =>
  // The cuts are first, because a pattern at the end of a text takes quadratic time.
  name
    .slice(0, mostId)
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .slice(0, mostId)
    .replaceAll(/[^\p{L}\p{M}\p{N}.]+/gu, "-")
    .replaceAll(/^[-.]+|[-.]+$/g, "")

/** A file's name without what says that it is an agent's. */
export const stem = (path: string): string => basename(path).replace(/(?:\.agent)?\.(?:md|markdown)$/i, "")

const mostShort = 300
const mostSearched = 4_000

/** What stands before the examples, on one line, at most 300 characters. */
export function shortened(description: string): string {
  const head = description.slice(0, mostSearched)
  const examples = head.search(/<examples?>|\bExamples?:|\bExample usage:|^(?:[Uu]ser|[Aa]ssistant|[Hh]uman) ?:/m)
  const before = examples < 0 ? head : head.slice(0, examples)
  const line = oneLine(before).replace(/[-–—*:;,(\s]+$/, "")
  return cut(line || oneLine(head.replaceAll(/<\/?[a-z]+>/g, " ")))
}

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim()

function cut(text: string): string {
  if (text.length <= mostShort) return text
  const space = text.lastIndexOf(" ", mostShort - 1)
  // A text without spaces, as in Chinese, is cut between any two characters.
  const end = space > mostShort / 2 ? space : mostShort - 1
  return `${text.slice(0, end).replace(/[\ud800-\udbff]$/, "")}…`
}
