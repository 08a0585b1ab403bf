import type { Request, ToolSpec } from "../model/model.ts"
import type { Offer, Scope } from "./scope.ts"

const specs = new WeakMap<readonly Offer[], ToolSpec[]>()

/** What the model sees of a run: the same view gives the same request. */
export function request(scope: Scope, memo: object, toolChoice: Request["toolChoice"]): Request {
  return {
    system: scope.view.system,
    tools: specsOf(scope.tools),
    messages: scope.view.messages,
    toolChoice,
    memo,
    ...scope.tuning,
  }
}

function specsOf(tools: readonly Offer[]): ToolSpec[] {
  const made = specs.get(tools) ?? tools.map(({ name, description, schema }) => ({ name, description, schema }))
  specs.set(tools, made)
  return made
}
