import { type Bus, Closed } from "./bus.ts"
import { reasonOf } from "./core/error.ts"
import type { Failure, Outcome, Place, Post, RunId, Status } from "./core/event.ts"
import type { Log } from "./core/log.ts"
import type { RunView } from "./core/view.ts"
import { originOf } from "./posting.ts"
import { headOf } from "./tools/cap.ts"

/** How a prompt ended. */
export type Answered = { status: Status; text: string; error?: Failure }

/**
 * Says something to the main run, once for each key, and waits until it rests. `by`: whether a user said it, whose words
 * may name agents and concern hooks, or the engine, whose words hold data.
 */
export type Ask = (text: string, options: { key: string; by: "user" | "system" }) => Promise<Answered>

/** `warn` hears what people should know and what stops nothing. */
export type Serving = { log: Log; main: RunId; bus: Bus; prompt: Ask; warn?(text: string): void }

export type Server = {
  /** Answers what comes in, one after the other, until the signal or the bus ends it. What is at hand is finished first. */
  serve(options?: { signal?: AbortSignal }): Promise<void>
  /** Where whoever is answered now is, or was when a crash came. */
  place(): Place | undefined
}

export function serverOf({ log, main, bus, prompt, warn = () => {} }: Serving): Server {
  const run = log.view.get(main)!
  const left = leftOver(log, run)
  let serving = false
  // Once what a crash left over has ended, nobody is answered until somebody serves again.
  log.listen(({ run: id, type }) => {
    if (!serving && id === main && type === "run.settled") place = undefined
  })
  let place = left && originOf(left.post)
  /** One that cannot be asked now must not keep the others from being answered. */
  const undone = (error: unknown): Answered => {
    warn(`a message could not be dealt with: ${reasonOf(error)}`)
    return { status: "failed", text: "" }
  }
  const answer = async (post: Post): Promise<string> => {
    if (left?.post.id === post.id && left.outcome) return wordsFor(left.outcome, post)
    const by = post.channel === "system" ? "system" : "user"
    return wordsFor(await prompt(post.text, { key: keyOf(post), by }).catch(undone), post)
  }
  const serve = async (signal: AbortSignal | undefined): Promise<void> => {
    for await (const post of bus.in.consume(signal && { signal })) {
      place = originOf(post)
      const id = answerTo(post)
      // Said before a crash, which came before it was noted as dealt with.
      if (!run.heard.has(id)) {
        const text = await answer(post)
        await bus.out.publish({ ...place, id, text, replyTo: post.id })
      }
      place = undefined
    }
  }
  return {
    place: () => place,
    async serve({ signal } = {}) {
      if (serving) throw new Error("this session is being served already: stop that first")
      serving = true
      try {
        await serve(signal)
      } catch (error) {
        if (!(error instanceof Closed)) throw error // what is at hand is gone on with when the session is opened again
      } finally {
        serving = false
        place = undefined
      }
    },
  }
}

const keyOf = ({ id }: Post): string => `bus/${id}`
const answerTo = ({ id }: Post): string => `answer/${id}`

type LeftOver = { post: Post; outcome?: Outcome }

/**
 * What was asked before a crash and not answered. Its answer is how the work on it ended, whatever is asked in between.
 */
function leftOver(log: Log, run: RunView): LeftOver | undefined {
  const isLeft = (post: Post) => post.way === "in" && run.heard.has(keyOf(post)) && !run.heard.has(answerTo(post))
  const post = [...run.posts.values()].find(isLeft)
  if (!post) return undefined
  if (run.rest && run.mail.length === 0) return { post, outcome: run.rest.outcome }
  const left: LeftOver = { post }
  const unlisten = log.listen((event) => {
    if (event.run !== run.id || event.type !== "run.settled") return
    left.outcome = event.outcome
    unlisten()
  })
  return left
}

/** Longer answers are for files. */
const most = 900_000

/** What whoever asked is told. A result that could not be summed up is told as it is. */
function wordsFor(answered: Answered, { plain }: Post): string {
  const text = answered.status === "failed" ? "" : answered.text.trim()
  if (text.length > most) return `${headOf(text, most)}…`
  return text || (plain ?? excuse(answered))
}

function excuse({ status, error }: Answered): string {
  return (error && reasons[error.kind]) || endings[status]
}

const endings: Record<Status, string> = {
  completed: "I have nothing to say to that.",
  max_turns: "That was more than I may do at once, so I did not finish it.",
  budget: "That was more than I may do at once, so I did not finish it.",
  timeout: "That took too long, so I did not finish it.",
  cancelled: "I was stopped before I had finished that.",
  failed: "Something went wrong, and I could not finish that.",
}

const later = "I could not get through just now. Please try again in a little while."

const reasons: { [kind in Failure["kind"]]?: string } = {
  rate_limit: later,
  overloaded: later,
  network: later,
  stalled: later,
  truncated: later,
  authentication: "I am not set up for this yet. Please tell whoever looks after me.",
  context_overflow: "Our conversation has become too long for me to go on with it.",
  refused: "I cannot help with that.",
}
