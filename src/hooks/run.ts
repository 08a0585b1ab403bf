import type { Hooks, Moment, Said } from "../core/hook.ts"
import { answer, failed } from "./answer.ts"
import { matches } from "./matches.ts"
import { inputOf, namesOf, type Session } from "./moment.ts"
import { type Options, run, type Spawn } from "./process.ts"
import { join, nothing } from "./said.ts"
import type { Hook } from "./settings.ts"

/** `env` is all that hooks see of the environment. `changed`: a program that the command names and that must not run now. */
type World = Session & {
  env: Record<string, string>
  spawn?: Spawn
  changed?(command: string): Promise<string | undefined>
}

/** The hooks of one session, in the order of the settings. */
export function hooks(list: readonly Hook[], { env, spawn, changed, ...session }: World): Hooks {
  const byEvent = Map.groupBy(list, ({ event }) => event)
  const where = {
    cwd: session.cwd,
    env: { ...env, CLAUDE_PROJECT_DIR: session.cwd, LEGWORK_PROJECT_DIR: session.cwd },
    ...(spawn && { spawn }),
  }
  return {
    has: (event) => byEvent.has(event),
    fire: async (moment, signal) => {
      signal.throwIfAborted()
      const all = byEvent.get(moment.event)
      if (!all) return nothing
      const due = single(fitting(all, moment))
      if (due.length === 0) return nothing
      const options = { ...where, input: inputOf(moment, session), signal }
      const answers = await Promise.all(due.map(async (hook) => ({ hook, said: await ask(hook, options, changed) })))
      signal.throwIfAborted()
      return join(answers)
    },
  }
}

function fitting(all: readonly Hook[], moment: Moment): readonly Hook[] {
  const names = namesOf(moment)
  return names ? all.filter(({ matcher }) => matches(matcher, names)) : all
}

/** The same command in two places is run once. */
const single = (all: readonly Hook[]): Hook[] =>
  all.filter(
    ({ command, broken }, at) => all.findIndex((each) => each.command === command && each.broken === broken) === at,
  )

async function ask(hook: Hook, options: Omit<Options, "timeout">, changed: World["changed"]): Promise<Said> {
  if (hook.broken) return failed(hook, `cannot be read (${hook.broken})`)
  const file = await changed?.(hook.command)
  if (file) return failed(hook, `was not run: ${file} has changed since the session began; look at it, then start anew`)
  return answer(hook, await run(hook.command, { ...options, timeout: hook.timeout }))
}
