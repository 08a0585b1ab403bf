import { nearest } from "../../core/nearest.ts"
import { count, seconds } from "../../core/numbers.ts"
import { isOver, progressOf } from "../../core/progress.ts"
import type { RunView, View } from "../../core/view.ts"
import type { Session } from "../../face.ts"
import { head } from "../plain/child.ts"
import { agentsAtWork } from "../unfinished.ts"

type About = Pick<Session, "view" | "main" | "cancel" | "sendBehind">

/** What a line that begins with a slash does, in words; `leave` if it ends the conversation. */
type Answer = { say: string[] } | "leave"

const abouts = {
  tasks: "/tasks            the agents, and how far they are",
  stop: "/stop <id>        stops one, and those below it",
  behind: "/behind [id]      do not wait for an agent: its result comes when it is there; without an id for none",
  help: "/help             these lines",
  exit: "/exit             leaves; what is under way can be gone on with",
}

const mostOver = 10

/** Undefined if the line is meant for the model. */
export function slash(line: string, session: About, now: () => number): Answer | undefined {
  const [, name = "", id = ""] = /^\/(\w+)(?:\s+(\S+))?\s*$/.exec(line.trim()) ?? []
  switch (name) {
    case "":
      return undefined
    case "exit":
    case "quit":
      return "leave"
    case "help":
      return { say: Object.values(abouts).map((about) => `  ${about}`) }
    case "tasks":
      return { say: tasks(session.view, now()) }
    case "stop":
      return { say: stop(session, id) }
    case "behind":
      return { say: sendBehind(session, id) }
    default: {
      const near = nearest(name, Object.keys(abouts))
      return near === undefined ? undefined : { say: [`  there is no /${name}; did you mean /${near}?`] }
    }
  }
}

/** All that are at work, and those that ended last. */
function tasks(view: View, now: number): string[] {
  const all = [...view.values()]
    .filter(({ depth }) => depth > 0)
    .map((run) => ({ run, at: progressOf(view, run, now) }))
  if (all.length === 0) return ["  no agent was started yet"]
  const over = all.filter(({ at }) => isOver(at))
  const gone = new Set(over.slice(0, Math.max(0, over.length - mostOver)))
  const lines = all
    .filter((each) => !gone.has(each))
    .map(({ run, at }) => {
      const doing = [at.state, ...(at.tool ? [at.tool] : at.why ? [at.why] : [])].join(": ")
      const where = run.behind && !isOver(at) ? " (background)" : ""
      return `  ${run.id}${head(run)}${where} · ${doing} · ${count(at.family.tools, "tool")}, ${seconds(at.elapsedMs)}`
    })
  return [...lines, ...(gone.size > 0 ? [`  and ${gone.size} that ended before these`] : [])]
}

function stop(session: About, id: string): string[] {
  const working = agentsAtWork(session.view)
  const found = id === "" ? undefined : meant(working, id)
  if (!found) return [which("stop", working)]
  void session.cancel(found.id)
  return [`  stopping ${found.id}`]
}

function sendBehind(session: About, id: string): string[] {
  const { view, main } = session
  const waitedFor = agentsAtWork(view).filter((run) => !run.behind && (id !== "" || run.origin?.run === main))
  const chosen = id === "" ? waitedFor : [meant(waitedFor, id)].filter((run) => run !== undefined)
  if (waitedFor.length === 0) return ["  there is no agent that is waited for"]
  if (chosen.length === 0) return [which("behind", waitedFor)]
  const refused = chosen.filter((run) => !session.sendBehind(run.id))
  return refused.map(({ id }) => `  ${id} has just ended`) // of the others their own event tells
}

/** The run of this id, or the only one whose id begins so. */
function meant(runs: RunView[], id: string): RunView | undefined {
  const begun = runs.filter((run) => run.id.startsWith(id))
  return begun.length === 1 ? begun[0] : undefined
}

const which = (command: "stop" | "behind", runs: RunView[]): string => {
  const named = runs.map(({ id, agent }) => `${id} (${agent})`).join(", ")
  return runs.length === 0
    ? "  no agent is at work"
    : `  say which, as in /${command} ${runs[0]!.id}; there are ${named}`
}
