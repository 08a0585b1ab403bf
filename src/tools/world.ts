/** What the tools of a session share. Everything about one run arrives with its call instead. */
export type World = {
  /** Folders beside a run's own root that may be read (config, session output). */
  readable: readonly string[]
  /** Folders beside the root that may be written. */
  writable: readonly string[]
  /** Keeps text too long for a message in a file and returns its absolute path. */
  keep(name: string, text: string): Promise<string>
  env: NodeJS.ProcessEnv
  /** Whether a task that names no agent goes to a fork. */
  fork: boolean
  /** The path of the ripgrep binary, looked up when first needed. */
  ripgrep(): string
}
