import { z } from "zod"
import type { Request, ToolSpec } from "../model/model.ts"
import type { Scope, Tool } from "./scope.ts"

const specs = new WeakMap<Tool, ToolSpec>()

/** What the model sees of a run: the same view gives the same request. */
export function request(scope: Scope, memo: object, toolChoice: Request["toolChoice"]): Request {
  return {
    system: scope.view.system,
    tools: scope.tools.map(spec),
    messages: scope.view.messages,
    toolChoice,
    memo,
    ...(scope.temperature !== undefined && { temperature: scope.temperature }),
    ...(scope.effort && { effort: scope.effort }),
  }
}

function spec(tool: Tool): ToolSpec {
  const known = specs.get(tool)
  if (known) return known
  const { $schema: _, ...schema } = z.toJSONSchema(tool.input, { io: "input" })
  const made = { name: tool.name, description: tool.description, schema }
  specs.set(tool, made)
  return made
}
