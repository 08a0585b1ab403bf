import type { Use } from "../agent/scope.ts"
import type { RunId } from "../core/event.ts"
import { oneLine } from "../core/one-line.ts"
import type { RunView, View } from "../core/view.ts"
import { asData } from "./as-data.ts"

/** What other systems call the id of an agent. */
export const idNames = { task_id: "id", taskId: "id", agent_id: "id", agentId: "id" }

/** The agents below the one that makes a call. */
export const viewBelow = ({ below }: Pick<Use, "below">): View => new Map(below.list().map((run) => [run.id, run]))

/** Throws words for the model, which may have made the id up. */
export function foundIn(view: View, id: RunId): RunView {
  const found = view.get(id)
  if (found) return found
  const known = [...view.keys()]
  const last = known.slice(-mostIds).join(", ")
  const told = known.length > mostIds ? `the last of them are ${last}` : `there are ${last}`
  throw new Error(
    `there is no agent with the id ${JSON.stringify(id.slice(0, 100))} below you; ${last ? told : "you have started none"}`,
  )
}

const mostIds = 20

/** Who it is, for the model that started it: `r1 (explore: find auth files)`. */
export const nameOf = ({ id, agent, label = "subtask" }: RunView): string =>
  `${id} (${agent}: ${asData(oneLine(label, 60))})`
