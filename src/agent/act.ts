import type { Access, Fence } from "../core/access.ts"
import { reasonOf } from "../core/error.ts"
import type { Fact } from "../core/event.ts"
import type { Call } from "../core/message.ts"
import type { CallView } from "../core/view.ts"
import { abortable } from "./abortable.ts"
import { afterCall, beforeCall } from "./hooked.ts"
import { parse } from "./parse.ts"
import type { Offer, Scope, Tool, Use } from "./scope.ts"
import { Slots } from "./slots.ts"
import { Failed } from "./stopped.ts"

/** How many calls of one turn are at work at a time, children apart: those have places of their own. */
const atOnce = 16

type Ended = Omit<Extract<Fact, { type: "call.ended" }>, "type" | "id" | "ms">

/** All calls of one turn: side by side, but for tools that want to be alone. Results keep the order of the calls. */
export async function act(scope: Scope, calls: CallView[]): Promise<void> {
  const tools = new Map(scope.tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool])))
  const slots = new Slots(atOnce)
  let beside: Promise<void>[] = []
  let left = scope.callsLeft()
  for (const call of calls) {
    if (call.state === "ended") continue
    if (left-- <= 0) {
      scope.emit({ type: "call.ended", id: call.call.id, ok: false, text: tooMany, ms: 0 })
      continue
    }
    const tool = tools.get(call.call.name)
    const one = () => once(scope, call, tool)
    if (tool?.alone) {
      await all(beside)
      beside = []
    }
    if (scope.signal.aborted) break
    beside.push(tool?.spawns ? one() : slots.use(scope.signal, "normal", one))
    if (tool?.alone) await all(beside)
  }
  await all(beside)
}

const tooMany = "not made: all the tool calls that this agent may make are used up"

/** Waits for every one, also when some fail, so that none still works when the run goes on or ends. */
async function all(work: Promise<void>[]): Promise<void> {
  for (const end of await Promise.allSettled(work)) if (end.status === "rejected") throw end.reason
}

/** One call. What goes wrong in a tool is told to the model, never thrown at the loop. */
async function once(scope: Scope, open: CallView, offer: Offer | undefined): Promise<void> {
  const began = scope.now()
  const { call } = open
  const end = (ended: Ended) => {
    const ms = Math.round(scope.now() - began)
    scope.emit({ type: "call.ended", id: call.id, ms, ...ended, text: scope.mask(ended.text) })
  }
  if (!offer) return end(withoutTool(scope, call))
  try {
    const tool = await offer.load()
    const known = await recalled(tool, open)
    if (known) return end(known)
    const input = await parse(tool, call)
    if (!input.ok) return end({ ok: false, fault: "input", text: input.text })
    const hooked = await beforeCall(scope, tool, call, input.data)
    if (!hooked.ok) return end(hooked)
    const { data } = hooked
    const { root } = scope.view
    const wanted = tool.access(data, root, scope.around)
    const access = "then" in wanted ? await abortable(scope.signal, Promise.resolve(wanted)) : wanted
    const preview = tool.preview && (async () => tool.preview?.(data, { root }).catch(() => undefined))
    const wish = { call: call.id, tool: tool.name, input: data, access, ...(hooked.hook && { hook: hooked.hook }) }
    const permission = await scope.permit({ ...wish, ...(preview && { preview }) })
    scope.signal.throwIfAborted()
    if (!permission.allow) return end({ ok: false, text: permission.why })
    if (open.state !== "started") scope.emit({ type: "call.started", id: call.id, name: call.name })
    if (!tool.repeatable && !tool.recall) await safe(scope)
    scope.signal.throwIfAborted()
    const output = await abortable(scope.signal, tool.run(data, use(scope, call.id, access, permission.fence)))
    end(await afterCall(scope, tool, call, { input: data, output, context: hooked.context }))
  } catch (error) {
    if (error instanceof Failed) throw error
    const text = reasonOf(error)
    end({ ok: false, text: scope.signal.aborted ? stopped(scope.view.calls.get(call.id)) : text })
  }
}

/** What a stop means for a call depends on how far it had come. */
export const stopped = (open: CallView | undefined): string =>
  open?.state === "started" ? "stopped before it ended; what it had done by then stays done" : "stopped before it began"

/** What a crash left open is known, or it is unknown for good, or the call may be made anew. */
async function recalled({ repeatable, recall }: Tool, { state, plan }: CallView): Promise<Ended | undefined> {
  if (state !== "started" || repeatable) return undefined
  const known = recall && (plan ? await recall(plan) : "again")
  if (known === "again") return undefined
  return known ?? { ok: false, text: cutOff }
}

const cutOff = "cut off before it ended: whether it took effect is unknown. Check before you do it again."

/** What may not be done twice is done only when the log already says that it was begun. */
async function safe(scope: Scope): Promise<void> {
  try {
    await scope.synced()
  } catch (error) {
    throw new Failed({ kind: "store", message: reasonOf(error) })
  }
}

function use(scope: Scope, call: string, access: Access, fence: Fence | undefined): Use {
  return {
    call,
    access,
    ...(fence && { fence }),
    root: scope.view.root,
    signal: scope.signal,
    images: scope.model.images,
    files: scope.view.files,
    show(text) {
      if (scope.view.calls.has(call)) scope.emit({ type: "call.delta", id: call, text: scope.mask(text) })
    },
    spawn: (task) => scope.spawn(call, task),
    below: scope.below(call),
    ...(scope.board && { board: scope.board }),
    async plan(change) {
      scope.emit({ type: "call.planned", id: call, change })
      await safe(scope)
    },
  }
}

/** A fork sees all tools of its parent. Those that are not its own are refused, as by any rule. */
function withoutTool(scope: Scope, { id, name }: Call): Ended {
  const meant = scope.ceiling.tools.find((tool) => tool.name === name || tool.aliases?.includes(name))
  if (!meant || scope.view.tools.every((tool) => tool.name !== meant.name))
    return { ok: false, fault: "unknown", text: unknownTool(name, scope.tools) }
  const word = `${name} is not among the tools of this agent, ${scope.view.agent}; go on without it`
  scope.emit({ type: "gate.answered", call: id, access: { kind: "none" }, allow: false, by: "rule", word })
  return { ok: false, text: `not permitted: ${word}` }
}

function unknownTool(name: string, tools: readonly Offer[]): string {
  const there = tools.map((tool) => tool.name).join(", ")
  return `there is no tool named ${JSON.stringify(name.slice(0, 100))} here; ${there ? `there are ${there}` : "this agent has no tools"}`
}
