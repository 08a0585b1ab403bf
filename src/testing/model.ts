import { reasonOf } from "../core/error.ts"
import { callsOf, type Message, type Part } from "../core/message.ts"
import { type Cost, noUsage, type Usage } from "../core/usage.ts"
import type { Answer, Listen, Model, Request } from "../model/model.ts"
import { parse } from "./json.ts"
import { type Fail, fail, type Reply } from "./reply.ts"
import { turnsOf } from "./script.ts"
import { pieces } from "./shape.ts"
import { isFail, type Speech, type SpokenCall, type SpokenPart, speech } from "./speech.ts"

/** A request as it was when it came. */
export type Recorded = Omit<Request, "memo" | "from">

export type Scripted = Model & { requests: Recorded[] }

export type ScriptedOptions = { id?: string; images?: boolean; window?: number; cost?: (usage: Usage) => Cost }

/** A model in this process that answers from a function. `n` counts the requests that came before. */
export function scripted(
  answer: (request: Request, n: number) => Reply | Promise<Reply>,
  { id = "scripted/model", images = true, window = 200_000, cost = () => 0 }: ScriptedOptions = {},
): Scripted {
  const requests: Recorded[] = []
  return {
    id,
    images,
    window,
    cost,
    requests,
    async stream(request, listen) {
      if (listen.signal.aborted) return gone()
      const { memo: _, from: __, ...seen } = request
      const n = requests.push(structuredClone(seen)) - 1
      const said = await soonest(
        listen.signal,
        speak(request, () => answer(request, n)),
      )
      return said === undefined ? gone() : deliver(said, listen)
    },
  }
}

const gone = (): Answer => answerOf(fail("network", "the request was cancelled", { retry: false }))

/** A script that throws is a failing test, so its words must get through. */
async function speak(request: Request, answer: () => Reply | Promise<Reply>): Promise<Speech | Fail> {
  try {
    const reply = await answer()
    return isFail(reply)
      ? reply
      : speech(reply, { turn: turnsOf(request.messages) + 1, taken: idsIn(request.messages) })
  } catch (error) {
    return fail("internal", `the script threw: ${reasonOf(error)}`)
  }
}

const idsIn = (messages: readonly Message[]): Set<string> =>
  new Set(messages.flatMap((each) => (each.role === "assistant" ? callsOf(each.parts).map(({ id }) => id) : [])))

/** What `work` gives, or nothing once the signal is aborted. */
function soonest<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    const stop = () => resolve(undefined)
    signal.addEventListener("abort", stop, { once: true })
    work.then((value) => {
      signal.removeEventListener("abort", stop)
      resolve(value)
    })
  })
}

async function deliver(said: Speech | Fail, listen: Listen): Promise<Answer> {
  if ("type" in said) return answerOf(said)
  const { parts, stop, usage } = said
  for (const part of parts) {
    if (part.type !== "text" && part.type !== "reasoning") continue
    for (const text of pieces(part.text, undefined)) {
      if (listen.signal.aborted) return gone()
      listen.delta({ kind: part.type, text })
      // Whoever hears of a word may act on it before the next.
      await undefined
    }
  }
  return listen.signal.aborted ? gone() : { ok: true, parts: parts.map(partOf), stop, usage }
}

const answerOf = ({ type: _, usage, ...failure }: Fail): Answer => ({
  ok: false,
  ...failure,
  usage: { ...noUsage(), ...usage },
})

function partOf(part: SpokenPart): Part {
  switch (part.type) {
    case "text":
      return part
    case "reasoning":
      return { ...part, by: part.by ?? "scripted" }
    case "redacted":
      return { type: "reasoning", text: "", by: "scripted", proof: part.data }
    case "call":
      return callPart(part)
    default:
      return part satisfies never
  }
}

function callPart({ type, id, name, arguments: text }: SpokenCall): Part {
  if (text.trim() === "") return { type, id, name, input: {} }
  const input = parse(text)
  return input === undefined ? { type, id, name, input: {}, broken: text } : { type, id, name, input }
}
