import type { RunId } from "../core/event.ts"
import type { RunView, View } from "../core/view.ts"
import { forkName } from "./opening.ts"
import type { Agent, Task } from "./scope.ts"

/** An agent that goes on must still be defined, and be of the type that is asked for. */
export async function checkType(
  view: View,
  { resume = "", agent, model, limits, context, share }: Task,
  find: (name: string) => Promise<Agent>,
): Promise<void> {
  const run = view.get(resume)
  if (!run?.origin) throw new Error(`there is no agent with the id ${JSON.stringify(resume)} in this session`)
  if (model !== undefined || limits !== undefined || context !== undefined || share !== undefined)
    throw new Error(`agent ${resume} goes on with the model, limits and context that it has: leave these out`)
  const { name } = run.agent === forkName ? { name: forkName } : await find(run.agent)
  if (agent !== undefined && agent !== name && (await find(agent)).name !== name)
    throw new Error(`agent ${resume} is of type ${name}, not ${agent}`)
}

/** A child that has rested and may be given more to do. `key`: what it is to do, which it may have heard before a crash. */
export function rested(parent: RunView, run: RunView, { busy, key }: { busy: boolean; key: string }): RunId {
  if (run.origin?.run !== parent.id)
    throw new Error(`agent ${run.id} was started by another agent: only that one may go on with it`)
  if ((busy || !run.rest || run.mail.some(({ quiet }) => !quiet)) && !run.heard.has(key))
    throw new Error(`agent ${run.id} is still at work: wait for its result, or steer it with task_message`)
  return run.id
}
