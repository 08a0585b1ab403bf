import type { Question, Reply } from "../../agent/permission.ts"

type Shown = { ask(question: Question): void; withdraw(question: Question): void }

/** Questions of a session, which may come before there is a screen to put them on. */
export type Asked = {
  /** For the session: resolves when a person has answered. */
  ask(question: Question, signal: AbortSignal): Promise<Reply>
  /** From here on questions are shown there, those that wait already first. */
  use(shown: Shown): void
  reply(question: Question, reply: Reply): void
}

export function asked(): Asked {
  const open = new Map<Question, (reply: Reply) => void>()
  let shown: Shown | undefined
  return {
    ask(question, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>()
      const stop = () => {
        shown?.withdraw(question)
        reject(signal.reason)
      }
      open.set(question, resolve)
      signal.addEventListener("abort", stop, { once: true })
      shown?.ask(question)
      return promise.finally(() => {
        signal.removeEventListener("abort", stop)
        open.delete(question)
      })
    },
    use(screen) {
      shown = screen
      for (const question of open.keys()) screen.ask(question)
    },
    reply: (question, reply) => open.get(question)?.(reply),
  }
}
