import type { Fact, Stamped } from "../../src/core/event.ts"
import type { Header } from "../../src/store/store.ts"

export const headerOf = (id: string, at = 1_700_000_000_000): Header => ({
  legwork: 1,
  id,
  cwd: "/home/ann/shop",
  at,
  version: "0.1.0",
})

export const opened = (seq: number): Stamped<Fact> => ({
  seq,
  at: 1_700_000_000_000 + seq,
  run: "r0",
  type: "run.opened",
  agent: "main",
  model: "offline/legwork",
  depth: 0,
  root: "/home/ann/shop",
  system: "You are Legwork.",
  role: { tools: "*", denied: [] },
  limits: { turns: 200 },
})

export const said = (seq: number, text: string): Stamped<Fact> => ({
  seq,
  at: 1_700_000_000_000 + seq,
  run: "r0",
  type: "mail.sent",
  text,
})
