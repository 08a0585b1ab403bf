import assert from "node:assert/strict"
import { EventEmitter, once } from "node:events"
import type { TestContext } from "node:test"
import { type IPty, spawn } from "@lydell/node-pty"
import { type Script, type ServeOptions, type Server, serve } from "../../src/testing.ts"
import { bin, type Home, home } from "./binary.ts"
import { emulate } from "./emulator.ts"

export type Screen = {
  /** What the terminal shows now, a string a row, without spaces at the end of rows. */
  rows(): string[]
  text(): string
  /** All that was shown and has not been wiped, with what was scrolled out at the top. */
  past(): string
  /** Every byte that the program sent. */
  sent(): string
  type(keys: string): void
  /** As terminals send a paste: between two marks. */
  paste(text: string): void
  resize(columns: number, rows: number): void
  /** Waits until the terminal shows this. Returns what it shows then. */
  see(what: string | RegExp): Promise<string>
  /** Waits until the terminal shows this no more. */
  miss(what: string | RegExp): Promise<string>
  until(holds: (text: string) => boolean, what: string): Promise<string>
  kill(signal: NodeJS.Signals): void
  /** The window is closed: the terminal is gone for whoever is in it. */
  close(): void
  pid: number
  exit: Promise<number>
}

type Size = { columns?: number; rows?: number }

type Setting = Size & {
  files?: Record<string, string>
  /** The user's own settings. */
  settings?: object
  args?: string[]
  env?: NodeJS.ProcessEnv
  serving?: ServeOptions
}

/** Nothing that is waited for here takes this long, on a busy machine either. */
const patience = 10_000

export const keys = {
  enter: "\r",
  newLine: "\u001b[13;2u",
  escape: "\u001b",
  tab: "\t",
  up: "\u001b[A",
  down: "\u001b[B",
  undo: "\u001f",
  ctrl: (letter: string) => String.fromCharCode(letter.toUpperCase().charCodeAt(0) - 64),
}

/** What the line at the bottom says once the main agent has ended its work, or was stopped. */
export const done = /^ done · /m
export const stopped = /^ stopped · /m

/** A home of its own, a model that says what the script says, and the program in between, ready for the first prompt. */
export async function talk(
  t: TestContext,
  script: Script,
  { files = {}, settings, args = [], env = {}, serving, ...size }: Setting = {},
): Promise<Screen & { place: Home; server: Server }> {
  const server = await serve(script, serving)
  const own = settings && { "../config/legwork/settings.json": JSON.stringify(settings) }
  const place = await home(t, { ...files, ...own })
  const shown = screen(t, place, { ...server.env, ...env }, ["--model", "anthropic/any", ...args], size)
  t.after(() => server.close())
  await shown.see("ready")
  return { ...shown, place, server }
}

/** Waits, by the clock on the screen itself, until a question has been there long enough for keys to count. */
export async function calm({ text, until }: Pick<Screen, "text" | "until">): Promise<void> {
  const clock = (text: string) =>
    Number(/ (\d+)s · /.exec(text.split("\n").findLast((row) => row.includes("window"))!)?.[1])
  const before = clock(text())
  await until((text) => clock(text) > before, "a later time")
}

/** The program on a pseudo-terminal, with an emulator that says what a person would see. */
export function screen(
  t: TestContext,
  { work, env: own }: Home,
  env: NodeJS.ProcessEnv,
  args: string[] = [],
  { columns = 80, rows = 24 }: Size = {},
): Screen {
  const pty = spawn(bin, args, {
    cwd: work,
    env: { ...own, TERM: "xterm-256color", ...env },
    cols: columns,
    rows,
  })
  const changes = new EventEmitter().setMaxListeners(0)
  const changed = () => void changes.emit("change")
  const emulator = emulate({ columns, rows, answer: (data) => pty.write(data), changed })
  let sent = ""
  let ended: number | undefined
  pty.onData((data) => {
    sent += data
    emulator.write(data)
  })
  const exit = new Promise<number>((resolve) =>
    pty.onExit(({ exitCode, signal }) =>
      emulator.flush(() => {
        ended = signal ? 128 + signal : exitCode
        changed()
        resolve(ended)
      }),
    ),
  )
  t.after(() => {
    if (ended === undefined) pty.kill("SIGKILL")
    emulator.dispose()
  })
  const text = () => emulator.frame().join("\n")
  const until = async (holds: (text: string) => boolean, what: string): Promise<string> => {
    const signal = AbortSignal.timeout(patience)
    while (!holds(text())) {
      if (ended !== undefined) assert.fail(`it ended with ${ended} and does not show ${what}:\n${text()}`)
      if (signal.aborted) assert.fail(`it does not show ${what} but:\n${text()}`)
      await once(changes, "change", { signal }).catch(() => {})
    }
    return text()
  }
  return {
    rows: emulator.frame,
    text,
    past: () => emulator.all().join("\n"),
    sent: () => sent,
    type: (keys) => pty.write(keys),
    paste: (text) => pty.write(`\u001b[200~${text}\u001b[201~`),
    resize(columns, rows) {
      emulator.resize(columns, rows)
      pty.resize(columns, rows)
    },
    see: (what) => until(fits(what), String(what)),
    miss: (what) => until((text) => !fits(what)(text), `no more: ${what}`),
    until,
    kill: (signal) => process.kill(pty.pid, signal),
    // Its types leave this out.
    close: () => (pty as IPty & { destroy(): void }).destroy(),
    pid: pty.pid,
    exit,
  }
}

const fits =
  (what: string | RegExp) =>
  (text: string): boolean =>
    typeof what === "string" ? text.includes(what) : what.test(text)
