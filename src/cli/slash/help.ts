import { aligned } from "../columns.ts"
import type { Command } from "./ground.ts"

const usage = ({ name, hint }: Command): string => `/${name}${hint === undefined ? "" : ` ${hint}`}`

export const help: Command = {
  name: "help",
  about: "the keys and these commands",
  async run(_, { keys = [], theme, note }, all) {
    const rows = all.map((command): [string, string] => [usage(command), command.about])
    const pressed = keys.map(({ key, about }): [string, string] => [key, about])
    // One width for both, so that they read as one table.
    const lines = aligned([...pressed, ...rows], theme.accent)
    note([...lines.slice(0, keys.length), ...(keys.length > 0 ? [""] : []), ...lines.slice(keys.length)].join("\n"))
  },
}
