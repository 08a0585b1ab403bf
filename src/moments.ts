import type { Outcome } from "./core/event.ts"
import type { Moment, Said } from "./core/hook.ts"
import type { Log } from "./core/log.ts"
import type { Hooking } from "./hooking.ts"

type Place = {
  hooksOf: Hooking
  log: Log
  /** The main run, its agent, and whether the session was there before. */
  run: string
  agent: string
  resumed: boolean
}

/** What hooks hear of a session as a whole: that it begins, what the user says, that it ends. */
export type Moments = {
  /** Tells of the session's beginning, once. Resolves to what hooks want its model to know. */
  begin(signal: AbortSignal): Promise<string | undefined>
  /** The user's words with what hooks add to them, or how the prompt ends at once because one refused it. */
  prompt(text: string, signal: AbortSignal): Promise<{ text: string } | { refused: Outcome }>
  end(): Promise<void>
}

/** Nobody waits longer than this for those who want to know of the end. */
const patience = 10_000

export function moments({ hooksOf, log, run, agent, resumed }: Place): Moments {
  const fire = async (moment: Moment, signal: AbortSignal): Promise<Said | undefined> => {
    const hooks = await hooksOf(agent)
    if (!hooks?.has(moment.event)) return undefined
    const said = await hooks.fire(moment, signal)
    const { notes, ...rest } = said
    if (notes.length > 0 || Object.keys(rest).length > 0) log.emit(run, { type: "hook.ran", event: moment.event, said })
    return said
  }
  let begun = false
  let stopped: string | undefined
  const begin = async (signal: AbortSignal): Promise<string | undefined> => {
    if (begun) return undefined
    begun = true
    const said = await fire({ event: "SessionStart", source: resumed ? "resume" : "startup" }, signal)
    stopped = said?.stop
    return said?.context
  }
  return {
    begin,
    async prompt(text, signal) {
      try {
        const context = await begin(signal)
        if (stopped !== undefined) return { refused: refusal(stopped) }
        const said = await fire({ event: "UserPromptSubmit", prompt: text }, signal)
        const why = said?.stop ?? (said?.decision === "deny" ? (said.reason ?? "no reason given") : undefined)
        if (why !== undefined) return { refused: refusal(why) }
        return { text: [text, context, said?.context].filter(Boolean).join("\n\n") }
      } catch (error) {
        if (signal.aborted) return { refused: { status: "cancelled", text: "" } }
        throw error
      }
    },
    async end() {
      if (!begun) return
      await fire({ event: "SessionEnd", reason: "exit" }, AbortSignal.timeout(patience)).catch(() => {}) // too slow
    },
  }
}

const refusal = (why: string): Outcome => ({
  status: "failed",
  text: "",
  error: { kind: "refused", message: `a hook refused the prompt: ${why}` },
})
