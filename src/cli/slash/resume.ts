import { count } from "../../core/numbers.ts"
import { oneLine } from "../../core/one-line.ts"
import type { Summary } from "../../store/store.ts"
import { type Command, choose, type Ground } from "./ground.ts"

/** So many are listed; the others can be named. */
const most = { chosen: 50, said: 10 }

export const resume: Command = {
  name: "resume",
  hint: "[id]",
  about: "goes on with another session of this folder",
  async run(id, ground) {
    const all = await ground.sessions()
    const others = all.filter(({ header, title }) => header.id !== ground.session.id && title !== "")
    if (others.length === 0) return ground.note("there is no other session of this folder")
    const found = id === "" ? await chosenFrom(others, ground) : named(others, id, ground)
    if (!found) return
    if (found.running) return ground.note(`${found.header.id} is at work in another process; end that one first`)
    ground.leave({ resume: found.header.id })
  },
}

async function chosenFrom(sessions: Summary[], ground: Ground): Promise<Summary | undefined> {
  const now = ground.now()
  const about = ({ updatedAt, running }: Summary) => `${ago(now - updatedAt)}${running ? ", at work" : ""}`
  const items = sessions.slice(0, most.chosen).map((each) => ({
    value: each.header.id,
    label: oneLine(each.title, 80),
    description: about(each),
  }))
  const lines = items.slice(0, most.said).map((each) => `${each.value}  ${each.description}  ${each.label}`)
  const words = ["say which, as in /resume with the beginning of an id:", ...lines].join("\n")
  const chosen = await choose(ground, { title: "go on with which session?", items, words })
  return sessions.find(({ header }) => header.id === chosen)
}

function named(sessions: Summary[], id: string, { note }: Ground): Summary | undefined {
  const begun = sessions.filter(({ header }) => header.id.startsWith(id))
  if (begun.length === 1) return begun[0]
  const shown = JSON.stringify(oneLine(id, 40))
  note(
    begun.length === 0
      ? `no other session of this folder begins with ${shown}; /resume lists them`
      : `several sessions begin with ${shown}; write more of the id`,
  )
  return undefined
}

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const

function ago(ms: number): string {
  const [unit, size] = units.find(([, size]) => ms >= size) ?? []
  if (!unit) return "just now"
  return `${count(Math.floor(ms / size), unit)} ago`
}
