import type { HookEvent } from "../core/hook.ts"
import { nearest } from "../core/nearest.ts"
import { doubt } from "./matches.ts"

const events = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "SessionEnd",
] as const satisfies HookEvent[]

/** What Claude Code also has. Hooks there are no mistake, they only never run. */
const foreign = new Set(
  `Setup UserPromptExpansion PermissionRequest PermissionDenied PostToolUseFailure PostToolBatch Notification
  MessageDisplay TaskCreated TaskCompleted StopFailure TeammateIdle InstructionsLoaded ConfigChange CwdChanged
  FileChanged WorktreeCreate WorktreeRemove PreCompact PostCompact Elicitation ElicitationResult`.split(/\s+/),
)

/** One command that is run when something happens. `from` says where it stands, for people. */
export type Hook = {
  event: HookEvent
  matcher: string
  command: string
  /** Milliseconds. */
  timeout: number
  from: string
  /** Why it cannot be run. It may have been meant to guard, so it denies every call that it fits. */
  broken?: string
}

type Read = { hooks: Hook[]; problems: { message: string }[] }
type Place = { event: HookEvent; matcher: string; from: string; path: string }

const standardTimeout = 60_000
/** Node's timers count no further, and fire at once when asked to. */
const longestTimeout = 2 ** 31 - 1

/** Reads `hooks` as settings and agent files have it. What cannot be read is told and left out, or denies. */
export function readHooks(value: unknown, from: string): Read {
  if (isEmpty(value)) return { hooks: [], problems: [] }
  if (!isMap(value))
    return unreadable({ event: "PreToolUse", matcher: "", from, path: "hooks" }, "must be an object of events")
  return all(Object.entries(value).map(([name, groups]) => ofEvent(name, groups, from)))
}

/** A hook in words, for those who must find it. */
export const nameOf = ({ event, command, from }: Hook): string =>
  command === "" ? `${event} hook of ${from}` : `${event} hook ${JSON.stringify(shortened(command))} of ${from}`

function ofEvent(name: string, groups: unknown, from: string): Read {
  const path = `hooks.${name}`
  if (foreign.has(name)) return told(`${path}: there is no such event here, so its hooks never run`)
  const event = events.find((each) => each.toLowerCase() === name.toLowerCase())
  if (!event) return unknown(name, { matcher: "", from, path })
  const place = { event, matcher: "", from, path }
  if (isEmpty(groups)) return { hooks: [], problems: [] }
  if (!Array.isArray(groups)) return unreadable(place, "must be a list of objects that have hooks")
  return all(groups.map((group, at) => ofGroup(group, { ...place, path: `${path}[${at}]` })))
}

/** One that is nearly the event of guards is taken for theirs. */
function unknown(name: string, place: Omit<Place, "event">): Read {
  const meant = nearest(name, events)
  const what = `there is no such event; ${meant ? `perhaps ${meant} was meant` : `there are ${events.join(", ")}`}`
  return meant === "PreToolUse" ? unreadable({ ...place, event: meant }, what) : left(`${place.path}: ${what}`)
}

function ofGroup(group: unknown, at: Place): Read {
  if (!isMap(group)) return unreadable(at, "must be an object with matcher and hooks")
  const matcher = group.matcher ?? ""
  if (typeof matcher !== "string") return unreadable(at, "matcher must be text, such as Bash or Edit|Write")
  const place = { ...at, matcher: matcher.trim() }
  if (!Array.isArray(group.hooks)) return unreadable(place, "hooks must be a list of objects with type and command")
  const doubtful = at.event.endsWith("ToolUse") ? doubt(place.matcher) : undefined
  return all([
    ...(doubtful ? [told(`${at.path}.matcher: ${doubtful}`)] : []),
    ...group.hooks.map((entry, index) => ofEntry(entry, { ...place, path: `${at.path}.hooks[${index}]` })),
  ])
}

function ofEntry(entry: unknown, place: Place): Read {
  if (!isMap(entry)) return unreadable(place, "must be an object with type and command")
  const { type = "command", command, args, shell = "bash" } = entry
  if (type !== "command") return unreadable(place, 'type must be "command"; hooks of other types are not run here')
  if (shell !== "bash") return unreadable(place, 'shell must be "bash"')
  if (!isText(command) || command.trim() === "") return unreadable(place, "command must be text that a shell can run")
  if (args !== undefined && !(Array.isArray(args) && args.every(isText)))
    return unreadable(place, "args must be a list of texts")
  const { event, matcher, from, path } = place
  const run = args === undefined ? command : [command, ...args].map(quoted).join(" ")
  const { timeout, wrong } = timeoutOf(entry.timeout)
  const problems = [
    ...(wrong ? [`timeout ${wrong}`] : []),
    ...(entry.if === undefined ? [] : ["if is not read here; the hook runs for all that its matcher fits"]),
    ...(entry.async || entry.asyncRewake ? ["async has no effect here; the hook is waited for"] : []),
  ]
  return {
    hooks: [{ event, matcher, command: run, timeout, from }],
    problems: problems.map((what) => ({ message: `${path}: ${what}` })),
  }
}

/** People write seconds. */
function timeoutOf(seconds: unknown): { timeout: number; wrong?: string } {
  if (seconds === undefined || seconds === null) return { timeout: standardTimeout }
  if (typeof seconds === "number" && seconds > 0)
    return { timeout: Math.max(1, Math.min(Math.round(seconds * 1_000), longestTimeout)) }
  return {
    timeout: standardTimeout,
    wrong: `must be a number of seconds above 0; it is ${standardTimeout / 1_000} now`,
  }
}

/** A word that the shell passes on as it is; the one name in it that stands for a folder is filled in. */
const quoted = (word: string): string =>
  `'${word.replaceAll("'", `'\\''`).replace(/\$\{CLAUDE_PROJECT_DIR\}/g, `'"$CLAUDE_PROJECT_DIR"'`)}'`

function unreadable({ event, matcher, from, path }: Place, what: string): Read {
  const message = `${path}: ${what}`
  if (event !== "PreToolUse") return left(message)
  return {
    hooks: [{ event, matcher, command: "", timeout: standardTimeout, from, broken: message }],
    problems: [{ message: `${message}; until it is put right, the calls that it may guard are denied` }],
  }
}

const left = (message: string): Read => told(`${message}; it is left out`)

const told = (message: string): Read => ({ hooks: [], problems: [{ message }] })

const all = (parts: readonly Read[]): Read => ({
  hooks: parts.flatMap(({ hooks }) => hooks),
  problems: parts.flatMap(({ problems }) => problems),
})

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** No argument of a program can hold a NUL. */
const isText = (value: unknown): value is string => typeof value === "string" && !value.includes("\0")

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text)
