import type { Reply } from "../../agent/permission.ts"
import { othersIn, type Shared } from "../merged.ts"
import type { Paper } from "./paper.ts"
import { questionLines, replyIn } from "./question.ts"

type Asking = {
  use(paper: Paper): void
  ask(question: Shared, signal: AbortSignal): Promise<Reply>
  take(line: string): boolean
}

/** Questions wait in a row; the next line that is typed answers the first. Anything but yes is no. */
export function asking(): Asking {
  const waiting: { question: Shared; reply(reply: Reply): void }[] = []
  let paper: Paper | undefined
  const put = () => {
    const next = waiting[0]
    if (!next || !paper) return
    if (waiting.length > 1) paper.line(`  (1 of ${waiting.length} questions)`)
    for (const line of [...questionLines(next.question), ...othersIn(next.question)]) paper.line(`  ${line}`)
    const always = next.question.always?.length ? ", a for always" : ""
    paper.ask(`  allow? y${always}, or n and a word to the model: `)
  }
  const drop = (question: Shared) => {
    const at = waiting.findIndex((each) => each.question === question)
    if (at >= 0) waiting.splice(at, 1)
    paper?.answered()
    put()
  }
  return {
    use(given) {
      paper = given
      put()
    },
    ask: (question, signal) =>
      new Promise((resolve, reject) => {
        const stop = () => {
          drop(question)
          reject(signal.reason)
        }
        const reply = (answer: Reply) => {
          signal.removeEventListener("abort", stop)
          drop(question)
          resolve(answer)
        }
        signal.addEventListener("abort", stop, { once: true })
        waiting.push({ question, reply })
        if (waiting.length === 1) put()
      }),
    take(line) {
      const next = waiting[0]
      if (!next) return false
      next.reply(replyIn(line))
      return true
    },
  }
}
