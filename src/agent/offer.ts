import { toJSONSchema } from "zod"
import type { Offer, Tool } from "./scope.ts"

/** Makes a tool ready to be offered to models. Needs the schema library, which a mere start does without. */
export function offer(tool: Tool): Offer {
  const { $schema: _, ...schema } = toJSONSchema(tool.input, { io: "input" })
  const { name, description, repeatable, alone, spawns, shares, aliases } = tool
  return {
    name,
    description,
    schema,
    repeatable,
    ...(alone && { alone }),
    ...(spawns && { spawns }),
    ...(shares && { shares }),
    ...(aliases && { aliases }),
    load: async () => tool,
  }
}
