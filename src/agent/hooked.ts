import type { Access } from "../core/access.ts"
import { reasonOf } from "../core/error.ts"
import type { HookEvent, Moment, Said } from "../core/hook.ts"
import type { Call } from "../core/message.ts"
import { parse } from "./parse.ts"
import type { Output, Scope, Tool } from "./scope.ts"
import { Failed } from "./stopped.ts"

/** A run that ends anyway need not be stopped. */
const ends = new Set<HookEvent>(["Stop", "SubagentStop"])

/** Lets people's own commands have their say. What they said is on record; one that says so ends the run. */
async function heard(scope: Scope, moment: Moment, call?: string): Promise<Said | undefined> {
  if (!scope.hooks.has(moment.event)) return undefined
  const { view } = scope
  const agent = view.depth > 0 && { agent: { id: view.id, type: view.agent } }
  const said = masked(await scope.hooks.fire({ ...moment, ...agent }, scope.signal), scope)
  scope.signal.throwIfAborted()
  const { notes, ...rest } = said
  if (notes.length > 0 || Object.keys(rest).length > 0)
    scope.emit({ type: "hook.ran", event: moment.event, ...(call !== undefined && { call }), said })
  if (said.stop === undefined || ends.has(moment.event)) return said
  throw new Failed({ kind: "refused", message: `a hook ended the run: ${said.stop}` })
}

/** What hooks print is kept and shown like what tools bring back. */
function masked({ decision, input, notes, ...texts }: Said, { mask }: Pick<Scope, "mask">): Said {
  const hidden = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, mask(text)]))
  return { ...(decision && { decision }), ...(input !== undefined && { input }), ...hidden, notes: notes.map(mask) }
}

const about = (tool: Tool, { id }: Call, input: unknown) => ({ name: tool.name, aliases: [], input, id })

/** `context` is for the model, below the call's result. */
type Before =
  | { ok: true; data: unknown; hook?: "allow" | "ask"; context?: string }
  | { ok: false; text: string; fault?: "input" }

/** Before a call: a hook may refuse it, change its input, or say whether a person is to be asked. It sees what the tool will. */
export async function beforeCall(scope: Scope, tool: Tool, call: Call, data: unknown): Promise<Before> {
  const said = await heard(scope, { event: "PreToolUse", tool: about(tool, call, data) }, call.id)
  if (!said) return { ok: true, data }
  if (said.decision === "deny") {
    const word = `a hook refused it${said.reason ? `: ${said.reason}` : ""}`
    const access = await accessOf(scope, tool, data)
    scope.emit({ type: "gate.answered", call: call.id, access, allow: false, by: "hook", word })
    return { ok: false, text: `not permitted: ${word}` }
  }
  const changed = said.input === undefined ? { ok: true as const, data } : await parse(tool, { input: said.input })
  if (!changed.ok) return { ok: false, text: `a hook changed the input to something unusable: ${changed.text}` }
  const { decision, context } = said
  return { ok: true, data: changed.data, ...(decision && { hook: decision }), ...(context && { context }) }
}

/** For the record of what was refused, which a path that leads nowhere must not keep from being made. */
async function accessOf({ view, around }: Scope, tool: Tool, data: unknown): Promise<Access> {
  try {
    return await tool.access(data, view.root, around)
  } catch {
    return { kind: "none" }
  }
}

/** After a call: what hooks have to add stands below its result. What was done stays done, also if they fail. */
export async function afterCall(
  scope: Scope,
  tool: Tool,
  call: Call,
  { input, output, context }: { input: unknown; output: Output; context: string | undefined },
): Promise<Output> {
  const response = { ok: output.ok, text: output.text }
  const said = await heard(
    scope,
    { event: "PostToolUse", tool: { ...about(tool, call, input), response } },
    call.id,
  ).catch((error): Said => {
    if (error instanceof Failed) throw error
    return { notes: [reasonOf(error)] }
  })
  const more = [context, said?.decision === "deny" ? said.reason : undefined, said?.context].filter(Boolean)
  return more.length > 0 ? { ...output, text: [output.text, ...more].join("\n\n") } : output
}

/** A hook that is never content must not keep a run going for ever. */
const mostKeptOn = 8

/** A run that is about to end: a hook may want it to go on, and says why. */
export async function beforeEnd(scope: Scope): Promise<string | undefined> {
  const { depth, keptOn } = scope.view
  if (keptOn >= mostKeptOn) return undefined
  const event: HookEvent = depth > 0 ? "SubagentStop" : "Stop"
  const said = await heard(scope, { event, stopActive: keptOn > 0 })
  return said?.decision === "deny" && said.stop === undefined
    ? (said.reason ?? "A hook wants you to go on.")
    : undefined
}
