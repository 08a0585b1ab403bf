/** What a call wants to touch. The gate reads this; a tool never asks for itself. Paths are absolute and resolved. */
export type Access =
  | { kind: "none" }
  | { kind: "read"; path: string; inside: boolean }
  | { kind: "write"; path: string; inside: boolean; guarded: boolean }
  | { kind: "run"; command: string }
  | { kind: "fetch"; url: string }
  | { kind: "agent"; name: string }

/** What to do about the calls of a tool that fit a pattern; `*` is every call. Tools have our own names. */
export type Rule = { tool: string; pattern: string; do: "allow" | "ask" | "deny" }

/** The patterns of what rules keep from being read. A rule without one is about the tool, not about files. */
export const deniedReads = (rules: readonly Rule[]): string[] =>
  rules
    .filter((rule) => rule.do === "deny" && rule.tool === "read" && rule.pattern !== "*")
    .map(({ pattern }) => pattern)

/** What the operating system keeps a command to. */
export type Fence = {
  level: "read-only" | "workspace-write"
  network: boolean
  /** Patterns of what may not be read, as rules about reading have them. */
  hidden?: readonly string[]
}

/** A file that a call read or changed, with the hash of its bytes. `before` is null for a file that was not there. */
export type Touch =
  | { did: "read"; path: string; hash: string }
  | { did: "wrote"; path: string; hash: string; before: string | null }

/** What a call is about to put in the place of a file, by hashes; null where there is none. */
export type Change = { path: string; before: string | null; after: string }

export type Todo = { content: string; status: "pending" | "in_progress" | "completed" }

/** What people and programs get of a call's result beyond the text that the model reads. */
export type Details =
  | { kind: "diff"; path: string; diff: string; added: number; removed: number }
  | { kind: "command"; command: string; exit: number | null; signal: string | null; timedOut: boolean }
  | { kind: "found"; shown: number; total: number }
  | { kind: "page"; url: string; status: number; bytes: number }
  | { kind: "todo"; items: Todo[] }
  | { kind: "task"; run: string }
