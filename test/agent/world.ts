import * as z from "zod"
import { offer } from "../../src/agent/offer.ts"
import type { Options } from "../../src/agent/options.ts"
import { Runtime } from "../../src/agent/runtime.ts"
import { type Agent, type Ceiling, type Gate, type Offer, type Tool, tool } from "../../src/agent/scope.ts"
import type { Fence } from "../../src/core/access.ts"
import type { Event, Fact, Limits, Stamped } from "../../src/core/event.ts"
import { Log } from "../../src/core/log.ts"
import type { RunView, View } from "../../src/core/view.ts"
import { apply } from "../../src/core/view.ts"
import type { Model } from "../../src/model/model.ts"

const agent = (name: string, more: Partial<Agent> = {}): Agent => ({
  name,
  description: "",
  prompt: name.toUpperCase(),
  role: { tools: "*", denied: [] },
  limits: {},
  ...more,
})

export const agents = [
  agent("main"),
  agent("lead"),
  agent("explore", { role: { tools: ["look"], denied: [] } }),
  agent("reader", { role: { tools: "*", denied: [], readonly: true } }),
  agent("lost", { role: { tools: ["nothing"], denied: [] } }),
]

const find = (name = "lead"): Agent => {
  const found = agents.find((each) => each.name === name)
  if (!found)
    throw new Error(`there is no agent named "${name}"; there are ${agents.map((each) => each.name).join(", ")}`)
  return found
}

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
      input: z.strictObject({
        agent: z.string().optional(),
        prompt: z.string(),
        resume: z.string().optional(),
        label: z.string().optional(),
        context: z.enum(["fresh", "fork", "filtered"]).optional(),
        model: z.string().optional(),
        background: z.boolean().optional(),
        share: z.boolean().optional(),
      }),
      repeatable: true,
      spawns: true,
      access: (input) => ({ kind: "agent", name: input.agent ?? "" }),
      async run({ agent, prompt, resume, label, context, model, background, share }, use) {
        const result = await use.spawn({
          prompt,
          ...(agent && { agent }),
          ...(context && { context }),
          ...(model && { model }),
          ...(resume && { resume }),
          ...(label && { label }),
          ...(background !== undefined && { background }),
          ...(share && { share }),
        })
        if (result.status === "async_launched") return { ok: true, text: `launched ${result.agentId}` }
        return { ok: result.status === "completed", text: result.content }
      },
    }),
  ]
  return tools.map(offer)
}

export type World = ReturnType<typeof world>

export type Making = Omit<Partial<Options>, "limits" | "ceiling"> & {
  stored?: Stamped<Fact>[]
  done?: string[]
  gate?: Gate
  tools?: Offer[]
  bounds?: Partial<Ceiling["bounds"]>
  fence?: Fence
  own?: NonNullable<Ceiling["own"]>
  /** Of every run, unless its agent or its task says otherwise. */
  limits?: Partial<Limits> | Options["limits"]
}

/** A runtime over a log in memory. `facts` are what a disk would have, as they would come back from it. */
export function world(model: Model, making: Making = {}) {
  const {
    stored = [],
    done = [],
    gate = () => ({ do: "allow" }),
    tools = toolsOf(done),
    bounds,
    limits,
    fence,
    own,
    ...options
  } = making
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
    ceiling: () => ({
      tools,
      gate,
      bounds: { depth: 2, parallel: 2, ...bounds },
      ...(fence && { fence }),
      ...(own && { own }),
    }),
    agent: async (name) => find(name),
    modelFor: (_, asked, parent) => asked ?? parent,
    model: async () => model,
    system: ({ prompt }) => prompt,
    limits: typeof limits === "function" ? limits : (agent, task) => ({ turns: 20, ...limits, ...agent, ...task }),
    newId: () => `r${ids++}`,
    now: () => performance.now(),
    ...options,
  })
  const open = () => runtime.open(find("main"), "m")
  return { log, facts, events, done, runtime, open, view: log.view }
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
