/** When people's own commands are run. */
export type HookEvent =
  | "SessionStart"
  | "UserPromptSubmit"
  | "PreToolUse"
  | "PostToolUse"
  | "SubagentStart"
  | "SubagentStop"
  | "Stop"
  | "SessionEnd"

/** What happens, as hooks are told of it. `aliases` are names that other systems have for the tool. */
export type Moment = {
  event: HookEvent
  tool?: { name: string; aliases: string[]; input: unknown; id: string; response?: unknown }
  agent?: { id: string; type: string }
  prompt?: string
  reason?: string
  /** The run goes on already because a hook wanted it to. */
  stopActive?: boolean
  source?: string
}

/** What all hooks of one moment say together. */
export type Said = {
  decision?: "allow" | "deny" | "ask"
  /** Words for the model, or for the person who is asked. */
  reason?: string
  /** The tool's input as a hook changed it. */
  input?: unknown
  /** To be added to what the model sees. */
  context?: string
  /** Why the run must end. */
  stop?: string
  /** For people. */
  notes: readonly string[]
}

export type Hooks = {
  has(event: HookEvent): boolean
  /** Rejects only when the signal fires. */
  fire(moment: Moment, signal: AbortSignal): Promise<Said>
}
