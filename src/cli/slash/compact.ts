import { reasonOf } from "../../core/error.ts"
import type { Command } from "./ground.ts"

export const compact: Command = {
  name: "compact",
  about: "makes the conversation shorter now",
  async run(_, { session, note }) {
    try {
      // That it was done, and from how much to how much, its own event tells.
      if (!(await session.compact())) note("there is nothing that could be made shorter")
    } catch (error) {
      note(`it could not be made shorter: ${reasonOf(error)}`)
    }
  },
}
