import type { Moment } from "../core/hook.ts"

/** What hooks are told about every moment. */
export type Session = { session: string; transcript: string; cwd: string; mode: string }

/** What matchers look at; undefined for events that have none. */
export function namesOf({ event, tool, agent, source, reason }: Moment): string[] | undefined {
  switch (event) {
    case "PreToolUse":
    case "PostToolUse":
      return tool ? [tool.name, ...tool.aliases] : []
    case "SubagentStart":
    case "SubagentStop":
      return agent ? [agent.type, capital(agent.type)] : []
    case "SessionStart":
      return source === undefined ? [] : [source]
    case "SessionEnd":
      return reason === undefined ? [] : [reason]
    case "UserPromptSubmit":
    case "Stop":
      return undefined
    default:
      return event satisfies never
  }
}

/** What a hook reads from its standard input. Names and words are those that hooks for Claude Code know. */
export function inputOf({ event, tool, agent, prompt, reason, stopActive, source }: Moment, at: Session): string {
  const stops = event === "Stop" || event === "SubagentStop"
  return JSON.stringify({
    session_id: at.session,
    transcript_path: at.transcript,
    cwd: at.cwd,
    permission_mode: at.mode === "bypass" ? "bypassPermissions" : at.mode,
    hook_event_name: event,
    tool_name: tool?.aliases[0] ?? tool?.name,
    legwork_tool_name: tool?.name,
    tool_input: tool?.input,
    tool_use_id: tool?.id,
    tool_response: tool?.response,
    agent_id: agent?.id,
    agent_type: agent?.type,
    prompt,
    source,
    reason,
    stop_hook_active: stops ? (stopActive ?? false) : undefined,
  })
}

/** Claude's own agents begin with a capital. */
const capital = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)
