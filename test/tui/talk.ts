import { Conversation } from "../../src/cli/tui/conversation.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"
import type { Details } from "../../src/core/access.ts"
import type { Fact, Hint } from "../../src/core/event.ts"
import { Log, nowhere } from "../../src/core/log.ts"
import type { Part } from "../../src/core/message.ts"
import { noUsage } from "../../src/core/usage.ts"

export const spent = { usage: noUsage(), cost: 0, ms: 0 }

export const opened = (depth: number, more: object = {}): Fact => ({
  type: "run.opened",
  agent: depth === 0 ? "main" : "explore",
  model: "m",
  depth,
  root: "/",
  system: "You look.\nThen you say.",
  role: { tools: "*", denied: [] },
  limits: { turns: 9 },
  ...(depth > 0 && { label: "find auth files", origin: { run: "main", call: "c" } }),
  ...more,
})

export const said = (text: string): Fact[] => [{ type: "mail.sent", text }, { type: "mail.read" }]

export const turn = (...parts: Part[]): Fact => ({
  type: "turn.ended",
  parts,
  stop: parts.some(({ type }) => type === "call") ? "calls" : "end",
  ...spent,
})

export const call = (name: string, input: unknown, id = "c"): Part => ({ type: "call", id, name, input })

/** A call of a turn of its own, from its start to its end. */
export const used = (
  name: string,
  input: unknown,
  ended: { ok?: boolean; text: string; details?: Details },
): Fact[] => [
  turn(call(name, input)),
  { type: "call.started", id: "c", name },
  { type: "call.ended", id: "c", ok: true, ms: 1, ...ended },
]

type Looks = { run?: string; detail?: "brief" | "all"; colors?: boolean }

/** A session with the main run open, and the conversations that were opened on it. */
export function session() {
  const log = new Log(
    nowhere,
    () => 0,
    (error) => {
      throw error
    },
  )
  log.emit("main", opened(0))
  return {
    log,
    emit: (...events: (Fact | Hint)[]) => {
      for (const event of events) log.emit("main", event)
    },
    child: (...events: (Fact | Hint)[]) => {
      for (const event of events) log.emit("a1", event)
    },
    open({ run = "main", detail = "brief", colors = false }: Looks = {}): Conversation {
      const conversation = new Conversation({ run, view: log.view, theme: themeOf({ colors, dark: true }), detail })
      log.listen((event) => conversation.event(event))
      return conversation
    },
  }
}

/** What is on the screen of whoever watched the main run do all this. */
export function screen(events: (Fact | Hint)[], { width = 60, ...looks }: Looks & { width?: number } = {}): string[] {
  const { emit, open } = session()
  const conversation = open(looks)
  emit(...events)
  return conversation.render(width)
}
