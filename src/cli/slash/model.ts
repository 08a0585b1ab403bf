import { reasonOf } from "../../core/error.ts"
import { oneLine } from "../../core/one-line.ts"
import { type Command, choose, type Ground } from "./ground.ts"

export const model: Command = {
  name: "model",
  hint: "[name]",
  about: "shows the model of the main agent, or sets another",
  async run(name, ground) {
    const chosen = name === "" ? await chosenFrom(ground) : name
    if (chosen === undefined) return
    try {
      ground.note(`the model is now ${oneLine(await ground.session.useModel(chosen), 80)}`)
    } catch (error) {
      ground.note(oneLine(reasonOf(error), 300))
    }
  },
}

/** Those that can be used, and those that agents of this session do use. */
async function chosenFrom(ground: Ground): Promise<string | undefined> {
  const { session, view } = ground
  const now = view.get(session.main)!.model
  const used = [...view.values()].map((run) => run.model)
  const names = [...new Set([now, ...session.models(), ...used])]
  const items = names.map((value) => ({
    value,
    label: oneLine(value, 80),
    ...(value === now && { description: "now in use" }),
  }))
  const others = items.slice(1).map(({ label }) => label)
  const words = `the model is ${oneLine(now, 80)}; /model <name> sets another${others.length > 0 ? `: ${others.join(", ")}` : ""}`
  const chosen = await choose(ground, { title: `model: ${oneLine(now, 80)}`, items, words })
  return chosen === now ? undefined : chosen
}
