import { tmpdir } from "node:os"
import type { HookEvent, Moment } from "../../src/core/hook.ts"
import type { Spawn } from "../../src/hooks/process.ts"
import { hooks } from "../../src/hooks/run.ts"
import { type Hook, nameOf } from "../../src/hooks/settings.ts"

export const from = "settings.json"

/** A folder that has only one name, as shells print it. */
export const world = {
  session: "s1",
  transcript: "/state/s1.jsonl",
  cwd: tmpdir(),
  mode: "default",
  env: { PATH: process.env.PATH ?? "" },
}

export const hook = (event: HookEvent, command: string, more: Partial<Hook> = {}): Hook => ({
  event,
  matcher: "",
  command,
  timeout: 20_000,
  from,
  ...more,
})

export const bash = { name: "bash", aliases: ["Bash", "shell"], input: { command: "ls" }, id: "c1" }

/** What is usually known about a moment. */
export const moment = (event: HookEvent): Moment => (event.endsWith("ToolUse") ? { event, tool: bash } : { event })

type How = { moment?: Partial<Moment>; signal?: AbortSignal; spawn?: Spawn; env?: Record<string, string>; cwd?: string }

/** Fires the moment that the first of these hooks waits for. */
export function fire(list: readonly Hook[], { moment: more, signal, ...how }: How = {}) {
  const at = { ...moment(list[0]!.event), ...more }
  return hooks(list, { ...world, ...how }).fire(at, signal ?? new AbortController().signal)
}

/** A command that prints this as JSON. */
export const prints = (json: unknown): string => `echo '${JSON.stringify(json)}'`

/** What comes of a hook that fails before a tool. */
export const denial = (command: string, what: string) => {
  const note = `the ${nameOf(hook("PreToolUse", command))} ${what}`
  return { decision: "deny", reason: `not done, because ${note}; the user has to mend or remove it`, notes: [note] }
}
