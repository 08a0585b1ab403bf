import assert from "node:assert/strict"
import { test } from "node:test"
import type { Component } from "@earendil-works/pi-tui"
import { Actions } from "../../src/cli/tui/actions.ts"
import { themeOf } from "../../src/cli/tui/theme.ts"
import type { Fact, Hint } from "../../src/core/event.ts"
import { opened, said, session } from "./talk.ts"

const theme = themeOf({ colors: false, dark: true })

/** A screen with one child, and what was done on it. */
function stage(...events: (Fact | Hint)[]) {
  const { log, emit, child } = session()
  const done: string[] = []
  const tell = (word: string) => () => void done.push(word)
  const state = { text: "", opened: undefined as string | undefined, isAsking: false }
  const lists: Component[] = []
  const panel = {
    chosen: undefined as string | undefined,
    choose: (run: string | undefined) => void (panel.chosen = run),
    move: () => {},
  }
  const actions = new Actions({
    session: {
      view: log.view,
      main: "main",
      cancel: async (run, options) => void done.push(`cancel ${run} ${options?.reach ?? "family"}`),
      sendBehind: (run) => done.push(`behind ${run}`) > 0,
    },
    theme,
    reading: {
      get opened() {
        return state.opened
      },
      open: (run) => (state.opened = run) !== "",
      close: () => void (state.opened = undefined),
    },
    panel,
    editor: { getText: () => state.text, setText: (text) => void (state.text = text) },
    front: {
      get isAsking() {
        return state.isAsking
      },
      get hasList() {
        return lists.length > 0
      },
      open: (list) => void lists.push(list),
      close: () => void lists.pop(),
    },
    entries: () => ["before"],
    note: (text) => void done.push(text),
    attempt: (work) => void work,
    command: async (line) => done.push(line),
    edit: async () => void done.push("edit"),
    suspend: tell("suspend"),
    leave: tell("leave"),
    draw: () => {},
    redraw: tell("redraw"),
  })
  emit(...said("go"), ...events)
  return { actions, done, state, lists, panel, child, emit }
}

const origin = { run: "main", call: "c" }
const settled: Fact = { type: "run.settled", outcome: { status: "completed", text: "It is here." }, ms: 1 }

test("ctrl+c stops the main run and what it waits for; again, it leaves", () => {
  const { actions, done } = stage()
  assert.deepEqual([actions.isWarned(), actions.act("interrupt"), actions.isWarned()], [false, true, true])
  actions.act("interrupt")
  assert.deepEqual(done, ["cancel main run", "leave"])
})

test("ctrl+c clears what was typed first, and that is no first time", () => {
  const { actions, done, state } = stage()
  state.text = "some words"
  actions.act("interrupt")
  assert.deepEqual([state.text, done, actions.isWarned()], ["", [], false])
})

test("ctrl+c while a question waits stops the run, and leaves what was typed", () => {
  const { actions, done, state } = stage()
  Object.assign(state, { text: "some words", isAsking: true })
  actions.act("interrupt")
  assert.deepEqual([state.text, done], ["some words", ["cancel main run"]])
})

test("ctrl+c is for the list that is open, if one is", () => {
  const { actions, done } = stage()
  actions.act("search")
  assert.deepEqual([actions.act("interrupt"), done], [false, []])
})

test("ctrl+c with nobody at work only says how to leave", () => {
  const { actions, done } = stage(settled)
  assert.deepEqual([actions.act("interrupt"), actions.isWarned(), done], [true, true, []])
})

test("esc stops just the chosen agent, and lets go of one that is over", () => {
  const { actions, done, panel, child } = stage()
  child(opened(1, { origin }), ...said("look"))
  panel.choose("a1")
  actions.act("escape")
  assert.deepEqual([done, panel.chosen], [["cancel a1 family"], "a1"])
  child(settled)
  actions.act("escape")
  assert.deepEqual([done, panel.chosen], [["cancel a1 family"], undefined])
  actions.act("escape")
  assert.deepEqual(done, ["cancel a1 family", "cancel main run"])
})

test("esc goes back from a transcript before it stops anything; at rest it is for the input", () => {
  const { actions, done, state, emit } = stage()
  state.opened = "a1"
  actions.act("escape")
  assert.deepEqual([state.opened, done], [undefined, ["redraw"]])
  emit(settled)
  assert.deepEqual([actions.act("escape"), done], [false, ["redraw"]])
})

test("ctrl+o opens the transcript of whoever did something last, and closes it", () => {
  const { actions, done, state, child } = stage()
  actions.act("toggle")
  child(opened(1, { origin }))
  actions.act("toggle")
  assert.equal(state.opened, "a1")
  actions.act("toggle")
  assert.equal(state.opened, undefined)
  assert.deepEqual(done, ["there is no agent whose transcript could be opened yet", "redraw", "redraw"])
})

test("ctrl+b sends behind whomever the main run waits for", () => {
  const { actions, done, panel } = stage()
  actions.act("behind")
  panel.choose("a1")
  actions.act("behind")
  assert.deepEqual(done, ["nobody is waited for", "behind a1", "1 agent sent behind; results will come by themselves"])
})

test("the other keys are commands", () => {
  const { actions, done } = stage()
  for (const action of ["help", "exit", "outside", "suspend"] as const) assert.equal(actions.act(action), true)
  assert.deepEqual(done, ["/help", "/exit", "edit", "suspend"])
})
