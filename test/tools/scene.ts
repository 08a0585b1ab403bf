import { offer } from "../../src/agent/offer.ts"
import type { Tool } from "../../src/agent/scope.ts"
import type { Event, RunId } from "../../src/core/event.ts"
import type { Message } from "../../src/core/message.ts"
import type { Request } from "../../src/model/model.ts"
import { scripted } from "../../src/testing/model.ts"
import { call, type Reply } from "../../src/testing/reply.ts"
import { type Making, toolsOf, world } from "../agent/world.ts"

/** What an agent says, by how often it has spoken. */
export type Says = (turn: number, request: Request) => Reply | Promise<Reply>

/** A main agent, `lead`s and `explore`rs that say what they are told to, with these tools beside or instead of the usual ones. */
export function scene(says: { main: Says; lead?: Says; explore?: Says }, tools: Tool[], making: Making = {}) {
  const { main, explore = () => "found", lead = explore } = says
  const model = scripted((request) => {
    const speaks = request.system === "MAIN" ? main : request.system === "LEAD" ? lead : explore
    return speaks(turnsIn(request.messages), request)
  })
  const report: Making["report"] = async ({ agentId, status, content }) => `${agentId} ${status}: ${content}`
  const done: string[] = []
  const usual = toolsOf(done).filter(({ name }) => tools.every((tool) => tool.name !== name))
  const each = world(model, { report, done, tools: [...usual, ...tools.map(offer)], ...making })
  const [run = each.open()] = each.view.keys()
  const results = (of: RunId = run) =>
    each.view.get(of)!.messages.flatMap((message) => (message.role === "result" ? [message.text] : []))
  /** Resolves when there was such an event. */
  const happened = (wanted: (event: Event) => boolean) =>
    new Promise<void>((resolve) => {
      if (each.events.some(wanted)) return resolve()
      const unlisten = each.log.listen((event) => {
        if (!wanted(event)) return
        unlisten()
        resolve()
      })
    })
  return { ...each, model, run, results, happened }
}

export const turnsIn = (messages: readonly Message[]): number =>
  messages.filter(({ role }) => role === "assistant").length

/** Starts an agent that nobody waits for. */
export const behind = (prompt: string, more: object = {}) =>
  call("task", { agent: "explore", prompt, label: prompt, background: true, ...more })

export const never = (): Promise<never> => new Promise(() => {})
