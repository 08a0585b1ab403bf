import * as z from "zod"
import { tool } from "../agent/scope.ts"
import type { RunView, View } from "../core/view.ts"
import { foundIn, idNames, nameOf, viewBelow } from "./below.ts"
import { tolerant } from "./input.ts"

const names = {
  ...idNames,
  ...{ to: "id", recipient: "id", target: "id" },
  ...{ content: "message", text: "message", prompt: "message", input: "message" },
  ...{ type: null, summary: null },
}

const input = tolerant(names, z.strictObject({ id: z.string(), message: z.string() }))

export const taskMessage = () =>
  tool({
    name: "task_message",
    description:
      "Tells an agent that you started something: at work it hears it between two turns; one that has finished goes on with it, and its result comes to you as a message.",
    input,
    // Its call is the message's key, so that it is heard once however often it is sent.
    repeatable: true,
    spawns: true,
    aliases: ["SendMessage", "send_input"],
    access: () => ({ kind: "none" }),
    async run({ id, message }, use) {
      const view = viewBelow(use)
      const run = foundIn(view, id)
      if (run.stopping) throw new Error(`${nameOf(run)} is being stopped: tell it once it has stopped`)
      const how = await use.below.tell(id, message)
      return { ok: true, text: `${nameOf(run)} ${how === "heard" ? hears : goesOn(view, run)}` }
    },
  })

const hears = "is at work and will hear it between two turns. Its result comes as it would have."

/** Results go to whoever started an agent, which may be another one below. */
function goesOn(view: View, { origin }: RunView): string {
  const starter = origin && view.get(origin.run)
  const to = starter ? nameOf(starter) : "you as a message; do not wait for it and do not ask for it"
  return `goes on with it in the background. Its result will come to ${to}.`
}
