import type { Question, Reply } from "../agent/permission.ts"

/** A question, with the paths of others who ask for the very same. Their number grows while it waits. */
export type Shared = Question & { others?: readonly string[][] }

type Waiting = { others: string[][]; answer: Promise<Reply>; askers: number; drop: AbortController }

/** Whoever asks for exactly what another waits for already is answered with it: a person sees such a question once. */
export function merged(
  ask: (question: Shared, signal: AbortSignal) => Promise<Reply>,
): (question: Question, signal: AbortSignal) => Promise<Reply> {
  const open = new Map<string, Waiting>()
  const begin = (key: string, question: Question): Waiting => {
    const drop = new AbortController()
    const others: string[][] = []
    const answer = ask({ ...question, others }, drop.signal).finally(() => open.delete(key))
    const waiting = { others, answer, askers: 0, drop }
    open.set(key, waiting)
    return waiting
  }
  return (question, signal) => {
    const key = JSON.stringify([question.tool, question.access, question.input, question.always])
    const before = open.get(key)
    const waiting = before ?? begin(key, question)
    if (before) before.others.push(question.path)
    waiting.askers++
    return new Promise((resolve, reject) => {
      // The question goes when the last of those who asked it has been stopped.
      const stop = () => {
        reject(signal.reason)
        if (--waiting.askers === 0) waiting.drop.abort(signal.reason)
      }
      signal.addEventListener("abort", stop, { once: true })
      waiting.answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop))
    })
  }
}

/** Who else asks, in a few words; nothing if nobody does. */
export const othersIn = ({ others = [] }: Shared): string[] =>
  others.length === 0 ? [] : [`and ${others.length === 1 ? "one other asks" : `${others.length} others ask`} the same`]
