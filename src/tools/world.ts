import type { Found } from "../sandbox/sandbox.ts"

/** What the tools of a session share. Everything about one run arrives with its call instead. */
export type World = {
  /** Folders beside a run's own root that may be read (config, session output). */
  readable: readonly string[]
  /** Folders beside the root that may be written. */
  writable: readonly string[]
  /** Keeps text too long for a message in a file and returns its absolute path. */
  keep(name: string, text: string): Promise<string>
  env: NodeJS.ProcessEnv
  /** Hides secrets in what is kept in files. */
  mask(text: string): string
  /** Whether a task that names no agent goes to a fork. */
  fork: boolean
  /** What keeps commands from what they may not do, looked for when first needed. */
  sandbox(): Promise<Found>
  /** The path of the ripgrep binary, looked up when first needed. */
  ripgrep(): string
}

/** For those who want to know which tools there are, and use none. */
export const nowhere: World = {
  readable: [],
  writable: [],
  keep: async () => "",
  env: {},
  mask: (text) => text,
  fork: false,
  sandbox: async () => ({ ok: false, why: "nothing runs here", fix: "open a session" }),
  ripgrep: () => "",
}
