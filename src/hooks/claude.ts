import { resolve } from "node:path"
import type { Moment } from "../core/hook.ts"

type Tool = NonNullable<Moment["tool"]>

/** Which key of a tool's input holds a path. */
const paths: Record<string, string> = {
  read: "file_path",
  write: "file_path",
  edit: "file_path",
  glob: "path",
  grep: "path",
  ls: "path",
}

/** A call as hooks for Claude Code know it: under that program's name, with whole paths, a single edit without a list. */
export function asInClaude(tool: Tool, cwd: string): Tool {
  if (!isMap(tool.input)) return tool
  const key = Object.hasOwn(paths, tool.name) ? paths[tool.name]! : ""
  const path = tool.input[key]
  // A guard that compares paths must not be got round by another spelling.
  const input = typeof path === "string" ? { ...tool.input, [key]: resolve(cwd, path) } : tool.input
  return tool.name === "edit" ? edited({ ...tool, input }, input) : { ...tool, input }
}

function edited(tool: Tool, { edits, ...rest }: Record<string, unknown>): Tool {
  if (!Array.isArray(edits)) return tool
  const [only, ...more] = edits
  if (more.length === 0 && isMap(only)) return { ...tool, input: { ...rest, ...only } }
  return { ...tool, aliases: ["MultiEdit", ...tool.aliases.filter((name) => name !== "MultiEdit")] }
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
