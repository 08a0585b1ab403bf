import { relative } from "node:path"
import * as z from "zod"
import { tool } from "../agent/scope.ts"
import { count, seconds } from "../core/numbers.ts"
import { progressOf } from "../core/progress.ts"
import { family, type RunView, type View } from "../core/view.ts"
import { asData } from "./as-data.ts"
import { foundIn, idNames, nameOf, viewBelow } from "./below.ts"
import { tolerant } from "./input.ts"

const input = tolerant({ ...idNames, reason: null }, z.strictObject({ id: z.string() }))

export const taskStop = () =>
  tool({
    name: "task_stop",
    description: "Stops an agent that you started, and all below it; says what it had done by then, which stays done.",
    input,
    repeatable: true,
    spawns: true,
    aliases: ["TaskStop"],
    access: () => ({ kind: "none" }),
    async run({ id }, use) {
      const view = viewBelow(use)
      const run = foundIn(view, id)
      const working = family(view, id).filter((each) => !view.get(each)?.rest)
      await use.below.stop(id)
      return { ok: true, text: `${what(view, run, working)}\n${done(run, use.root)}` }
    },
  })

function what(view: View, run: RunView, working: string[]): string {
  const below = working.filter((id) => id !== run.id).length
  if (working.includes(run.id)) return `Stopped ${nameOf(run)}${below > 0 ? ` and ${below} below it` : ""}.`
  if (below > 0) return `Stopped ${below} below ${nameOf(run)}, which was at rest.`
  return `${nameOf(run)} was not at work: ${progressOf(view, run, run.seenAt).state}.`
}

/** What it and those below it did for their last task, from the record. */
function done({ deeds, family, before, rest }: RunView, root: string): string {
  const changed = [...deeds.changed.keys()].map((path) => asData(relative(root, path)))
  const numbers = [
    count(family.toolCalls - before.toolCalls, "tool"),
    ...(deeds.commands.length > 0 ? [count(deeds.commands.length, "command")] : []),
    ...(rest ? [seconds(rest.ms)] : []),
    changed.length > 0 ? `changed ${count(changed.length, "file")}:` : "changed no files",
  ]
  const more = changed.length > mostPaths ? [`(${changed.length - mostPaths} more)`] : []
  return [`What it did: ${numbers.join(" · ")}`, ...changed.slice(0, mostPaths), ...more].join("\n")
}

const mostPaths = 50
