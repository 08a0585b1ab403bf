import { nearest } from "../../core/nearest.ts"
import { oneLine } from "../../core/one-line.ts"
import { agents } from "./agents.ts"
import { compact } from "./compact.ts"
import { context } from "./context.ts"
import { cost } from "./cost.ts"
import type { Command, Ground } from "./ground.ts"
import { help } from "./help.ts"
import { init } from "./init.ts"
import { model } from "./model.ts"
import { resume } from "./resume.ts"
import { behind, stop, tasks } from "./tasks.ts"

const exit: Command = {
  name: "exit",
  also: ["quit"],
  about: "leaves; what is under way can be gone on with",
  run: async (_, ground) => ground.leave(),
}

/** In the order in which people are told of them. */
export const builtInCommands = (): Command[] => [
  tasks,
  stop,
  behind,
  agents,
  cost,
  context,
  compact,
  model,
  resume,
  init,
  help,
  exit,
]

/** A line that is not meant for the model: what to do, or what to say as there is no such command. */
type Meant = { run(ground: Ground): Promise<void> } | { say: string }

/** Undefined if the line is meant for the model: `/etc/hosts says what?` is, and `/usr is full`. */
export function commandIn(line: string, commands: readonly Command[]): Meant | undefined {
  const [, name, args = ""] = /^\/([^\s/]+)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? []
  if (name === undefined) return undefined
  const wanted = name.toLowerCase()
  const found = commands.find((each) => namesOf(each).includes(wanted))
  if (found) return { run: (ground) => found.run(args.trim(), ground, commands) }
  const near = nearest(wanted, commands.flatMap(namesOf))
  if (near === undefined && args !== "") return undefined
  const known = commands.map((each) => `/${each.name}`).join(", ")
  const hint = near === undefined ? `there are ${known}` : `did you mean /${near}?`
  return { say: oneLine(`there is no /${oneLine(name, 40)}; ${hint}`, 1_000) }
}

const namesOf = ({ name, also = [] }: Command): string[] => [name, ...also].map((each) => each.toLowerCase())

/** Does what the line says. False if it is meant for the model. */
export async function runCommand(line: string, commands: readonly Command[], ground: Ground): Promise<boolean> {
  const meant = commandIn(line, commands)
  if (meant) await carryOut(meant, ground)
  return meant !== undefined
}

export async function carryOut(meant: Meant, ground: Ground): Promise<void> {
  if ("say" in meant) ground.note(meant.say)
  else await meant.run(ground)
}
