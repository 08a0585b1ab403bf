import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import { type Options, Runtime } from "../../src/agent/runtime.ts"
import { type Agent, type Gate, type Offer, type Tool, tool } from "../../src/agent/scope.ts"
import type { Event, Fact, Stamped } from "../../src/core/event.ts"
import { Log } from "../../src/core/log.ts"
import type { RunView, View } from "../../src/core/view.ts"
import { apply } from "../../src/core/view.ts"
import type { Model } from "../../src/model/model.ts"

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({
  name,
  description: "",
  prompt: name.toUpperCase(),
  tools: "*",
  denied: [],
  ...more,
})

export const agents = [agent("main"), agent("lead"), agent("explore", { tools: ["look"] })]

/** Tools that note what they did. `done` outlives a crash, as the world does. */
export function toolsOf(done: string[]): Offer[] {
  const note = (name: string, more: Partial<Tool>): Tool =>
    tool({
      name,
      description: "",
      input: z.strictObject({ on: z.string().default("x") }),
      repeatable: false,
      access: () => ({ kind: "none" }),
      run: async ({ on }, use) => {
        done.push(use.call)
        return { ok: true, text: `${name} ${on}` }
      },
      ...(more as object),
    })
  const inside = { inside: true, path: "/w/x" }
  const tools = [
    note("look", { repeatable: true, access: () => ({ kind: "read", ...inside }) }),
    note("change", { alone: true, access: () => ({ kind: "write", guarded: false, ...inside }) }),
    note("broken", { run: () => Promise.reject(new Error("the tool broke")) }),
    note("deaf", { run: () => new Promise(() => {}) }),
    tool({
      name: "task",
      description: "",
      input: z.strictObject({ agent: z.string(), prompt: z.string(), background: z.boolean().default(false) }),
      repeatable: true,
      spawns: true,
      access: (input) => ({ kind: "agent", name: input.agent }),
      async run(input, use) {
        const { outcome } = await use.spawn({ ...input, call: use.call })
        return { ok: outcome?.status === "completed", text: outcome?.text ?? "launched" }
      },
    }),
  ]
  return tools.map(offer)
}

export type World = ReturnType<typeof world>

/** A runtime over a log in memory. `facts` are what a disk would have, as they would come back from it. */
export function world(
  model: Model,
  more: Partial<Options> & { stored?: Stamped<Fact>[]; done?: string[]; gate?: Gate } = {},
) {
  const { stored = [], done = [], gate = () => ({ do: "allow" }), ...options } = more
  const facts: Stamped<Fact>[] = structuredClone(stored)
  const events: Event[] = []
  const sink = { append: (fact: Stamped<Fact>) => facts.push(JSON.parse(JSON.stringify(fact))), synced: async () => {} }
  let now = stored.length
  const log = new Log(
    sink,
    () => ++now,
    (error) => events.push(error as Event),
  )
  log.replay(structuredClone(stored))
  log.listen((event) => events.push(event))
  let ids = log.view.size
  const runtime = new Runtime({
    log,
    root: "/w",
    agents,
    ceiling: { tools: toolsOf(done), gate, limits: { turns: 20, depth: 2, parallel: 2 } },
    model: async () => model,
    system: ({ prompt }) => prompt,
    newId: () => `r${ids++}`,
    now: () => ++now,
    ...options,
  })
  return { log, facts, events, done, runtime, view: log.view }
}

export function fold(events: Iterable<Event>): View {
  const view: View = new Map()
  for (const event of events) apply(view, event)
  return view
}

/** Each call of a run's history with the results that it got, in order. */
export function callsAndResults(run: RunView): { asked: string[]; got: string[] } {
  const asked = run.messages.flatMap((message) =>
    message.role === "assistant" ? message.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) : [],
  )
  const got = run.messages.flatMap((message) => (message.role === "result" ? [message.call] : []))
  return { asked, got }
}
