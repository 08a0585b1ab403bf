import type { RunId } from "../core/event.ts"
import { family, type RunView, type View } from "../core/view.ts"
import type { Runtime } from "./runtime.ts"
import type { Below } from "./scope.ts"
import { Stopped } from "./stopped.ts"

/** What a run can do about the agents below it, in one call. To that run there are no others. */
export function below(runtime: Runtime, view: View, run: RunId, call: string): Below {
  const find = (id: RunId): RunView => {
    const found = view.get(id)
    if (found && id !== run && family(view, run).includes(id)) return found
    throw new Error(`there is no agent with the id ${JSON.stringify(id)} below you: task_status lists those that are`)
  }
  return {
    list: () => family(view, run).flatMap((id) => (id === run ? [] : (view.get(id) ?? []))),
    async stop(id) {
      find(id)
      await runtime.cancel(id, new Stopped("cancelled", "stopped by the agent above it"))
    },
    async tell(id, text) {
      if (text.trim() === "") throw new Error("the message is empty: say what the agent is to know")
      return runtime.tell(find(id).id, { text, key: `${run}/${call}` })
    },
  }
}
