import type { Cache } from "./agent/options.ts"
import type { Agent } from "./agent/scope.ts"
import { openShelf } from "./cache/shelf.ts"
import { stateOf } from "./cache/state.ts"
import { isWithin } from "./core/within.ts"
import { hashOf } from "./store/line.ts"

/** `folder` holds the answers, `root` is the workspace that they are about. */
type Options = { folder: string; root: string; version: string; now?(): number }

/** Answers of earlier runs to the very same: definition, task, model, program and workspace. It never rejects. */
export function answerCache({ folder, root, version, now = Date.now }: Options): Cache {
  // Whoever may write in the workspace could put answers there.
  if (isWithin(folder, root)) return async () => nothing
  const shelf = openShelf(folder, now)
  const look = inTurn(() => stateOf(root, now))
  return async ({ agent, prompt, model }) => {
    const state = await look()
    if (state === undefined) return nothing
    const key = hashOf(sorted({ agent: definitionOf(agent), prompt, model, version, root, state }))
    const found = await shelf.get(key)
    return {
      ...(found !== undefined && { text: found }),
      keep: async (text) => {
        if ((await look()) === state) await shelf.put(key, text)
      },
    }
  }
}

const nothing = { keep: async () => {} }

/** What of an agent has a say in its answer. */
const definitionOf = ({ name, prompt, role, tuning, limits }: Agent) => ({ name, prompt, role, tuning, limits })

/** One at a time; all who ask while it is at work share the next, as the one at work may have passed what they want seen. */
function inTurn<T>(work: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    if (next) return next
    const turn = last.then(() => {
      next = undefined
      return work()
    })
    last = next = turn
    return turn
  }
}

/** The same text for the same value, in whatever order its fields were written. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  )
