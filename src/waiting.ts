import type { Question, Reply } from "./agent/permission.ts"

export type Waiting = {
  ask(question: Question, signal: AbortSignal): Promise<Reply>
  answer(question: Pick<Question, "run" | "call">, reply: Reply): boolean
}

/** Questions that wait until somebody answers them by run and call. */
export function waiting(): Waiting {
  const open = new Map<string, (reply: Reply) => void>()
  const keyOf = ({ run, call }: Pick<Question, "run" | "call">) => `${run}/${call}`
  return {
    ask(question, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>()
      const stop = () => reject(signal.reason)
      open.set(keyOf(question), resolve)
      signal.addEventListener("abort", stop, { once: true })
      return promise.finally(() => {
        signal.removeEventListener("abort", stop)
        open.delete(keyOf(question))
      })
    },
    answer(question, reply) {
      const settle = open.get(keyOf(question))
      settle?.(reply)
      return settle !== undefined
    },
  }
}
