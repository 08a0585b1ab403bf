import { homedir } from "node:os"
import { printable } from "../../core/one-line.ts"
import { folderOf, stateFolder } from "../../folders.ts"
import { version } from "../../version.ts"
import { askForTrust } from "../commands/trust.ts"
import { codes } from "../exit.ts"
import { merged } from "../merged.ts"
import type { Flags } from "../program.ts"
import { builtInCommands } from "../slash/commands.ts"
import type { Command } from "../slash/ground.ts"
import { offlineWord, sessionsOf, start } from "../start.ts"
import { isUnfinished } from "../unfinished.ts"
import { asked } from "./asked.ts"
import { farewell } from "./farewell.ts"
import { guard } from "./guard.ts"
import { openHistory } from "./history.ts"
import { filesBelow, listing } from "./project-files.ts"
import { loadUserCommands, promptOf } from "./user-commands.ts"

/** How a conversation was left, and which session is to be gone on with, if one is. */
type Left = { code: number; next?: { resume: string } }

/** A conversation on a terminal, with every agent in sight. */
export async function tui(first: string, flags: Flags): Promise<number> {
  await askForTrust(flags.cwd)
  const { code, next } = await converse(first, flags)
  const { continue: _, ...others } = flags
  return next ? tui("", { ...others, ...next }) : code
}

async function converse(first: string, flags: Flags): Promise<Left> {
  const began = performance.now()
  const { env } = process
  const notes: string[] = []
  let tell = (text: string): void => void notes.push(text)
  const questions = asked()
  const session = await start(flags, { answer: merged(questions.ask), warn: (text) => tell(printable(text)) })
  const cwd = await folderOf(flags.cwd)
  const offline = offlineWord(session, flags.model)
  notes.unshift(`legwork ${version} · ${session.model} · ${cwd}`, ...(offline ? [offline] : []))
  const history = await openHistory({ state: stateFolder(env), folder: cwd, warn: (text) => tell(text) })
  const { promise, resolve, reject } = Promise.withResolvers<Left>()
  const closing = new AbortController()
  const { Screen } = await import("./screen.ts")
  const screen = new Screen({
    session,
    notes,
    asked: questions,
    history,
    commands: await commandsOf(cwd, tell),
    files: listing({ list: filesBelow(cwd, { env, signal: closing.signal }), now: () => performance.now() }),
    sessions: () => sessionsOf(cwd),
    env,
    leave: (code, next) => resolve({ code, ...(next && { next }) }),
    codes,
  })
  tell = (text) => screen.note(text)
  let isGone = false
  const back = guard({
    end: () => resolve({ code: codes.interrupted }),
    gone() {
      isGone = true
      resolve({ code: codes.interrupted })
    },
    crash: reject,
    warn: (text) => tell(printable(text)),
  })
  try {
    screen.start()
    if (first) screen.prompt(first)
    else if (isUnfinished(session.view)) screen.proceed()
    return await promise
  } finally {
    closing.abort()
    screen.stop()
    const words = farewell(session, session.view, performance.now() - began)
    await Promise.all([session.close(), history.saved()]).finally(back)
    if (!isGone) process.stdout.write(words.map((line) => `  ${line}\n`).join(""))
  }
}

/** Our own commands come first: none of a project's can take the place of one. */
async function commandsOf(cwd: string, tell: (text: string) => void): Promise<Command[]> {
  const { commands, problems } = await loadUserCommands({ cwd, home: homedir(), env: process.env })
  for (const { path, message } of problems) tell(`${path}: ${message}`)
  const theirs = commands.map((command): Command => {
    const { name, description, hint } = command
    return {
      name,
      about: description,
      ...(hint && { hint }),
      run: async (args, ground) => ground.prompt(promptOf(command, args)),
    }
  })
  return [...builtInCommands(), ...theirs]
}
