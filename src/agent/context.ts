import type { RunView } from "../core/view.ts"
import type { Request } from "../model/model.ts"
import type { Scope } from "./scope.ts"

/** What the model sees of a run: the same view gives the same request. */
export function request({ view, memo, from, tuning }: Scope, toolChoice: Request["toolChoice"]): Request {
  const known = contextOf(view)
  return { ...known, toolChoice, memo, ...(known.inherited !== undefined && from && { from }), ...tuning }
}

export const contextOf = ({ system, tools, messages, history, inherited }: RunView) => ({
  system,
  tools,
  messages,
  ...(history === "fork" && inherited > 0 && { inherited }),
})
