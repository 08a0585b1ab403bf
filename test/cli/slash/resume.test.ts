import assert from "node:assert/strict"
import { test } from "node:test"
import type { Summary } from "../../../src/store/store.ts"
import { groundOn } from "./grounds.ts"

const minute = 60_000
const now = 10 * 24 * 60 * minute

const summary = (id: string, title: string, age: number, running = false): Summary => ({
  header: { legwork: 1, id, cwd: "/w", at: 0, version: "1" },
  updatedAt: now - age,
  bytes: 1,
  title,
  running,
})

const stored = [
  summary("20261115-120000-00000000000000aa", "this very one", 0),
  summary("20261115-110000-00000000000000bb", "mend the gate", 30_000),
  summary("20261114-100000-00000000000000cc", "write docs", 61 * minute, true),
  summary("20261113-100000-00000000000000dd", "", 62 * minute),
  summary("20261112-100000-00000000000000ee", "old thing", 3 * 24 * 60 * minute),
]

const face = (sessions = stored, picks?: (string | undefined)[]) =>
  groundOn(new Map(), { sessions: async () => sessions, now: () => now, ...(picks && { picks }) })

test("resume offers the other sessions that were ever asked anything, and leaves for the one chosen", async () => {
  const { say, picked } = face(stored, [stored[1]!.header.id])
  assert.deepEqual(await say("/resume"), [`leave for ${stored[1]!.header.id}`])
  assert.deepEqual(picked, [
    {
      title: "go on with which session?",
      items: [
        { value: stored[1]!.header.id, label: "mend the gate", description: "just now" },
        { value: stored[2]!.header.id, label: "write docs", description: "1 hour ago, at work" },
        { value: stored[4]!.header.id, label: "old thing", description: "3 days ago" },
      ],
    },
  ])
})

test("where nothing can be chosen from a list the sessions are said", async () => {
  assert.deepEqual(await face().say("/resume"), [
    "say which, as in /resume with the beginning of an id:",
    `${stored[1]!.header.id}  just now  mend the gate`,
    `${stored[2]!.header.id}  1 hour ago, at work  write docs`,
    `${stored[4]!.header.id}  3 days ago  old thing`,
  ])
})

test("the beginning of an id is enough, if it fits one that is free", async () => {
  const { say } = face()
  assert.deepEqual(await say("/resume 20261112"), [`leave for ${stored[4]!.header.id}`])
  assert.deepEqual(await say("/resume 202611"), ['several sessions begin with "202611"; write more of the id'])
  assert.deepEqual(await say("/resume 1999"), [
    'no other session of this folder begins with "1999"; /resume lists them',
  ])
  assert.deepEqual(await say("/resume 20261114"), [
    `${stored[2]!.header.id} is at work in another process; end that one first`,
  ])
})

test("without another session resume says so", async () => {
  assert.deepEqual(await face(stored.slice(0, 1)).say("/resume"), ["there is no other session of this folder"])
})
